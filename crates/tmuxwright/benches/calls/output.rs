//! Commands that print much, against the time that the shell and tmux need by themselves.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::TmuxServer;

use crate::client::{BareClient, McpClient};
use crate::{median, ms, row, shell, timed, tmux_program};

/// A shell that nobody watches, in a pane like those of the program's own session.
struct Unwatched {
    tmux: TmuxServer,
    pane: String,
}

impl Unwatched {
    fn start() -> Self {
        let tmux = TmuxServer::new();
        for (option, value) in [
            ("default-command", "exec bash"),
            ("history-limit", "50000"),
            ("default-size", "200x50"),
        ] {
            tmux.tmux(&["set-option", "-g", option, value]);
        }
        tmux.tmux(&["resize-window", "-t", "main:", "-x", "200", "-y", "50"]);
        let pane = shell(&tmux);
        Self { tmux, pane }
    }

    fn run(&self, command: &str) {
        let signal =
            format!("{} -S {} wait-for -S x", tmux_program(), self.tmux.socket().display());
        let line = format!("{command}; {signal}");
        let typed = ["send-keys", "-t", &self.pane, "-l", &line, ";"];
        let entered = ["send-keys", "-t", &self.pane, "Enter"];
        self.tmux.tmux(&[&typed[..], &entered].concat());
        self.tmux.tmux(&["wait-for", "x"]);
    }
}

/// A result of 100,000 lines.
pub(crate) fn long_result(client: &mut McpClient) -> bool {
    let command = "seq 1 100000";
    let arguments = json!({"command": command, "max_lines": 0});
    let expected: Vec<String> = (1..=100_000).map(|n| n.to_string()).collect();
    let alone = Unwatched::start();
    let (mut ours, mut unwatched) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        unwatched.push(timed(&mut || alone.run(command)));
        let begun = Instant::now();
        let text = client.call("run_command", &arguments);
        ours.push(begun.elapsed());
        let (_, output) = text.split_once('\n').unwrap();
        assert!(output.split('\n').eq(expected.iter()), "not every line came back");
    }
    let (ours, unwatched) = (median(ours), median(unwatched));
    let ratio = ours.as_secs_f64() / unwatched.as_secs_f64();
    let other = format!("nobody watching: {} (1/{ratio:.1})", ms(unwatched));
    let measured = "`run_command` `seq 1 100000`, all lines exact";
    row(measured, &ms(ours), &other, "3 times it", ratio <= 3.0)
}

/// Output of 100 MB, with the time that a minimal control-mode client needs to read it: before 3.7, tmux
/// formats each byte for such a client by itself.
pub(crate) fn huge_output(tmux: &TmuxServer) -> bool {
    const LINES: usize = 2_110_000;
    let command = format!("seq -f 'line %.0f of one hundred megabytes of output' 1 {LINES}");
    let arguments = json!({"command": command, "timeout": 45, "max_lines": 2});
    let alone = Unwatched::start();
    let mut client = McpClient::start(tmux.socket());
    client.call("run_command", &json!({"command": "true"}));
    let (mut ours, mut unwatched, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        unwatched.push(timed(&mut || alone.run(&command)));
        let begun = Instant::now();
        let text = client.call("run_command", &arguments);
        ours.push(begun.elapsed());
        let last = format!("line {LINES} of one hundred megabytes of output");
        let is_complete = text.contains(&format!("{LINES} lines")) && text.ends_with(&last);
        assert!(is_complete && text.starts_with("exit 0"), "{text}");
        let mut reader = BareClient::start(&alone.tmux, &alone.pane);
        bare.push(timed(&mut || reader.run(&command)));
        reader.end();
    }
    let peak = client.peak();
    client.end();
    let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
    let (ours, unwatched, bare) = (median(ours), median(unwatched), median(bare));
    let ratio = ours.as_secs_f64() / unwatched.as_secs_f64();
    let mib = peak.unwrap_or_default() as f64 / 1024.0;
    let other = format!(
        "nobody watching: {} (1/{ratio:.1}); a bare control-mode client: {}",
        seconds(unwatched),
        seconds(bare)
    );
    let measured = "`run_command` with 100 MB of output, and peak memory";
    let value = format!("{}, {mib:.1} MiB", seconds(ours));
    row(measured, &value, &other, "1.3 times it, 30 MiB", ratio <= 1.3 && mib <= 30.0)
}
