//! Calls on another system, which is this one behind an ssh server on loopback, against the same calls without ssh.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Sshd, TmuxServer, wait_until};

use crate::client::McpClient;
use crate::wait::{PRINTER, since};
use crate::{medians, ms, row, timed};

/// The number of waits for the reaction time.
const REACTION_ROUNDS: usize = 50;

/// The number of lines sent for a round trip.
const ROUND_TRIPS: usize = 200;

/// The round trips of a short command, one after the other: the pane is looked up, its stream begins, the line is typed,
/// and the end is confirmed.
const COMMAND_ROUND_TRIPS: u32 = 4;

/// The rows about another system.
pub(crate) fn rows() -> bool {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-g", "default-command", "exec bash"]);
    let sshd = Sshd::start();
    let destination = sshd.destination();
    let round_trip = round_trip(&destination);
    let mut near = McpClient::start(tmux.socket());
    let mut far = McpClient::start_with(tmux.socket(), &["--ssh", &destination]);
    let mut kept = true;
    let capture = json!({"target": "main:"});
    let keys = json!({"target": "main:", "text": "x"});
    for (tool, arguments) in
        [("list_panes", &json!({})), ("capture_pane", &capture), ("send_keys", &keys)]
    {
        kept &= small_call(&mut near, &mut far, tool, arguments, round_trip);
    }
    let arguments = json!({"command": "true"});
    let (ours, local) = both(&mut near, &mut far, "run_command", &arguments);
    let limit = Duration::from_millis(4) + round_trip * COMMAND_ROUND_TRIPS;
    let budget = format!("4 ms and {COMMAND_ROUND_TRIPS} round trips: {}", ms(limit));
    let local = format!("without ssh: {}", ms(local));
    kept &= row(
        "over ssh: `run_command` `true` in bash, p50",
        &ms(ours),
        &local,
        &budget,
        ours <= limit,
    );
    kept &= reaction(&mut near, &mut far, &tmux, round_trip);
    near.end();
    far.end();
    kept
}

/// The medians of a call over ssh and without it.
fn both(
    near: &mut McpClient,
    far: &mut McpClient,
    tool: &str,
    arguments: &Value,
) -> (Duration, Duration) {
    medians(|| drop(far.call(tool, arguments)), || drop(near.call(tool, arguments)))
}

fn small_call(
    near: &mut McpClient,
    far: &mut McpClient,
    tool: &str,
    arguments: &Value,
    round_trip: Duration,
) -> bool {
    let (ours, local) = both(near, far, tool, arguments);
    small_row(&format!("over ssh: `{tool}`, p50"), ours, local, round_trip)
}

/// The row of a measurement that may take twice as long as without ssh, and a round trip.
fn small_row(measured: &str, ours: Duration, local: Duration, round_trip: Duration) -> bool {
    let limit = local * 2 + round_trip;
    let budget = format!("2 times it and a round trip: {}", ms(limit));
    row(measured, &ms(ours), &format!("without ssh: {}", ms(local)), &budget, ours <= limit)
}

/// From the moment a program prints a text to the answer on stdout.
fn reaction(
    near: &mut McpClient,
    far: &mut McpClient,
    tmux: &TmuxServer,
    round_trip: Duration,
) -> bool {
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", PRINTER]);
    wait_until("the program reads input", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).contains("begun").then_some(())
    });
    let arguments = json!({"target": pane, "until": ["text:READY"], "timeout": 10});
    let reaction_of = |client: &mut McpClient| {
        tmux.tmux(&["send-keys", "-t", &pane, "Enter"]);
        since(&client.call("wait_for", &arguments))
    };
    // The first wait opens a channel for the output, which takes longer than the program waits.
    far.call("wait_for", &json!({"target": pane, "until": ["text:READY"], "timeout": 0.5}));
    let (mut ours, mut local) = (Vec::new(), Vec::new());
    for _ in 0..REACTION_ROUNDS {
        ours.push(reaction_of(far));
        local.push(reaction_of(near));
    }
    let (ours, local) = (crate::median(ours), crate::median(local));
    small_row("over ssh: `wait_for` text, from print to answer, p50", ours, local, round_trip)
}

/// A program behind ssh that sends back what it gets.
struct Echo {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Echo {
    fn start(destination: &str) -> Self {
        let mut child = Command::new("ssh")
            .args(destination.split(' '))
            .arg("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    fn exchange(&mut self) {
        self.stdin.write_all(b"x\n").unwrap();
        let mut line = String::new();
        assert_eq!(self.stdout.read_line(&mut line).unwrap(), 2);
    }
}

/// The median time of a line to a program behind ssh and back.
fn round_trip(destination: &str) -> Duration {
    let mut echo = Echo::start(destination);
    // The first one waits for the connection.
    echo.exchange();
    let times = (0..ROUND_TRIPS).map(|_| timed(&mut || echo.exchange())).collect();
    let Echo { mut child, stdin, .. } = echo;
    drop(stdin);
    child.wait().unwrap();
    crate::median(times)
}
