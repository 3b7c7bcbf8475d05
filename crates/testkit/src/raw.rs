//! A client that speaks to the program in lines of JSON, also in ways no proper MCP client would.

use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::launch::Stderr;
use crate::until::MAX_WAIT;

/// The program under test with its stdin and stdout.
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

    /// The handshake of the revisions that have one. Returns the reply to `initialize`.
    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({"protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}});
        let reply = self.request("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        reply
    }

    /// Sends one message.
    pub async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    /// Sends bytes, which need not be a message.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(bytes).await.expect("stdin can be written to");
        stdin.flush().await.expect("stdin can be written to");
    }

    /// Sends a request and returns its id without waiting for the reply.
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
            let message =
                self.receive().await.expect("the program replies before it closes stdout");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The next message; `None` when the program has closed stdout. Bytes on stdout that are not a
    /// message fail the test.
    pub async fn receive(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(MAX_WAIT, self.stdout.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("no message\nstderr: {}", self.stderr.text()));
        let line = line.expect("stdout is UTF-8")?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// Closes the program's stdin.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process id"), signal).expect("the program runs");
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.child.id().expect("the program runs")
    }

    /// Waits until the program has exited.
    pub async fn wait(&mut self) -> ExitStatus {
        let status = tokio::time::timeout(MAX_WAIT, self.child.wait()).await;
        let status =
            status.unwrap_or_else(|_| panic!("still running\nstderr: {}", self.stderr.text()));
        status.expect("a child can be waited for")
    }

    /// The text on stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }
}
