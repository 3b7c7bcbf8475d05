//! Tests that foreign panes survive random calls at the default settings.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{TmuxServer, wait_until};

use crate::serve;
use crate::support::field;
use crate::support::random::Random;

/// Position, names, process and history of each foreign pane: no call may change them.
fn foreign_panes(tmux: &TmuxServer) -> BTreeMap<String, String> {
    let format = "#{?@mcp_owner,ours,theirs} #{pane_id} #{session_id} #{session_name} #{window_id} \
                  #{window_name} #{pane_pid} #{pane_dead} #{pane_title} #{e|>|:#{history_size},50}";
    let panes = tmux.tmux(&["list-panes", "-a", "-F", format]);
    let theirs = panes.lines().filter_map(|line| line.strip_prefix("theirs ")?.split_once(' '));
    theirs.map(|(pane, rest)| (pane.to_owned(), rest.to_owned())).collect()
}

/// A call that could harm a foreign pane, or that makes an object which later calls could mistake.
fn random_call(random: &mut Random, target: &str) -> (&'static str, Value) {
    let kind = *random.pick(&["session", "window", "pane"]);
    let tool = *random.pick(&[
        "kill",
        "kill",
        "rename",
        "rename",
        "send_signal",
        "respawn_pane",
        "clear_pane",
        "kill_server",
        "create_session",
        "create_window",
        "split_pane",
        "select_window",
        "select_pane",
    ]);
    let is_id = target.starts_with(['%', '@', '$']);
    let arguments = match tool {
        "kill" if is_id => json!({"target": target}),
        "kill" => json!({"target": target, "kind": kind}),
        "rename" => json!({"target": target, "name": random.pick(&["dev", "main", "x", "%0"])}),
        "send_signal" => json!({"target": target, "signal": "KILL"}),
        "kill_server" => json!({}),
        "create_session" => json!({"name": random.pick(&["dev", "new", "%0", "main:0"])}),
        "create_window" => json!({"target": target, "name": "dev", "command": "exec sleep 600"}),
        "split_pane" => json!({"target": target, "size": "1"}),
        "select_window" | "select_pane" => json!({"target": target, "direction": "next"}),
        _ => json!({"target": target}),
    };
    (tool, arguments)
}

#[tokio::test]
async fn random_calls_never_harm_foreign_panes() {
    let mut succeeded = 0;
    for seed in 0..4 {
        let tmux = TmuxServer::new();
        tmux.tmux(&["set-option", "-g", "automatic-rename", "off"]);
        tmux.tmux(&["set-option", "-g", "allow-rename", "off"]);
        let fill = "seq 200; exec sleep 600";
        tmux.tmux(&["new-session", "-d", "-s", "dev", "-n", "one", fill]);
        tmux.tmux(&["split-window", "-d", "-t", "=dev:one", fill]);
        tmux.tmux(&["new-window", "-d", "-n", "two", "-t", "=dev:", fill]);
        let before = wait_until("the panes have some history", || {
            Some(foreign_panes(&tmux))
                .filter(|all| all.values().filter(|v| v.ends_with('1')).count() == 3)
        });
        assert_eq!(before.len(), 4);
        let mcp = serve(&tmux).await;
        let mut random = Random(seed);
        for _ in 0..60 {
            let mut targets = field(&mcp, "list_panes", json!({}), "pane_id").await;
            targets.extend(field(&mcp, "list_panes", json!({}), "window_id").await);
            targets.extend(field(&mcp, "list_sessions", json!({}), "session_id").await);
            targets.extend(["main", "dev", "dev:one", "dev:two.0", "new"].map(str::to_owned));
            let target = random.pick(&targets).clone();
            let (tool, arguments) = random_call(&mut random, &target);
            let result = mcp.call(tool, arguments.clone()).await.result();
            succeeded += usize::from(result.is_error != Some(true));
            assert_eq!(foreign_panes(&tmux), before, "seed {seed}: {tool} {arguments}");
        }
        mcp.close().await;
        assert_eq!(foreign_panes(&tmux), before, "seed {seed}: at the end");
    }
    assert!(succeeded > 50, "only {succeeded} calls were not refused");
}
