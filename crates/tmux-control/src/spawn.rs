//! `tmux` processes: the only place in the workspace that starts them.
//!
//! A process per command takes 2–3 ms, against 0.1 ms in control mode. It is used where control
//! mode is not available: when no server runs yet, when it has no session, and when the control
//! client does not reply.
//!
//! Commands reach the process through its input (`source-file -`): every user of the machine can
//! read the arguments of a process, and commands hold typed text, variables and names of channels.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command as Process};

use crate::command::Command;
use crate::control::relay::RelayProgram;
use crate::error::Error;
use crate::id::SessionId;
use crate::remote::{CARRIER_ENVIRONMENT, Remote};
use crate::socket::Socket;
use crate::sync::within;
use crate::version::Version;

/// The tmux program, and the tmux server that it connects to.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub path: OsString,
    /// The server's socket.
    pub socket: Socket,
    /// The configuration file that a newly started server reads instead of the user's own.
    pub config_file: Option<OsString>,
    /// Environment variables removed from the process; a new server would pass them on to every
    /// pane.
    pub hidden: Vec<OsString>,
    /// The terminal type that control clients claim. They have no terminal; tmux shows the text in
    /// `list-clients`, where it tells whose they are.
    pub client_label: Option<String>,
    /// The process group of all processes; `None` gives each its own.
    pub process_group: Option<u32>,
    /// The relay through which control clients attach to a server older than 3.7, which they could
    /// crash otherwise. With `None` they connect directly. Not used on another system.
    pub relay: Option<RelayProgram>,
    /// The system on which all processes run, if it is another one.
    pub remote: Option<Remote>,
}

/// A `tmux` process whose input or output the caller streams.
#[derive(Debug)]
pub(crate) struct TmuxProcess {
    /// The process; for one on another system the local process that carries it.
    pub(crate) child: Child,
    /// Its pid as tmux sees it; `None` once a local one has exited.
    pub(crate) pid: Option<u32>,
}

impl From<Child> for TmuxProcess {
    fn from(child: Child) -> Self {
        let pid = child.id();
        Self { child, pid }
    }
}

/// A local program that carries a channel to another system.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carrier<'a> {
    /// The program and its arguments.
    pub(crate) words: &'a [String],
    /// Environment variables removed from it.
    pub(crate) hidden: &'a [OsString],
    /// Its process group.
    pub(crate) group: Option<u32>,
}

/// Starts a carrier. It asks nothing on the terminal of the person.
pub(crate) fn start_carrier(carrier: &Carrier<'_>) -> io::Result<Child> {
    let Some((program, arguments)) = carrier.words.split_first() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    #[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
    let mut process = Process::new(program);
    for variable in carrier.hidden {
        process.env_remove(variable);
    }
    process
        .args(arguments)
        .env_remove("TMUX")
        .env_remove("TMUX_PANE")
        .envs(CARRIER_ENVIRONMENT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group_number(carrier.group))
        .kill_on_drop(true)
        .spawn()
}

/// The process group for a new process; 0 gives it its own.
fn group_number(group: Option<u32>) -> i32 {
    group.and_then(|group| group.try_into().ok()).unwrap_or(0)
}

impl Program {
    /// `tmux` from `PATH` on the given socket.
    pub fn new(socket: Socket) -> Self {
        Self {
            path: "tmux".into(),
            socket,
            config_file: None,
            hidden: Vec::new(),
            client_label: None,
            process_group: None,
            relay: None,
            remote: None,
        }
    }

    /// The program with its environment and all arguments that precede the command.
    ///
    /// `-u`: without a UTF-8 locale tmux would replace characters that are not ASCII. `$TMUX` is
    /// removed since it would name another server or make tmux refuse to attach. A process group
    /// other than ours keeps Ctrl-C in a terminal from ending it before our own cleanup.
    fn process(&self) -> Process {
        #[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
        let mut process = Process::new(&self.path);
        process
            .arg("-u")
            .args(self.socket.args())
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .process_group(self.group())
            .kill_on_drop(true);
        for variable in &self.hidden {
            process.env_remove(variable);
        }
        if let Some(file) = &self.config_file {
            process.arg("-f").arg(file);
        }
        process
    }

    /// The process group for a new process; 0 gives it its own.
    fn group(&self) -> i32 {
        group_number(self.process_group)
    }

    /// Starts a relay for control clients, which connect to `listener`.
    pub(crate) fn relay(&self, relay: &RelayProgram, listener: OwnedFd) -> io::Result<Child> {
        #[expect(clippy::disallowed_methods, reason = "the only place that starts processes")]
        let mut process = Process::new(&relay.path);
        process
            .args(&relay.args)
            .arg(self.socket.path())
            .stdin(Stdio::piped())
            .stdout(listener)
            .stderr(Stdio::null())
            .process_group(self.group())
            .kill_on_drop(true)
            .spawn()
    }

    /// The program for a command that must not start a server. Without `-N` an `attach-session` would, if
    /// the server has just ended, and the new one would read the user's configuration.
    fn client(&self) -> Process {
        let mut process = self.process();
        process.arg("-N");
        process
    }

    /// Starts a control client attached to `session`. It has no influence on window sizes or the
    /// session's environment. Whether it receives pane output is fixed here: before tmux 3.7,
    /// changing that later can hang the client.
    pub(crate) async fn control_client(
        &self,
        session: SessionId,
        output: bool,
    ) -> Result<TmuxProcess, Error> {
        let flags = if output { "ignore-size" } else { "ignore-size,no-output" };
        let session = session.to_string();
        let arguments = ["-C", "attach-session", "-E", "-f", flags, "-t", &session];
        if let Some(remote) = &self.remote {
            return self.start_there(remote, &arguments, false).await;
        }
        let mut process = self.client();
        if let Some(label) = &self.client_label {
            process.env("TERM", label);
        }
        process
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map(TmuxProcess::from)
            .map_err(|source| self.start_error(source))
    }

    /// Runs the commands in one process, in order, up to the first that fails, and returns their
    /// output.
    pub(crate) async fn run(
        &self,
        commands: &[Command],
        deadline: Duration,
    ) -> Result<Vec<u8>, Error> {
        let name = commands.first().map_or("", Command::name);
        if let Some(remote) = &self.remote {
            return Box::pin(self.run_there(remote, commands, deadline)).await;
        }
        let output = async {
            let TmuxProcess { child, .. } = self.start_commands(commands).await?;
            child.wait_with_output().await.map_err(|source| self.start_error(source))
        };
        let output = within(deadline, name, output).await??;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.refusal(name, &output.stderr))
    }

    /// Starts a process that runs the commands in order, up to the first that fails. Its input is
    /// closed.
    pub(crate) async fn start_commands(&self, commands: &[Command]) -> Result<TmuxProcess, Error> {
        let lines = command_lines(commands)?;
        let starts_a_server = commands.iter().any(Command::starts_a_server);
        let mut started = match &self.remote {
            Some(remote) => {
                self.start_there(remote, source_arguments(starts_a_server), true).await?
            }
            None => {
                let mut process = if starts_a_server { self.process() } else { self.client() };
                process
                    .args(source_arguments(starts_a_server))
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .map(TmuxProcess::from)
                    .map_err(|source| self.start_error(source))?
            }
        };
        if let Some(mut stdin) = started.child.stdin.take() {
            // tmux reads all of it before it runs the first command. If it reads nothing, its exit
            // status and stderr hold the reason.
            let _ = stdin.write_all(lines.as_bytes()).await;
        }
        Ok(started)
    }

    /// Starts a process for one command, whose input or output the caller streams. Its arguments are
    /// visible to all users of the machine.
    pub(crate) async fn start(&self, command: &Command) -> Result<TmuxProcess, Error> {
        command.check()?;
        if let Some(remote) = &self.remote {
            let arguments = command.to_argv();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            return self.start_there(remote, &arguments, true).await;
        }
        self.client()
            .args(command.to_argv())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map(TmuxProcess::from)
            .map_err(|source| self.start_error(source))
    }

    /// The error for a process that failed and printed this to stderr.
    pub(crate) fn refusal(&self, command: &str, stderr: &[u8]) -> Error {
        let message = String::from_utf8_lossy(stderr).trim().to_owned();
        if is_no_server(&message) {
            return self.no_server();
        }
        Error::Refused { command: command.to_owned(), message }
    }

    /// The error for a socket on which no server listens.
    pub(crate) fn no_server(&self) -> Error {
        Error::NoServer { socket: self.address() }
    }

    /// The version of the program. A running server may have another.
    pub(crate) async fn version(&self, deadline: Duration) -> Result<Version, Error> {
        if let Some(remote) = &self.remote {
            return Box::pin(self.version_there(remote, deadline)).await;
        }
        let output = self.process().arg("-V").stdin(Stdio::null()).output();
        let output =
            within(deadline, "-V", output).await?.map_err(|source| self.start_error(source))?;
        Ok(Version::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    pub(crate) fn start_error(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                Error::Missing { program: self.path.to_string_lossy().into_owned() }
            }
            _ => Error::Io { operation: "starting tmux", source },
        }
    }
}

/// The commands as one line for `source-file -`.
pub(crate) fn command_lines(commands: &[Command]) -> Result<String, Error> {
    let mut lines = Vec::with_capacity(commands.len());
    for command in commands {
        command.check()?;
        lines.push(command.to_line());
    }
    Ok(lines.join(" ; "))
}

/// The arguments of a process that reads its commands from its input.
pub(crate) fn source_arguments(starts_a_server: bool) -> &'static [&'static str] {
    match starts_a_server {
        true => &["start-server", ";", "source-file", "-"],
        false => &["source-file", "-"],
    }
}

/// Whether a message of tmux means that no server listens on the socket.
pub(crate) fn is_no_server(message: &str) -> bool {
    ["no server running", "error connecting to", "server exited", "lost server"]
        .iter()
        .any(|words| message.contains(words))
}

#[cfg(test)]
mod tests {
    use testkit::TmuxServer;

    use super::*;

    #[tokio::test]
    async fn control_client_starts_no_server() {
        let tmux = TmuxServer::not_started();
        let (config, read) = (tmux.home().join("config"), tmux.home().join("read"));
        std::fs::write(&config, format!("run-shell 'touch {}'", read.display())).unwrap();
        let program = Program {
            path: TmuxServer::program(),
            config_file: Some(config.into()),
            ..Program::new(Socket::Path(tmux.socket().to_owned()))
        };
        let mut client = program.control_client(SessionId(0), true).await.unwrap();
        assert!(!client.child.wait().await.unwrap().success());
        assert!(!read.exists(), "a server was started");
    }
}
