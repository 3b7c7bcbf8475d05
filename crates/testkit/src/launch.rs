//! Starts the program under test as MCP clients do: as a child with pipes, a home and little else in
//! its environment.

use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};

use rmcp::model::ElicitationAction;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::TmuxServer;
use crate::home;
use crate::http::HttpServer;
use crate::load;
use crate::mcp::{Answering, Mcp};
use crate::raw::Raw;

/// The environment variable with a command through which the program under test reaches tmux, such as
/// `env`. The code for other systems then serves tests that were written for this one.
const VIA_VARIABLE: &str = "TEST_VIA";

/// The program under test, not started yet.
#[derive(Debug)]
pub struct Launch {
    command: Command,
}

impl Launch {
    /// The program on a tmux server. Its environment holds no more than the strictest MCP clients
    /// pass on.
    pub fn new(program: &str, tmux: &TmuxServer) -> Self {
        let launch = Self::without_tmux(program, tmux.home())
            .env("TMUXWRIGHT_SOCKET", &tmux.socket().to_string_lossy())
            .env("TMUXWRIGHT_TMUX", &TmuxServer::program().to_string_lossy());
        match Self::way() {
            Some(way) => launch.env("TMUXWRIGHT_VIA", &way),
            None => launch,
        }
    }

    /// The command through which the program reaches tmux in this test run, if it takes tmux to be on another system.
    pub fn way() -> Option<String> {
        std::env::var(VIA_VARIABLE).ok()
    }

    /// The program without settings for tmux, started in `home`.
    pub fn without_tmux(program: &str, home: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the program under test")]
        let mut command = Command::new(program);
        command.env_clear().env("HOME", home).env("SHELL", "/bin/sh").env("TERM", "xterm");
        command.env("PATH", home::path()).current_dir(home);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(seed) = load::seed() {
            command.env(load::DELAYS_VARIABLE, seed.to_string());
        }
        Self { command }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts the program and connects a real MCP client.
    pub async fn mcp(self) -> Mcp {
        let (child, stderr) = self.spawn();
        Mcp::connect(child, stderr, None).await
    }

    /// The same, for a client that puts the server's questions to a person.
    pub async fn mcp_with_person(
        self,
        answer: impl Fn(&str) -> ElicitationAction + Send + Sync + 'static,
    ) -> Mcp {
        let (child, stderr) = self.spawn();
        Mcp::connect(child, stderr, Some(Answering::new(answer))).await
    }

    /// Starts the program for a client that sends lines.
    pub fn raw(self) -> Raw {
        let (child, stderr) = self.spawn();
        Raw::new(child, stderr)
    }

    /// Starts the program with `--http` on a free port and waits until it listens.
    pub async fn http(self) -> HttpServer {
        HttpServer::new(self.args(&["--http", "127.0.0.1:0"]).raw()).await
    }

    /// Runs the program until it exits, with an empty stdin.
    pub async fn output(mut self) -> Output {
        self.command.stdin(Stdio::null());
        self.command.output().await.expect("the program can be started")
    }

    fn spawn(mut self) -> (Child, Stderr) {
        let mut child = self.command.spawn().expect("the program can be started");
        let stderr = Stderr::default();
        let mut pipe = child.stderr.take().expect("stderr is a pipe");
        let kept = stderr.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default());
                lock(&kept.0).push_str(&text);
            }
        });
        (child, stderr)
    }
}

/// The program's stderr so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stderr(Arc<Mutex<String>>);

impl Stderr {
    /// The text so far.
    pub(crate) fn text(&self) -> String {
        lock(&self.0).clone()
    }
}

/// Locks a buffer that a background task writes to.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds the lock")
}
