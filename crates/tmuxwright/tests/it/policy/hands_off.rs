//! Tests that foreign objects are safe at default settings: no sequence of calls kills, respawns, clears
//! or renames them. Typing, moving, resizing and selecting are allowed, and do none of that.

#![expect(clippy::unwrap_used, reason = "helpers fail like tests")]

use std::collections::BTreeSet;

use proptest::arbitrary::any;
use proptest::collection::vec;
use proptest::sample::Index;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use testkit::{TmuxServer, wait_until};
use tmuxwright::context::ToolEntry;
use tmuxwright::contract::Tier;
use tmuxwright::tools;

use crate::launch;
use crate::support::made_up::{Material, arguments, is_needed, tool};
use crate::support::server_state::{ids, run_all};

/// The number of random sequences.
const SEQUENCES: u32 = 8;

/// The number of calls in each sequence.
const CALLS_PER_SEQUENCE: usize = 30;

/// A program that prints lines, and that no key ends or makes print more.
const QUIET_PROGRAM: &str = "stty -isig -icanon -ixon -echo; seq 1 60; exec sleep 5000";

/// A person's tmux server: shells, running programs, an exited program and a buffer.
fn server_in_use() -> TmuxServer {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let quiet = tmux.open(QUIET_PROGRAM);
    tmux.tmux(&["split-window", "-d", "-t", &quiet, QUIET_PROGRAM]);
    let dead = tmux.open("read x; echo last words");
    tmux.tmux(&["set-option", "-w", "-t", &dead, "remain-on-exit", "on"]);
    tmux.presses(&dead, &["Enter"]);
    for (number, window) in ids(&tmux, "window").iter().enumerate() {
        tmux.tmux(&["rename-window", "-t", window, &format!("mine-{number}")]);
    }
    for pane in ids(&tmux, "pane") {
        tmux.tmux(&["select-pane", "-t", &pane, "-T", "my title"]);
    }
    tmux.tmux(&["set-buffer", "-b", "notes", "my notes"]);
    for shell in ["=main:0", "=other:0"] {
        tmux.type_line(shell, "seq 1 40");
    }
    wait_until("every program has printed its lines", || {
        // Before 3.7 tmux can miss an exit, and checks again when a job ends.
        tmux.tmux(&["run-shell", ":"]);
        let panes = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_dead} #{history_size}"]);
        let ready = |line: &str| line.starts_with("1 ") || !line.ends_with(" 0");
        let ready = panes.lines().all(ready) && tmux.screen(&dead).contains("Pane is dead");
        ready.then_some(())
    });
    tmux
}

/// The facts that every call must preserve, one per line. New facts may be added.
fn facts(tmux: &TmuxServer) -> BTreeSet<String> {
    let format = "session #{session_id} is #{session_name}\n\
                  window #{window_id} is #{window_name}\n\
                  pane #{pane_id} is #{pane_title}, #{pane_pid} #{pane_dead} #{pane_start_command}";
    let listed = tmux.try_tmux(&["list-panes", "-a", "-F", format]).unwrap_or_default();
    let mut facts: BTreeSet<String> = listed.lines().map(str::to_owned).collect();
    let capture = ["capture-pane", "-p", "-J", "-S", "-", "-t"].map(str::to_owned);
    let panes = ids(tmux, "pane");
    let commands: Vec<Vec<String>> =
        panes.iter().map(|pane| capture.iter().chain([pane]).cloned().collect()).collect();
    for (pane, shown) in panes.iter().zip(run_all(tmux, &commands)) {
        // A shell may have printed more; its first lines must remain.
        let lines = shown.lines().skip(1).map(str::trim_end).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.take(20).collect();
        facts.insert(format!("{pane} shows {}", lines.join(" ")));
    }
    facts.insert(format!("notes: {:?}", tmux.try_tmux(&["show-buffer", "-b", "notes"])));
    facts
}

/// Random numbers that are drawn beforehand and repeat.
struct DrawnNumbers<'a>(std::iter::Cycle<std::slice::Iter<'a, Index>>);

impl DrawnNumbers<'_> {
    fn index(&mut self, size: usize) -> usize {
        self.0.next().map_or(0, |index| index.index(size.max(1)))
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.index(values.len())).cloned()
    }
}

/// The arguments of a random call that fit the tool's schema. Most are ordinary: a call with hostile ones
/// is often refused early.
fn random_arguments(
    entry: &ToolEntry,
    material: &Material,
    drawn: &mut DrawnNumbers<'_>,
) -> Map<String, Value> {
    let mut call = Map::new();
    for (name, schema) in arguments(entry) {
        if !is_needed(entry, &name) && drawn.index(2) == 0 {
            continue;
        }
        let tame = material.tame();
        let material = if drawn.index(4) == 0 { material } else { &tame };
        let value = match name.as_str() {
            "calls" => {
                let names = ["kill", "send_keys", "rename", "capture_pane", "create_pane"];
                let inner = tool(drawn.one_of(&names).unwrap_or("kill"));
                let arguments = random_arguments(&inner, material, drawn);
                Some(json!([{"tool": inner.meta.name, "arguments": arguments}]))
            }
            _ => drawn.one_of(&material.values(&name, &schema)),
        };
        call.insert(name, value.unwrap_or_default());
    }
    call
}

/// The calls of a sequence as text, by outcome.
#[derive(Debug, Default)]
struct MadeCalls {
    succeeded: Vec<String>,
    refused: Vec<String>,
}

/// Makes the calls and returns those that succeeded and those that were refused, as text.
async fn make_calls(tmux: &TmuxServer, calls: &[(Index, Vec<Index>)]) -> MadeCalls {
    let config = tmux.home().join("config.toml");
    std::fs::write(&config, "limits.block = 1\n").unwrap();
    let config = config.display().to_string();
    let mcp = launch(tmux).args(&["--toolset", "all", "--config", &config]).mcp().await;
    // Read tools are tested elsewhere, so they are drawn less often.
    let changing = tools::all().into_iter().filter(|entry| entry.meta.tier != Tier::Read);
    let tools: Vec<ToolEntry> = changing.clone().chain(changing).chain(tools::all()).collect();
    let foreign =
        ids(tmux, "pane").into_iter().chain(ids(tmux, "window")).chain(ids(tmux, "session"));
    let foreign: Vec<String> =
        foreign.chain(["main".into(), "other".into(), "main:0".into()]).collect();
    let mut made = MadeCalls::default();
    for (which, numbers) in calls {
        // The targets are a person's objects and the panes that exist now.
        let now = ids(tmux, "pane");
        let targets: Vec<&str> = foreign.iter().chain(&now).map(String::as_str).collect();
        let material = Material::new(tmux.home(), &targets);
        let entry = which.get(&tools);
        let arguments =
            random_arguments(entry, &material, &mut DrawnNumbers(numbers.iter().cycle()));
        let line = format!("{} {}", entry.meta.name, Value::Object(arguments.clone()));
        let result = mcp.call(entry.meta.name, Value::Object(arguments)).await.result();
        let is_refused = result.is_error == Some(true);
        let list = if is_refused { &mut made.refused } else { &mut made.succeeded };
        list.push(line.chars().take(300).collect());
        assert!(tmux.try_tmux(&["list-sessions"]).is_ok(), "no server after {made:#?}");
    }
    mcp.close().await;
    made
}

#[test]
fn random_calls_never_harm_foreign_objects() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    let sequence = vec((any::<Index>(), vec(any::<Index>(), 20)), CALLS_PER_SEQUENCE);
    // The same calls in every run, so that a failure can be reproduced.
    let mut random = TestRunner::deterministic();
    let mut succeeded = 0;
    for _ in 0..SEQUENCES {
        let calls = sequence.new_tree(&mut random).expect("numbers can be drawn").current();
        let tmux = server_in_use();
        let before = facts(&tmux);
        let made = runtime.block_on(make_calls(&tmux, &calls));
        let after = facts(&tmux);
        let lost: Vec<&String> = before.difference(&after).collect();
        assert!(lost.is_empty(), "lost: {lost:#?}\nafter {made:#?}\nnow {after:#?}");
        succeeded += made.succeeded.len();
    }
    assert!(succeeded > 40, "only {succeeded} calls were not refused");
}

/// The simplest call of each tool, on a session, a window, a running pane and an exited one.
#[tokio::test]
async fn each_tool_spares_foreign_objects() {
    let tmux = server_in_use();
    let before = facts(&tmux);
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    for entry in tools::all() {
        for (target, kind) in
            [("main", "session"), ("@2", "window"), ("%3", "pane"), ("%4", "pane")]
        {
            let material = Material::new(tmux.home(), &[target]);
            let mut call = Map::new();
            for (name, schema) in arguments(&entry) {
                if name == "kind" {
                    call.insert(name, json!(kind));
                } else if is_needed(&entry, &name) {
                    let value = material.values(&name, &schema).into_iter().next();
                    call.insert(name, value.unwrap_or_default());
                }
            }
            let _ = mcp.call(entry.meta.name, Value::Object(call)).await;
        }
        let lost: Vec<String> = before.difference(&facts(&tmux)).cloned().collect();
        assert!(lost.is_empty(), "{}: {lost:#?}", entry.meta.name);
    }
    mcp.close().await;
}

/// The own session is removed at exit, but not a person's pane that was moved into it.
#[tokio::test]
async fn persons_pane_in_own_session_survives_exit() {
    let tmux = TmuxServer::new();
    let theirs = tmux.tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "%0", "cat"]);
    let mcp = launch(&tmux).args(&["--toolset", "all", "--structured"]).mcp().await;
    let ours = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    let join = json!({"source": theirs, "target": ours["pane_id"]});
    mcp.call("join_pane", join).await.ok();
    mcp.close().await;
    assert_eq!(ids(&tmux, "pane"), BTreeSet::from(["%0".to_owned(), theirs]));
}
