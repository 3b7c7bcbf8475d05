//! Private database servers: each has a directory and a Unix socket of its own, and no port.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;
use testkit::wait_until;

/// User and group id of `nobody`: PostgreSQL refuses to run as root.
const NOBODY: u32 = 65534;

/// A running server. When this is dropped, it is stopped and its files are removed.
pub(crate) struct DatabaseServer {
    directory: TempDir,
    server: Child,
    stop: Signal,
}

impl Drop for DatabaseServer {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.server.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, self.stop);
        }
        let _ = self.server.wait();
    }
}

impl DatabaseServer {
    /// A PostgreSQL server with the user `me`, who needs no password.
    pub(crate) fn postgres() -> Self {
        let directory = directory();
        let (path, data) = (directory.path(), directory.path().join("data"));
        let initialize = ["-U", "me", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
        let mut initdb = server_command(&postgres_program("initdb"), path);
        finish(initdb.arg("-D").arg(&data).args(initialize));
        let mut server = server_command(&postgres_program("postgres"), path);
        server.arg("-D").arg(&data).arg("-k").arg(path).args(["-c", "listen_addresses="]);
        let server = server.args(["-c", "fsync=off"]).spawn().expect("postgres starts");
        // A killed server would leave its shared memory behind.
        let server = Self { directory, server, stop: Signal::QUIT };
        server.ready(".s.PGSQL.5432")
    }

    /// A MariaDB server that checks no passwords.
    pub(crate) fn mariadb() -> Self {
        let directory = directory();
        let path = directory.path();
        let data = format!("--datadir={}", path.join("data").display());
        let user = if geteuid().is_root() { "nobody" } else { "" };
        let user = (!user.is_empty()).then(|| format!("--user={user}"));
        let mut install = server_command(Path::new("mariadb-install-db"), path);
        let normal = ["--no-defaults", "--auth-root-authentication-method=normal"];
        finish(install.args(normal).args(["--skip-test-db", &data]).args(&user));
        let mut server = server_command(Path::new("mariadbd"), path);
        server.args(["--no-defaults", "--skip-networking", "--skip-grant-tables", &data]);
        for (option, file) in [("socket", "s"), ("pid-file", "pid")] {
            server.arg(format!("--{option}={}", path.join(file).display()));
        }
        let server = server.args(&user).spawn().expect("mariadbd starts");
        Self { directory, server, stop: Signal::KILL }.ready("s")
    }

    /// A Redis server.
    pub(crate) fn redis() -> Self {
        let directory = directory();
        let mut server = server_command(Path::new("redis-server"), directory.path());
        server.args(["--port", "0", "--save", "", "--unixsocket"]);
        let socket = directory.path().join("s");
        let server = server.arg(socket).spawn().expect("redis-server starts");
        Self { directory, server, stop: Signal::KILL }.ready("s")
    }

    fn ready(self, socket: &str) -> Self {
        let socket = self.socket(socket);
        wait_until("the server answers", || UnixStream::connect(&socket).ok());
        self
    }

    /// The directory of the server.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The path of a socket in the directory.
    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// A directory with a short path that the server may write to.
fn directory() -> TempDir {
    let directory = tempfile::Builder::new().prefix("tmdb").tempdir_in("/tmp");
    let directory = directory.expect("a directory under /tmp can be made");
    if geteuid().is_root() {
        chown(directory.path(), Some(NOBODY), Some(NOBODY)).expect("root may give it away");
    }
    directory
}

/// A program of PostgreSQL: Debian keeps them out of `PATH`, one directory for each version.
fn postgres_program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut programs = versions.map(|version| version.path().join("bin").join(name));
    programs.find(|program| program.exists()).unwrap_or_else(|| name.into())
}

fn server_command(program: &Path, directory: &Path) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a server beside the program under test")]
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    let log = fs::File::options().create(true).append(true).open(directory.join("log"));
    command.stderr(log.expect("the log can be written"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn finish(command: &mut Command) {
    let status = command.status().expect("the program is installed");
    let log = command.get_current_dir().map(|dir| fs::read_to_string(dir.join("log")));
    assert!(status.success(), "{command:?}: {status}: {log:?}");
}
