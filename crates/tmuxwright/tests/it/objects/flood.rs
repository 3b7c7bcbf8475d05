//! Tests of panes that print without a pause: restarting their program, moving and killing them must
//! not crash tmux.

use serde_json::json;
use testkit::{Mcp, TmuxServer, until, wait_until};

use crate::support::pane;
use crate::{launch, serve};

/// A pane that prints without a pause, whose output tmux is sending to the program under test.
async fn flooding_pane(mcp: &Mcp) -> String {
    let pane = pane(mcp, "exec yes").await;
    let wait = json!({"target": pane, "until": ["change"], "timeout": 30});
    assert_eq!(mcp.call("wait_for", wait).await.ok()["event"], "change");
    pane
}

/// Restarts the pane with a program that answers one key and prints without a pause after another one. A
/// flood at once could push the answer out of what is kept for a slow reader.
async fn respawn_and_listen(mcp: &Mcp, pane: &str, round: u32) {
    let command = format!("read line; echo answer {round}; read line; exec yes flood");
    mcp.call("respawn_pane", json!({"target": pane, "command": command})).await.ok();
    for until in [format!("text:answer {round}"), "text:flood".to_owned()] {
        let press = json!({"target": pane, "enter": true, "until": [until], "timeout": 30});
        let answered = mcp.call("send_keys", press).await.ok();
        assert_eq!(answered["event"], until, "round {round}: {answered}");
    }
}

#[tokio::test]
async fn respawning_a_flooding_pane_spares_tmux() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let before = tmux.pid();
    let pane = flooding_pane(&mcp).await;
    for round in 0..5 {
        respawn_and_listen(&mcp, &pane, round).await;
    }
    assert_eq!(tmux.pid(), before);
    mcp.close().await;
}

#[tokio::test]
async fn respawning_spares_tmux_beside_foreign_control_clients() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let before = tmux.pid();
    let pane = flooding_pane(&mcp).await;
    let session = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{session_id}"]);
    let log = tmux.home().join("notifications");
    let (program, socket) = (TmuxServer::program().into_string().unwrap(), tmux.socket().display());
    tmux.open(&format!(
        "sleep 1000 | env -u TMUX {program} -S {socket} -C attach -f ignore-size -t '{session}' \
         | grep --line-buffered -a '^%[pc]' >{}",
        log.display()
    ));
    wait_until("the foreign client is attached", || {
        let clients = tmux.tmux(&["list-clients", "-t", &session, "-F", "#{client_flags}"]);
        (clients.lines().filter(|flags| !flags.contains("no-output")).count() == 2).then_some(())
    });
    for round in 0..5 {
        respawn_and_listen(&mcp, &pane, round).await;
    }
    assert_eq!(tmux.pid(), before);
    // The foreign client receives the output of the new program.
    until("each pause was followed by a continue", async || {
        let text = std::fs::read_to_string(&log).ok()?;
        let count =
            |word: &str| text.lines().filter(|line| *line == format!("{word} {pane}")).count();
        (count("%pause") == 5 && count("%continue") == 5).then_some(())
    })
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn two_servers_may_respawn_a_flooding_pane() {
    let tmux = TmuxServer::new();
    let (first, second) = (serve(&tmux).await, launch(&tmux));
    let second = second.args(crate::objects::DESTRUCTIVE).mcp().await;
    let before = tmux.pid();
    let pane = flooding_pane(&first).await;
    let wait = json!({"target": pane, "until": ["change"], "timeout": 30});
    second.call("wait_for", wait).await.ok();
    for round in 0..3 {
        respawn_and_listen(&first, &pane, round).await;
        respawn_and_listen(&second, &pane, round).await;
    }
    second.close().await;
    first.close().await;
    assert_eq!(tmux.pid(), before);
}

#[tokio::test]
async fn moving_and_killing_a_flooding_pane_spares_tmux() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let before = tmux.pid();
    let stays = pane(&mcp, "exec cat").await;
    for _ in 0..3 {
        let pane = flooding_pane(&mcp).await;
        for (tool, arguments) in [
            ("join_pane", json!({"source": pane, "target": "main"})),
            ("respawn_pane", json!({"target": pane})),
            ("join_pane", json!({"source": pane, "target": stays})),
            ("swap_pane", json!({"source": pane, "target": stays})),
            ("break_pane", json!({"target": pane})),
            ("clear_pane", json!({"target": pane})),
            ("kill", json!({"target": pane})),
        ] {
            mcp.call(tool, arguments).await.ok();
        }
    }
    assert_eq!(tmux.pid(), before);
    mcp.close().await;
}
