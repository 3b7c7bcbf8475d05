//! The server in lines of JSON, for everything a well-behaved client would not do.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::launch::Stderr;

/// Long enough for a busy machine; never what a test waits for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server process and its two pipes.
#[derive(Debug)]
pub struct Raw {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Stderr,
    last_id: u64,
}

impl Raw {
    pub(crate) fn new(mut child: Child, stderr: Stderr) -> Self {
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        Self { child, stdin, stdout, stderr, last_id: 0 }
    }

    /// The handshake of the older revisions.
    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}});
        let reply = self.request("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        reply
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Sends anything at all.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).await.expect("the server reads");
        stdin.flush().await.expect("the server reads");
    }

    /// Sends a request without waiting, and returns its id.
    pub async fn start(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request and returns the whole reply.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params).await;
        loop {
            let message = self.receive().await.expect("the server answers before it goes");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The next message; `None` when the server has closed its side. Anything on stdout that is not
    /// a message fails the test.
    pub async fn receive(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.stdout.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("no message\nstderr: {}", self.stderr.text()));
        let line = line.expect("stdout is UTF-8")?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// Closes the server's input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("the server runs");
    }

    /// The server process.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    /// Waits for the server's end.
    pub async fn wait(&mut self) -> ExitStatus {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let status =
            status.unwrap_or_else(|_| panic!("it runs on\nstderr: {}", self.stderr.text()));
        status.expect("the server can be waited for")
    }

    /// What the server has logged.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }
}
