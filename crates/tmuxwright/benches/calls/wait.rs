//! Benchmarks of `wait_for`: its reaction time, and its cost while nothing happens.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use testkit::{TmuxServer, wait_until};

use crate::client::{BareClient, McpClient};
use crate::{median, ms, row, timed};

/// The number of waits for the reaction time.
const REACTION_ROUNDS: usize = 100;

/// The time without output for which the CPU time is measured.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// A bash program that prints a text and the time, 30 ms after each line of input.
pub(crate) const PRINTER: &str = "exec bash -c 'stty -echo; echo begun; while read x; do sleep 0.03; echo READY $EPOCHREALTIME; done'";

/// From the moment a program prints a text to the answer on stdout, against a control-mode client
/// that only searches its output for the text.
pub(crate) fn reaction(client: &mut McpClient, tmux: &TmuxServer) -> bool {
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:", PRINTER]);
    wait_until("the program reads input", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).contains("begun").then_some(())
    });
    let mut bare = BareClient::start(tmux, &pane);
    let arguments = json!({"target": pane, "until": ["text:READY"], "timeout": 10});
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for _ in 0..REACTION_ROUNDS {
        tmux.tmux(&["send-keys", "-t", &pane, "Enter"]);
        let text = client.call("wait_for", &arguments);
        ours.push(since(&text));
        bare.next_line_with("READY");
        tmux.tmux(&["send-keys", "-t", &pane, "Enter"]);
        others.push(since(&bare.next_line_with("READY")));
    }
    bare.end();
    ours.sort_unstable();
    let (p50, p95) = (median(ours.clone()), ours[REACTION_ROUNDS * 95 / 100]);
    let other = format!("a bare control-mode client: {}", ms(median(others)));
    let kept = p50 <= Duration::from_millis(3) && p95 <= Duration::from_millis(10);
    let ours = format!("{}, {}", ms(p50), ms(p95));
    row("`wait_for` text: from print to answer, p50, p95", &ours, &other, "3 ms, 10 ms", kept)
}

/// The time that has passed since the timestamp behind `READY`.
pub(crate) fn since(text: &str) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (_, printed) = text.rsplit_once("READY ").unwrap();
    let end = printed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(printed.len());
    let printed: f64 = printed[..end].parse().unwrap();
    now.saturating_sub(Duration::from_secs_f64(printed))
}

/// The CPU time of fifty waits for all kinds of conditions while nothing happens, and the time of a call
/// beside them.
pub(crate) fn idle(tmux: &TmuxServer) -> bool {
    let mut client = McpClient::start(tmux.socket());
    let alone = small_call_time(&mut client);
    let conditions = [
        "text:NEVER",
        "regex:^never$",
        "error",
        "bell",
        "password",
        "change",
        "idle:500",
        "gone:$",
    ];
    for number in 0..50 {
        let target = format!("%{}", number / 5);
        let condition = conditions[number % conditions.len()];
        let arguments = json!({"target": target, "until": [condition], "timeout": 60});
        client.send("tools/call", &json!({"name": "wait_for", "arguments": arguments}));
    }
    let beside = small_call_time(&mut client);
    let (begun, before) = (Instant::now(), client.cpu_time());
    std::thread::sleep(IDLE_TIME);
    let used = client.cpu_time().zip(before).map(|(now, before)| now - before);
    client.end();
    let ratio = beside.as_secs_f64() / alone.as_secs_f64();
    let other = format!("without them: {}", ms(alone));
    let measured = "`capture_pane` beside 50 waits, p50";
    let mut kept = row(measured, &ms(beside), &other, "1.5 times it", ratio <= 1.5);
    if let Some(used) = used {
        let share = used.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0;
        let measured = "CPU of 50 waits over 10 panes while nothing happens";
        kept &= row(measured, &format!("{share:.3} %"), "–", "0.2 % of a core", share <= 0.2);
    }
    kept
}

/// The median time of a small call.
fn small_call_time(client: &mut McpClient) -> Duration {
    let arguments = json!({"target": "%3"});
    let mut call = || drop(client.call("capture_pane", &arguments));
    median((0..500).map(|_| timed(&mut call)).collect())
}
