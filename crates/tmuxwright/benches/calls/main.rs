//! Benchmarks of the program against the same work done without it, both in one run, printed as a table.
//! The exit code is 1 if a budget is exceeded. Run with `make bench`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark may stop at the first surprise, and prints its table"
)]

mod client;
mod output;
mod remote;
mod wait;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use client::{BareClient, McpClient, PROGRAM};
use serde_json::{Value, json};
use testkit::{TmuxServer, wait_until};
use tmuxwright::host::PaneRow;

/// The number of rounds of a small call.
const ROUNDS: usize = 150;

/// The calls of the program in each round, beside one of the other side.
const CALLS_PER_ROUND: usize = 6;

/// The medians of both sides, measured in alternation, so that both meet the same load.
fn medians(mut ours: impl FnMut(), mut other: impl FnMut()) -> (Duration, Duration) {
    let (mut our_times, mut other_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        other_times.push(timed(&mut other));
        our_times.extend((0..CALLS_PER_ROUND).map(|_| timed(&mut ours)));
    }
    (median(our_times), median(other_times))
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

/// Prints one row of the table; false if its budget is exceeded.
fn row(measured: &str, ours: &str, other: &str, budget: &str, kept: bool) -> bool {
    println!(
        "| {measured} | {ours} | {other} | {budget} | {} |",
        if kept { "yes" } else { "**no**" }
    );
    kept
}

/// A small call against a spawned `tmux` that prints, reads or types the same.
fn small_call(
    client: &mut McpClient,
    tmux: &TmuxServer,
    tool: &str,
    arguments: &Value,
    spawned: &[&str],
) -> bool {
    let (ours, other) = medians(|| drop(client.call(tool, arguments)), || drop(tmux.tmux(spawned)));
    let ratio = other.as_secs_f64() / ours.as_secs_f64();
    let measured = format!("`{tool}`, p50");
    let other = format!("a `tmux` process: {} ({ratio:.1} times)", ms(other));
    row(&measured, &ms(ours), &other, "1/6 of it", ratio >= 6.0)
}

/// A command that does nothing, against the same typed by a minimal control-mode client.
fn short_command(client: &mut McpClient, tmux: &TmuxServer) -> bool {
    let mut bare = BareClient::start(tmux, &shell(tmux));
    let arguments = json!({"command": "true"});
    let (ours, other) =
        medians(|| drop(client.call("run_command", &arguments)), || bare.run("true"));
    bare.end();
    let other = format!("a bare control-mode client: {}", ms(other));
    let kept = ours <= Duration::from_millis(2);
    row("`run_command` `true` in bash, p50", &ms(ours), &other, "2 ms", kept)
}

/// A search through much history, against reading the same over one control connection.
fn search() -> bool {
    const PANES: usize = 100;
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-g", "history-limit", "5000"]);
    let fill =
        "seq -f 'line %g of 2000, about as long as lines in a terminal are' 1 2000; exec cat";
    let panes: Vec<String> = (0..PANES).map(|_| tmux.open(fill)).collect();
    for pane in &panes {
        wait_until("the pane is full", || tmux.screen(pane).contains("line 2000 of").then_some(()));
    }
    let mut client = McpClient::start(tmux.socket());
    let mut bare = BareClient::start(&tmux, &panes[0]);
    let arguments = json!({"pattern": "line 1234 of", "scrollback": true});
    let (mut ours, mut read) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        read.push(timed(&mut || bare.capture(&panes)));
        let begun = Instant::now();
        let text = client.call("search_panes", &arguments);
        ours.push(begun.elapsed());
        assert!(text.starts_with("100 matching lines in 101 panes"), "{text}");
    }
    bare.end();
    client.end();
    let (ours, read) = (median(ours), median(read));
    let ratio = ours.as_secs_f64() / read.as_secs_f64();
    let other = format!("reading them over control mode: {} (1/{ratio:.1})", ms(read));
    let measured = "`search_panes`, 100 panes of 2,000 lines, p50";
    row(measured, &ms(ours), &other, "2 times it", ratio <= 2.0)
}

/// Pictures of large screens: full of coloured words, and of letters that all differ in colour.
fn screenshots() -> bool {
    const WORDS: [&str; 8] =
        ["struct", "fn", "match", "return", "Option", "collect", "impl", "while"];
    let words: String = (0..50 * 28)
        .map(|n: usize| {
            let end = if n % 28 == 27 && n < 50 * 28 - 1 { "\n" } else { " " };
            format!("\u{1b}[{}m{}\u{1b}[0m{end}", 31 + n * 7 % 6 + n / 3 % 2 * 60, WORDS[n * 5 % 8])
        })
        .collect();
    let pairs: String = (0..50 * 200)
        .map(|n: u32| {
            let [_, r, g, b] = n.wrapping_mul(2_654_435_761).to_be_bytes();
            let letter = char::from(33 + (r ^ b) % 94);
            format!("\u{1b}[38;2;{r};{g};{b};48;2;{};{r};{g}m{letter}", b ^ g)
        })
        .collect();
    screenshot("coloured words", &words) & screenshot("a pair of colours in each cell", &pairs)
}

/// A picture of a large screen, made and sent.
fn screenshot(of: &str, text: &str) -> bool {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-g", "default-size", "200x50"]);
    let file = tmux.home().join("shown");
    std::fs::write(&file, text).unwrap();
    let made = ["new-session", "-d", "-x", "200", "-y", "50", "-P", "-F", "#{pane_id}"];
    let show = format!("cat {}; exec cat", file.display());
    let pane = tmux.tmux(&[&made[..], &[&show]].concat());
    wait_until("the pane is full", || (tmux.screen(&pane).lines().count() >= 50).then_some(()));
    let mut client = McpClient::start(tmux.socket());
    let arguments = json!({"target": pane});
    let mut bytes = 0.0;
    let mut times = Vec::new();
    for _ in 0..21 {
        let begun = Instant::now();
        let facts = client.call("screenshot_pane", &arguments);
        times.push(begun.elapsed());
        let words: Vec<&str> = facts.split(' ').collect();
        let at = words.iter().position(|word| *word == "bytes").unwrap();
        bytes = words[at - 1].parse::<f64>().unwrap() / 1000.0;
    }
    client.end();
    let time = median(times);
    let measured = format!("`screenshot_pane`, 200x50, {of}, p50");
    let kept = time <= Duration::from_millis(60) && bytes <= 200.0;
    row(&measured, &format!("{}, {bytes:.0} kB", ms(time)), "–", "60 ms, 200 kB", kept)
}

/// A new pane with bash at its prompt.
fn shell(tmux: &TmuxServer) -> String {
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "main:"]);
    let screen = || tmux.tmux(&["capture-pane", "-p", "-t", &pane]);
    wait_until("bash shows its prompt", || screen().contains(['$', '#']).then_some(()));
    pane
}

/// The path of the tmux program.
fn tmux_program() -> String {
    TmuxServer::program().into_string().unwrap()
}

fn main() -> ExitCode {
    let tmux = TmuxServer::new();
    for _ in 0..9 {
        tmux.tmux(&["new-window", "-d", "-t", "main:"]);
    }
    println!("{}, 10 panes\n", tmux.tmux(&["-V"]));
    println!("| what | tmuxwright | the same without it | budget | kept |");
    println!("|---|---|---|---|---|");

    let mut client = McpClient::start(tmux.socket());
    let format = PaneRow::flat_format();
    let list = ["list-panes", "-a", "-F", &format];
    let mut kept = small_call(&mut client, &tmux, "list_panes", &json!({}), &list);
    let capture = ["capture-pane", "-p", "-t", "%3"];
    kept &= small_call(&mut client, &tmux, "capture_pane", &json!({"target": "%3"}), &capture);
    let keys = ["send-keys", "-t", "%3", "-l", "x"];
    let arguments = json!({"target": "%3", "text": "x"});
    kept &= small_call(&mut client, &tmux, "send_keys", &arguments, &keys);
    tmux.tmux(&["set-option", "-g", "default-command", "exec bash"]);
    kept &= short_command(&mut client, &tmux);
    kept &= output::long_result(&mut client);
    kept &= wait::reaction(&mut client, &tmux);
    kept &= wait::idle(&tmux);
    kept &= remote::rows();

    if let Some(resident) = client.resident() {
        let mib = resident as f64 / 1024.0;
        let calls = 4 * ROUNDS * CALLS_PER_ROUND;
        let measured = format!("resident after {calls} calls and five results of 100,000 lines");
        kept &= row(&measured, &format!("{mib:.1} MiB"), "–", "30 MiB", mib <= 30.0);
    }
    client.end();
    kept &= output::huge_output(&tmux);
    kept &= search();
    kept &= screenshots();

    let stopped = TmuxServer::not_started();
    let mut start_and_end = || McpClient::start(stopped.socket()).end();
    let start = median((0..50).map(|_| timed(&mut start_and_end)).collect());
    let measured = "start, `initialize` and end, no tmux running, p50";
    kept &= row(measured, &ms(start), "–", "10 ms", start <= Duration::from_millis(10));

    let size = std::fs::metadata(PROGRAM).unwrap().len() as f64 / 1e6;
    kept &= row("the program's size", &format!("{size:.1} MB"), "–", "12 MB", size <= 12.0);
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
