//! An ssh server on loopback with keys of its own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testkit::wait_until;

/// An sshd, stopped when this is dropped.
pub(crate) struct Sshd {
    child: Child,
    /// The ssh command line up to the host, for a terminal on the other side.
    pub(crate) client: String,
}

impl Sshd {
    /// Starts an sshd with its files below `dir`, for the user of this process.
    #[expect(clippy::disallowed_methods, reason = "the test's own sshd")]
    pub(crate) fn start(dir: &Path) -> Self {
        let dir = dir.join("sshd");
        fs::create_dir(&dir).unwrap();
        let at = |name: &str| dir.join(name).display().to_string();
        for key in ["host", "user"] {
            let args = ["-q", "-t", "ed25519", "-N", "", "-f", &at(key)];
            assert!(Command::new("ssh-keygen").args(args).status().unwrap().success());
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        // sshd of root refuses to start without its directory.
        let _ = fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             UsePAM no\nPidFile none\nPrintMotd no\nPrintLastLog no\nPermitRootLogin yes\n",
            at("host"),
            at("authorized")
        );
        fs::write(at("config"), config).unwrap();
        let sshd =
            ["/usr/sbin/sshd", "/usr/bin/sshd"].into_iter().find(|it| Path::new(it).exists());
        let child = Command::new(sshd.unwrap())
            .args(["-D", "-f", &at("config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("sshd listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok().then_some(())
        });
        let client = format!(
            "ssh -tt -F /dev/null -o UserKnownHostsFile={} -o StrictHostKeyChecking=accept-new \
             -o LogLevel=ERROR -o IdentitiesOnly=yes -o IdentityFile={} -p {port} 127.0.0.1",
            at("known"),
            at("user")
        );
        Self { child, client }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
