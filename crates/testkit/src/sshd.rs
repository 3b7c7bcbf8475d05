//! A real ssh server on loopback, with keys and files of its own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::home;
use crate::until::wait_until;

/// How often another port is tried, when a test elsewhere has taken the free one.
const MAX_STARTS: usize = 5;

/// An ssh server for the user of this process. It and its connections end when this is dropped.
#[derive(Debug)]
pub struct Sshd {
    dir: TempDir,
    /// Further lines of its configuration.
    config: String,
    port: u16,
    child: Mutex<Option<Child>>,
}

impl Sshd {
    /// A running server. Its sessions have the `PATH` of this process.
    pub fn start() -> Self {
        Self::with_config("")
    }

    /// The same with further lines in its configuration, such as a `ForceCommand`.
    pub fn with_config(config: &str) -> Self {
        // The path of a socket may be made below it, so the name is short.
        let dir = tempfile::Builder::new().prefix("ss").tempdir_in("/tmp");
        let dir = dir.expect("a directory under /tmp can be made");
        for key in ["host", "user"] {
            make_key(dir.path(), key);
        }
        fs::copy(dir.path().join("user.pub"), dir.path().join("authorized"))
            .expect("it is written");
        fs::write(dir.path().join("client"), "").expect("it is written");
        // sshd of root refuses to start without its directory.
        let _ = fs::create_dir_all("/run/sshd");
        let mut sshd = Self { dir, config: config.to_owned(), port: 0, child: Mutex::new(None) };
        let listens = (0..MAX_STARTS).any(|_| {
            sshd.port = free_port();
            sshd.listen_again()
        });
        assert!(listens, "sshd listens");
        sshd.trust();
        sshd
    }

    /// Options and destination, for the client of this server: its key, and its known hosts only.
    pub fn destination(&self) -> String {
        let at = |name: &str| self.dir.path().join(name).display().to_string();
        format!(
            "-F {} -i {} -o IdentitiesOnly=yes -o UserKnownHostsFile={} -o GlobalKnownHostsFile=none \
             -o StrictHostKeyChecking=yes -p {} 127.0.0.1",
            at("client"),
            at("user"),
            at("known"),
            self.port
        )
    }

    /// The directory of its files.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts to listen again on the same port, after [`Sshd::stop`]. False if the port is taken.
    pub fn listen_again(&self) -> bool {
        let mut child = self.spawn();
        let listens = wait_until("sshd listens or exits", || {
            match child.try_wait().expect("its state can be read") {
                Some(_) => Some(false),
                None => TcpStream::connect(("127.0.0.1", self.port)).is_ok().then_some(true),
            }
        });
        *self.child.lock().expect("no test panicked here") = Some(child);
        listens
    }

    /// Stops listening. Connections stay.
    pub fn stop(&self) {
        let child = self.child.lock().expect("no test panicked here").take();
        if let Some(mut child) = child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops listening, and kills the processes of all connections.
    pub fn kill(&self) {
        let connections = self.connections();
        self.stop();
        for pid in connections {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// The processes of its connections.
    pub fn connections(&self) -> Vec<Pid> {
        let child = self.child.lock().expect("no test panicked here");
        let Some(listener) = child.as_ref().map(Child::id) else { return Vec::new() };
        let table = run("ps", &["-A", "-o", "pid=", "-o", "ppid="]);
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        let rows: Vec<(u32, u32)> = table
            .lines()
            .filter_map(|line| {
                let (pid, parent) = line.trim().split_once(' ')?;
                Some((pid.parse().ok()?, parent.trim().parse().ok()?))
            })
            .collect();
        // A connection of another user than root has one process more, which is a child of the first.
        let children: Vec<u32> =
            rows.iter().filter(|(_, parent)| *parent == listener).map(|(pid, _)| *pid).collect();
        let pids = children.iter().filter_map(|pid| Pid::from_raw(i32::try_from(*pid).ok()?));
        pids.collect()
    }

    /// Replaces its host key; clients know the old one. Takes effect with the next start.
    pub fn change_host_key(&self) {
        for name in ["host", "host.pub"] {
            fs::remove_file(self.dir.path().join(name)).expect("the key exists");
        }
        make_key(self.dir.path(), "host");
        self.stop();
        assert!(self.listen_again(), "sshd listens again");
    }

    /// Makes its client forget the host key.
    pub fn forget_host_key(&self) {
        fs::write(self.dir.path().join("known"), "").expect("it is written");
    }

    /// Makes its client know the host key.
    pub fn trust(&self) {
        let key = fs::read_to_string(self.dir.path().join("host.pub")).expect("the key exists");
        let line = format!("[127.0.0.1]:{} {key}", self.port);
        fs::write(self.dir.path().join("known"), line).expect("it is written");
    }

    /// Gives the client another key than the one that the server accepts.
    pub fn lose_user_key(&self) {
        for name in ["user", "user.pub"] {
            fs::remove_file(self.dir.path().join(name)).expect("the key exists");
        }
        make_key(self.dir.path(), "user");
    }

    fn spawn(&self) -> Child {
        let at = |name: &str| self.dir.path().join(name).display().to_string();
        let path = home::path().into_string().expect("PATH is UTF-8");
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\n\
             UsePAM no\nPidFile none\nPrintMotd no\nPrintLastLog no\nPermitRootLogin yes\n\
             SetEnv \"PATH={path}\"\nLogLevel ERROR\n{}\n",
            self.port,
            at("host"),
            at("authorized"),
            self.config
        );
        fs::write(at("config"), config).expect("it is written");
        // sshd starts itself again by its path, which must be absolute.
        let program =
            ["/usr/sbin/sshd", "/usr/bin/sshd"].into_iter().find(|it| Path::new(it).exists());
        #[expect(clippy::disallowed_methods, reason = "the tests' own sshd")]
        Command::new(program.expect("sshd is installed"))
            .args(["-D", "-f", &at("config")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sshd can be started")
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if self.child.lock().is_ok() {
            self.kill();
        }
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it is bound").port()
}

fn make_key(dir: &Path, name: &str) {
    let file = dir.join(name).display().to_string();
    let made = run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &file]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn run(program: &str, arguments: &[&str]) -> Output {
    #[expect(clippy::disallowed_methods, reason = "a tool of the tests")]
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}
