//! Person types, agent probes: an agent tries to run commands in a pane while a person types a line
//! there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use testkit::{Mcp, Person, Shell, TmuxServer, until};

use super::rounds;
use crate::serve;
use crate::support::random::Random;

/// The longest time between two keys, in milliseconds.
const MAX_KEY_INTERVAL: usize = 120;

/// Whether a command runs in a pane, or is refused.
async fn runs(mcp: &Mcp, target: &str) -> bool {
    let command = json!({"target": target, "command": "echo from the agent", "timeout": 120});
    let outcome = mcp.call("run_command", command).await;
    if outcome.failed_with("not_ready") {
        return false;
    }
    assert_eq!(outcome.ok()["output"], "from the agent");
    true
}

/// Tries to run commands until the person has typed the line. Each must be refused.
async fn probe(mcp: &Mcp, target: &str, typed: &AtomicBool) -> usize {
    let mut probes = 0;
    while !typed.load(Ordering::Relaxed) {
        assert!(!runs(mcp, target).await, "a command has run in {target}");
        probes += 1;
    }
    probes
}

/// Types a line key by key, at a person's irregular speed.
async fn type_slowly(person: &mut Person, line: &str, random: &mut Random) {
    for (at, _) in line.char_indices() {
        person.types(&line[at..=at]);
        let interval = random.below(MAX_KEY_INTERVAL).try_into().unwrap();
        tokio::time::sleep(Duration::from_millis(interval)).await;
    }
}

#[tokio::test]
async fn a_line_survives_probes_while_it_is_typed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut person = Person::attach(&tmux, "main", 80, 24);
    let panes = Shell::ALL.map(|shell| {
        tmux.use_shell(shell);
        (shell, tmux.open_shell(shell.name()))
    });
    let mut random = Random(1);
    for round in rounds() {
        let (shell, pane) = &panes[round % panes.len()];
        tmux.tmux(&["select-window", "-t", pane]);
        // The pane is refused for a moment after the last key, too.
        until("a command runs", async || runs(&mcp, pane).await.then_some(())).await;
        let file = tmux.home().join(format!("typed-{round}"));
        // A key before the prompt would be shown before it.
        let shows = |row: &str| tmux.screen(pane).lines().last() == Some(row);
        until("the prompt is shown", async || shows(shell.prompt()).then_some(())).await;
        person.types("e");
        let shown = format!("{} e", shell.prompt());
        // fish shows a suggestion behind it.
        until("the first key is shown", async || {
            let screen = tmux.screen(pane);
            screen.lines().last().is_some_and(|row| row.starts_with(&shown)).then_some(())
        })
        .await;
        let typed = AtomicBool::new(false);
        let rest = format!("cho a b c > typed-{round}");
        let (probes, ()) = tokio::join!(probe(&mcp, pane, &typed), async {
            type_slowly(&mut person, &rest, &mut random).await;
            typed.store(true, Ordering::Relaxed);
        });
        person.types("\r");
        let screen =
            || format!("round {round}, {shell:?}, {probes} probes:\n{}", tmux.screen(pane));
        let entered = until(&format!("the line has run, {}", screen()), async || {
            std::fs::read_to_string(&file).ok().filter(|text| !text.is_empty())
        })
        .await;
        assert_eq!(entered, "a b c\n", "{}", screen());
    }
    mcp.close().await;
}
