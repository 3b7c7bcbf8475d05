//! Measures the program against spawning `tmux` for the same work, both in one run, and prints a
//! table. Ends with 1 if a budget of the design is not kept. Run with `make bench`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark may stop at the first surprise, and prints its table"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::TmuxServer;
use tmux_mcp::host::PaneRow;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tmux-mcp");
const ROUNDS: usize = 150;
const CALLS_PER_ROUND: usize = 6;

/// The program as a client sees it: two pipes.
struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(socket: &Path) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["--toolset", "all", "--socket"])
            .arg(socket)
            .env("TMUX_MCP_TMUX", TmuxServer::program())
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

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        writeln!(self.stdin, "{message}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, tool: &str, arguments: &Value) {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(reply["result"]["isError"], false, "{reply}");
    }

    /// Resident memory in KiB, where the system tells.
    fn resident(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    fn end(mut self) {
        drop(self.stdin);
        self.child.wait().unwrap();
    }
}

/// The middle of many runs of each, one after the other, so that both meet the same machine.
fn medians(mut ours: impl FnMut(), mut other: impl FnMut()) -> (Duration, Duration) {
    let (mut our_times, mut other_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        other_times.push(timed(&mut other));
        our_times.extend((0..CALLS_PER_ROUND).map(|_| timed(&mut ours)));
    }
    (middle(our_times), middle(other_times))
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// One row of the table; false if its budget is not kept.
fn row(what: &str, ours: &str, other: &str, budget: &str, kept: bool) -> bool {
    println!("| {what} | {ours} | {other} | {budget} | {} |", if kept { "yes" } else { "**no**" });
    kept
}

/// A small call against a spawned `tmux` that prints, reads or types the same.
fn small_call(
    client: &mut Client,
    tmux: &TmuxServer,
    tool: &str,
    arguments: &Value,
    spawned: &[&str],
) -> bool {
    let (ours, other) = medians(|| client.call(tool, arguments), || drop(tmux.tmux(spawned)));
    let ratio = other.as_secs_f64() / ours.as_secs_f64();
    let what = format!("`{tool}`, p50");
    row(&what, &ms(ours), &format!("{} ({ratio:.1} times)", ms(other)), "1/6 of it", ratio >= 6.0)
}

fn main() -> ExitCode {
    let tmux = TmuxServer::new();
    for _ in 0..9 {
        tmux.tmux(&["new-window", "-d", "-t", "main:"]);
    }
    println!("{}, 10 panes\n", tmux.tmux(&["-V"]));
    println!("| what | tmux-mcp | a `tmux` process for the same | budget | kept |");
    println!("|---|---|---|---|---|");

    let mut client = Client::start(tmux.socket());
    let format = PaneRow::flat_format();
    let list = ["list-panes", "-a", "-F", &format];
    let mut kept = small_call(&mut client, &tmux, "list_panes", &json!({}), &list);
    let capture = ["capture-pane", "-p", "-t", "%3"];
    kept &= small_call(&mut client, &tmux, "capture_pane", &json!({"target": "%3"}), &capture);
    let keys = ["send-keys", "-t", "%3", "-l", "x"];
    let arguments = json!({"target": "%3", "text": "x"});
    kept &= small_call(&mut client, &tmux, "send_keys", &arguments, &keys);

    if let Some(resident) = client.resident() {
        let mib = resident as f64 / 1024.0;
        let what = format!("resident after {} calls", 3 * ROUNDS * CALLS_PER_ROUND);
        kept &= row(&what, &format!("{mib:.1} MiB"), "–", "30 MiB", mib <= 30.0);
    }
    client.end();

    let nobody = TmuxServer::not_started();
    let mut start_and_end = || Client::start(nobody.socket()).end();
    let start = middle((0..50).map(|_| timed(&mut start_and_end)).collect());
    let what = "start, `initialize` and end, no tmux running, p50";
    kept &= row(what, &ms(start), "–", "10 ms", start <= Duration::from_millis(10));

    let size = std::fs::metadata(PROGRAM).unwrap().len() as f64 / 1e6;
    kept &= row("the program's size", &format!("{size:.1} MB"), "–", "12 MB", size <= 12.0);
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
