//! `tmux` processes on another system.
//!
//! Commands go through a lasting shell, and those that may block through a channel of their own, as do
//! control clients and buffers.

use std::path::PathBuf;
use std::time::Duration;

use crate::command::Command;
use crate::error::Error;
use crate::remote::script::quote;
use crate::remote::{Channel, Remote};
use crate::server::Server;
use crate::socket::Socket;
use crate::spawn::{Program, TmuxProcess, command_lines, source_arguments};
use crate::version::Version;

/// The exit status of `sh` for a program that it may not execute, and for one that does not exist.
const NOT_STARTED: [i32; 2] = [126, 127];

impl Program {
    /// The server's address in messages: the socket, behind the name of another system.
    pub(crate) fn address(&self) -> String {
        match &self.remote {
            None => self.socket.to_string(),
            Some(remote) => format!("{}:{}", remote.name(), self.socket_path().display()),
        }
    }

    /// The path of the socket, by the rules of the system it is on. While that is not known, a named
    /// socket has its name only.
    pub(crate) fn socket_path(&self) -> PathBuf {
        let Some(remote) = &self.remote else { return self.socket.path() };
        let name = match &self.socket {
            Socket::Path(path) => return path.clone(),
            Socket::Name(name) => name,
            Socket::Default => "default",
        };
        let directory = remote.known_facts().and_then(|facts| facts.tmux_dir);
        directory
            .map_or_else(|| PathBuf::from(name), |directory| PathBuf::from(directory).join(name))
    }

    /// Connects to the system that it runs on, if it is another one.
    pub(crate) async fn connect(&self) -> Result<(), Error> {
        match &self.remote {
            Some(remote) => Box::pin(remote.connect()).await,
            None => Ok(()),
        }
    }

    /// The words of a shell that run tmux there with these arguments. `-N` keeps it from starting a server.
    fn words_there(&self, arguments: &[&str], starts_a_server: bool) -> String {
        let mut words = vec![self.path.to_string_lossy().into_owned(), "-u".to_owned()];
        words.extend(self.socket.args());
        if let Some(file) = &self.config_file {
            words.extend(["-f".to_owned(), file.to_string_lossy().into_owned()]);
        }
        if !starts_a_server {
            words.push("-N".to_owned());
        }
        words.extend(arguments.iter().map(|&argument| argument.to_owned()));
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        format!("unset TMUX TMUX_PANE; exec {}", words.join(" "))
    }

    /// Starts tmux on another system, in a channel of its own. With `stderr` its error output is piped.
    pub(crate) async fn start_there(
        &self,
        remote: &Remote,
        arguments: &[&str],
        stderr: bool,
    ) -> Result<TmuxProcess, Error> {
        let starts_a_server = arguments.first() == Some(&"start-server");
        let mut script = self.words_there(arguments, starts_a_server);
        if let Some(label) = &self.client_label {
            script = format!("TERM={}; export TERM; {script}", quote(label));
        }
        let Channel { child, pid } = Box::pin(remote.channel(&script, stderr)).await?;
        Ok(TmuxProcess { child, pid: Some(pid) })
    }

    /// Runs the commands on another system, in order, up to the first that fails.
    pub(crate) async fn run_there(
        &self,
        remote: &Remote,
        commands: &[Command],
        deadline: Duration,
    ) -> Result<Vec<u8>, Error> {
        let name = commands.first().map_or("", Command::name);
        // Connecting has a limit of its own, which is longer.
        remote.connect().await?;
        let (status, stdout, stderr) = if commands.iter().any(Command::needs_own_process) {
            let output = async {
                let child = self.start_commands(commands).await?.child;
                child.wait_with_output().await.map_err(|source| self.start_error(source))
            };
            let output = crate::sync::within(deadline, name, output).await??;
            (output.status.code().unwrap_or(-1), output.stdout, output.stderr)
        } else {
            let starts_a_server = commands.iter().any(Command::starts_a_server);
            let words = self.words_there(source_arguments(starts_a_server), starts_a_server);
            let lines = command_lines(commands)?;
            let output = remote.command(lines, words, deadline).await;
            let output = output.map_err(|error| match error {
                Error::Timeout { after, .. } => Error::Timeout { command: name.to_owned(), after },
                error => error,
            })?;
            (output.status, output.stdout, output.stderr)
        };
        match status {
            0 => Ok(stdout),
            status if NOT_STARTED.contains(&status) => Err(self.missing_there(remote)),
            _ => Err(self.refusal(name, &stderr)),
        }
    }

    /// Kills a process. On another system the end of its channel would not: tmux need not read or write.
    pub(crate) async fn kill(&self, process: &mut TmuxProcess) {
        if let (Some(remote), Some(pid)) = (&self.remote, process.pid) {
            let _ = remote.run(&format!("kill -KILL {pid}")).await;
        }
        let _ = process.child.kill().await;
    }

    /// The version of the program on another system.
    pub(crate) async fn version_there(
        &self,
        remote: &Remote,
        deadline: Duration,
    ) -> Result<Version, Error> {
        remote.connect().await?;
        let words = self.words_there(&["-V"], true);
        let output = remote.command(String::new(), words, deadline).await?;
        match output.status {
            0 => Ok(Version::parse(&String::from_utf8_lossy(&output.stdout))),
            _ => Err(self.missing_there(remote)),
        }
    }

    fn missing_there(&self, remote: &Remote) -> Error {
        Error::Missing { program: format!("{}:{}", remote.name(), self.path.to_string_lossy()) }
    }
}

impl Server {
    /// The path of the server's socket, on the system that it is on. Before a connection to another system
    /// a named socket has its name only.
    pub fn socket_path(&self) -> PathBuf {
        self.tmux_program().socket_path()
    }

    /// The address of the server in messages: its socket, behind the name of another system.
    pub fn address(&self) -> String {
        self.tmux_program().address()
    }

    /// The system on which the server runs, if it is another one.
    pub fn remote(&self) -> Option<&Remote> {
        self.tmux_program().remote.as_ref()
    }

    /// Connects to the system of the server. Connecting may take longer than a reply of tmux may, so it
    /// comes before a wait with the deadline of a reply.
    pub(crate) async fn connect(&self) -> Result<(), Error> {
        self.tmux_program().connect().await
    }
}
