//! The two sides of the comparison: an MCP client of the program, and a minimal control-mode client.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::TmuxServer;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tmuxwright");

/// An MCP client of the program, over two pipes.
pub(crate) struct McpClient {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl McpClient {
    pub(crate) fn start(socket: &Path) -> Self {
        Self::start_with(socket, &[])
    }

    /// The same with further arguments.
    pub(crate) fn start_with(socket: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["--toolset", "all", "--socket"])
            .arg(socket)
            .args(arguments)
            .env("TMUXWRIGHT_TMUX", TmuxServer::program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, stdin, stdout, id: 0 };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"}});
        client.request("initialize", &hello);
        client
    }

    /// Sends a request and does not wait for its answer.
    pub(crate) fn send(&mut self, method: &str, params: &Value) {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.send(method, params);
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(reply["result"]["isError"], false, "{reply}");
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// The CPU time of the program, where `/proc` has it.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        let of_thread = |thread: std::fs::DirEntry| -> Option<u64> {
            let stat = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            stat.split(' ').next()?.parse().ok()
        };
        Some(Duration::from_nanos(threads.flatten().filter_map(of_thread).sum()))
    }

    /// The resident memory of the program in KiB, where `/proc` has it.
    pub(crate) fn resident(&self) -> Option<u64> {
        self.memory("VmRSS:")
    }

    /// The highest resident memory of the program so far in KiB, where `/proc` has it.
    pub(crate) fn peak(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    fn memory(&self, field: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(field))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin);
        self.child.wait().unwrap();
    }
}

/// A minimal control-mode client that types into a shell and waits for a mark in its output: the least
/// that any program has to do.
pub(crate) struct BareClient {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    pane: String,
    count: u64,
}

impl BareClient {
    pub(crate) fn start(tmux: &TmuxServer, pane: &str) -> Self {
        let mut child = Command::new(TmuxServer::program())
            .arg("-S")
            .arg(tmux.socket())
            .args(["-C", "attach-session", "-f", "ignore-size", "-t", pane])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, pane: pane.to_owned(), count: 0 }
    }

    pub(crate) fn run(&mut self, command: &str) {
        self.count += 1;
        let Self { stdin, pane, count, .. } = self;
        let line = format!("{command}; printf '\\033]7717;{count}\\007'");
        let line = line.replace('\'', "'\\''");
        writeln!(stdin, "send-keys -t {pane} -l '{line}'\nsend-keys -t {pane} Enter").unwrap();
        let seen = format!("\\033]7717;{count}\\007");
        self.next_line_with(&seen);
    }

    /// Reads up to a line that holds this text.
    pub(crate) fn next_line_with(&mut self, text: &str) -> String {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the control client has gone");
        }
        line
    }

    /// Captures the whole text of these panes, with all commands sent at once.
    pub(crate) fn capture(&mut self, panes: &[String]) {
        let Self { stdin, stdout, count, .. } = self;
        *count += 1;
        let commands = panes.iter().map(|pane| format!("capture-pane -p -J -S - -t {pane}\n"));
        let commands: String =
            commands.chain([format!("display-message -p bare-{count}\n")]).collect();
        stdin.write_all(commands.as_bytes()).unwrap();
        let last = format!("bare-{count}\n");
        let mut line = Vec::new();
        while line != last.as_bytes() {
            line.clear();
            assert!(
                stdout.read_until(b'\n', &mut line).unwrap() > 0,
                "the control client has gone"
            );
        }
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin);
        // Its output does not fit into the pipe, so it cannot end before that is read.
        std::io::copy(&mut self.stdout, &mut std::io::sink()).unwrap();
        self.child.wait().unwrap();
    }
}
