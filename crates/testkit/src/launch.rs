//! Starts the server under test the way MCP clients do: as a child with pipes and a bare
//! environment.

use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};

use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};

use crate::TmuxServer;
use crate::http::HttpServer;
use crate::mcp::Mcp;
use crate::raw::Raw;

/// A server process that is about to be started.
#[derive(Debug)]
pub struct Launch {
    command: Command,
}

impl Launch {
    /// The program on a tmux server. It gets no more of the environment than the strictest clients
    /// pass on.
    pub fn new(program: &str, tmux: &TmuxServer) -> Self {
        Self::without_tmux(program, tmux.home())
            .env("TMUXWRIGHT_SOCKET", &tmux.socket().to_string_lossy())
            .env("TMUXWRIGHT_TMUX", &TmuxServer::program().to_string_lossy())
    }

    /// The program with nothing said about tmux.
    pub fn without_tmux(program: &str, home: &Path) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the program under test")]
        let mut command = Command::new(program);
        command.env_clear().env("HOME", home).env("SHELL", "/bin/sh").env("TERM", "xterm");
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
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

    /// Starts it and connects a real MCP client.
    pub async fn mcp(self) -> Mcp {
        let (child, stderr) = self.spawn();
        Mcp::connect(child, stderr).await
    }

    /// Starts it and speaks to it in lines.
    pub fn raw(self) -> Raw {
        let (child, stderr) = self.spawn();
        Raw::new(child, stderr)
    }

    /// Starts it with `--http` on a free port and waits until it serves.
    pub async fn http(self) -> HttpServer {
        HttpServer::new(self.args(&["--http", "127.0.0.1:0"]).raw()).await
    }

    /// Runs it to its end, with nothing on its input.
    pub async fn output(mut self) -> Output {
        self.command.stdin(Stdio::null());
        self.command.output().await.expect("the program can be started")
    }

    fn spawn(mut self) -> (Child, Stderr) {
        let mut child = self.command.spawn().expect("the server can be started");
        let stderr = Stderr::default();
        let mut pipe = child.stderr.take().expect("stderr is a pipe");
        let kept = stderr.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                let text = String::from_utf8_lossy(buffer.get(..count).unwrap_or_default());
                kept.0.lock().expect("no test panics while it writes").push_str(&text);
            }
        });
        (child, stderr)
    }
}

/// What the server has written to stderr so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stderr(Arc<Mutex<String>>);

impl Stderr {
    /// All of it.
    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("no test panics while it writes").clone()
    }
}
