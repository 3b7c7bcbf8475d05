//! Starting processes: the only place in the workspace that does.
//!
//! A `tmux` process per command is the slow way (2–3 ms against 0.1 ms), used where control mode
//! cannot be: when there is no server yet, when it has no session, and when the control client
//! does not answer.

use std::ffi::OsString;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command as Process;

use crate::command::Command;
use crate::error::Error;
use crate::id::SessionId;
use crate::socket::Socket;
use crate::version::Version;

/// The tmux program and the server it is to talk to.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a path, or a name to be found in `PATH`.
    pub path: OsString,
    /// The server's socket.
    pub socket: Socket,
    /// The configuration a newly started server reads instead of the user's own.
    pub config_file: Option<OsString>,
    /// Environment variables that it must not see; a server would hand them on to every pane.
    pub hidden: Vec<OsString>,
}

impl Program {
    /// `tmux` from `PATH` on the given socket.
    pub fn new(socket: Socket) -> Self {
        Self { path: "tmux".into(), socket, config_file: None, hidden: Vec::new() }
    }

    /// The program with everything that comes before the command.
    ///
    /// `-u`: without a UTF-8 locale tmux would replace what is not ASCII. `$TMUX` is taken away
    /// since it would name another server or make tmux refuse to attach. A process group of its own
    /// keeps Ctrl-C in a terminal from ending it before we have cleaned up.
    fn process(&self) -> Process {
        #[expect(clippy::disallowed_methods, reason = "this is the place")]
        let mut process = Process::new(&self.path);
        process
            .arg("-u")
            .args(self.socket.args())
            .env_remove("TMUX")
            .env_remove("TMUX_PANE")
            .process_group(0)
            .kill_on_drop(true);
        for variable in &self.hidden {
            process.env_remove(variable);
        }
        if let Some(file) = &self.config_file {
            process.arg("-f").arg(file);
        }
        process
    }

    /// A control client attached to `session`. It counts for no window size, leaves the session's
    /// environment alone, and hears pane output only if asked to: changing that later can hang the
    /// client before tmux 3.7.
    pub(crate) fn control_client(
        &self,
        session: SessionId,
        output: bool,
    ) -> Result<tokio::process::Child, Error> {
        let flags = if output { "ignore-size" } else { "ignore-size,no-output" };
        self.process()
            .args(["-C", "attach-session", "-E", "-f", flags, "-t", &session.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| self.start_error(source))
    }

    /// Runs the commands in one process, one after the other, up to the first that fails, and
    /// returns what they printed.
    pub(crate) async fn run(
        &self,
        commands: &[Command],
        deadline: Duration,
    ) -> Result<Vec<u8>, Error> {
        let name = || commands.first().map_or("", Command::name).to_owned();
        let output = self.process_for(commands)?.stdin(Stdio::null()).output();
        let output = tokio::time::timeout(deadline, output)
            .await
            .map_err(|_| Error::Timeout { command: name(), after: deadline })?
            .map_err(|source| self.start_error(source))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.refusal(&name(), &output.stderr))
    }

    /// Starts a process for one command, whose input or output is read or written as it runs.
    pub(crate) fn start(
        &self,
        command: &Command,
        input: Stdio,
        output: Stdio,
    ) -> Result<tokio::process::Child, Error> {
        self.process_for(std::slice::from_ref(command))?
            .stdin(input)
            .stdout(output)
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| self.start_error(source))
    }

    /// What a process meant that ended badly and said this.
    pub(crate) fn refusal(&self, command: &str, said: &[u8]) -> Error {
        let message = String::from_utf8_lossy(said).trim().to_owned();
        if is_no_server(&message) {
            return Error::NoServer { socket: self.socket.to_string() };
        }
        Error::Refused { command: command.to_owned(), message }
    }

    /// A process for commands, one after the other, up to the first that fails.
    pub(crate) fn process_for(&self, commands: &[Command]) -> Result<Process, Error> {
        let mut process = self.process();
        for (index, command) in commands.iter().enumerate() {
            command.check()?;
            if index > 0 {
                process.arg(";");
            }
            process.args(command.to_argv());
        }
        Ok(process)
    }

    /// The version of the program itself; the server may be running another.
    pub(crate) async fn version(&self, deadline: Duration) -> Result<Version, Error> {
        let output = self.process().arg("-V").stdin(Stdio::null()).output();
        let output = tokio::time::timeout(deadline, output)
            .await
            .map_err(|_| Error::Timeout { command: "-V".to_owned(), after: deadline })?
            .map_err(|source| self.start_error(source))?;
        Ok(Version::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    pub(crate) fn start_error(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                Error::Missing { program: self.path.to_string_lossy().into_owned() }
            }
            _ => Error::Io { what: "starting tmux", source },
        }
    }
}

/// The words in which tmux says that nobody listens on the socket.
pub(crate) fn is_no_server(message: &str) -> bool {
    ["no server running", "error connecting to", "server exited", "lost server"]
        .iter()
        .any(|words| message.contains(words))
}
