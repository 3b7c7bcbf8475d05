//! The order of input, output and exits: an answered question, the last line of a background job, a pane
//! that closes with its program.

use serde_json::json;
use testkit::{Shell, TmuxServer};

use crate::serve;
use crate::support::waits::has_begun;
use crate::support::{command_end, string};

#[tokio::test]
async fn answered_question_is_no_longer_open() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    for round in 0..20 {
        // Without echo there is no output that would end the state.
        let command = "read -s x; sleep 0.3; echo got $x";
        let asked = json!({"command": command, "timeout": 60});
        let begun = mcp.call("run_command", asked).await.ok();
        assert_eq!(begun["waiting"], "password", "{round}: {begun}");
        let start = json!({"target": begun["pane_id"]});
        let start = mcp.call("capture_since", start).await.ok();
        let answer = json!({"target": begun["pane_id"], "text": "y", "enter": true});
        mcp.call("send_keys", answer).await.ok();
        let now = json!({"command_id": begun["command_id"]});
        let now = mcp.call("command_result", now).await.ok();
        assert_eq!(now.get("waiting"), None, "{round}: {now}");
        // With the cursor, the text counts also if it is printed before the wait begins.
        let wait = json!({"since": start["cursor"], "until": ["input", "text:got"]});
        let event = mcp.call("wait_for", wait).await.ok();
        assert_eq!(event["event"], "text:got", "{round}: {event}");
        assert_eq!(command_end(&mcp, &begun).await["output"], "got y", "{round}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn last_line_of_a_background_job_matches() {
    for shell in [Shell::Bash, Shell::Dash] {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        for round in 0..30 {
            let delay = ["0", "0.005", "0.01", "0.02", "0.05"][round % 5];
            let command = format!("(sleep {delay}; echo LA'TER') & true");
            let call = json!({"command": command, "until": ["text:LATER"], "timeout": 60});
            let result = mcp.call("start_and_watch", call).await.ok();
            assert_eq!(result["event"], "text:LATER", "{shell:?} {round}: {result}");
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn shell_takes_commands_after_background_output() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        for round in 0..3 {
            let command = format!("sh -c 'sleep 0.2; seq 9; echo LA\"TER {round}\"' & true");
            let call = json!({"command": command, "until": ["text:NEVER"], "timeout": 60});
            let watched = mcp.call("start_and_watch", call).await.ok();
            assert!(string(&watched["output"]).contains("\n9\nLATER"), "{shell:?}: {watched}");
            // dash prints no prompt below it.
            let next = mcp.call("run_command", json!({"command": "echo next"})).await.ok();
            assert_eq!(next["output"], "next", "{shell:?}: {next}");
            assert_eq!(next["pane_id"], watched["pane_id"], "{shell:?}: {next}");
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn prompt_is_not_output_of_a_watched_command() {
    for shell in Shell::ALL {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let mcp = serve(&tmux).await;
        let persons = tmux.shell_pane(80, 24);
        for round in 0..10 {
            for until in ["text:ready", "text:NEVER", "exit"] {
                let mut call = json!({"command": "echo ready", "until": [until]});
                if round % 2 == 1 {
                    call["target"] = json!(persons);
                }
                let result = mcp.call("start_and_watch", call).await.ok();
                assert_eq!(result["output"], "ready", "{shell:?} {round} {until}: {result}");
                command_end(&mcp, &result).await;
            }
        }
        mcp.close().await;
    }
}

#[tokio::test]
async fn exit_of_a_shell_has_its_code() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    for round in 0..10 {
        let call = json!({"command": "echo l1; exit 4", "until": ["text:NEVER"], "timeout": 60});
        let result = mcp.call("start_and_watch", call).await.ok();
        assert_eq!(
            (&result["event"], &result["exit_code"]),
            (&json!("exit"), &json!(4)),
            "{round}: {result}"
        );
    }
    mcp.close().await;
}

#[tokio::test]
async fn the_end_of_a_command_ends_its_watch() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    for until in [
        &["text:NEVER", "password"][..],
        &["password"],
        &["error", "idle:500"],
        &["stable:500"],
        &["text:NEVER", "gone:left"],
    ] {
        let command = "echo 'left on the screen'; sh -c 'exit 3'";
        let call = json!({"command": command, "until": until, "timeout": 60});
        let result = mcp.call("start_and_watch", call).await.ok();
        let facts = (&result["event"], &result["exit_code"]);
        assert_eq!(facts, (&json!("exit"), &json!(3)), "{until:?}: {result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn exit_is_reported_when_the_pane_closes() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for round in 0..10 {
        let target = tmux.open("sh -c 'read x; echo bye; exit 7'");
        let call = json!({"target": target, "until": ["text:NEVER", "exit"], "timeout": 60});
        let (result, ()) = tokio::join!(biased; mcp.call("wait_for", call), async {
            has_begun(&tmux, &mcp, &target).await;
            tmux.presses(&target, &["Enter"]);
        });
        let result = result.ok();
        assert_eq!(
            (&result["event"], &result["state"]),
            (&json!("exit"), &json!("gone")),
            "{round}"
        );
        assert!(!string(&result["pane_id"]).is_empty(), "{round}: {result}");
        // The last output itself is not checked: tmux can drop it.
        let note = string(&result["note"]);
        assert!(note.contains("its last output may be missing"), "{round}: {result}");
    }
    mcp.close().await;
}
