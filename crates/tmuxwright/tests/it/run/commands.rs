//! The basic use of `run_command`: output, exit code, and a busy pane.

use serde_json::json;
use testkit::TmuxServer;

use crate::run::fixture::wait_for_foreground;
use crate::serve;

#[tokio::test]
async fn a_command_returns_output_and_exit_code() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let first = mcp.call("run_command", json!({"command": "cd /; echo hi; sh -c 'exit 3'"})).await;
    let first = first.ok();
    assert_eq!((&first["status"], &first["exit_code"]), (&json!("exited"), &json!(3)));
    assert_eq!((&first["output"], &first["command_id"]), (&json!("hi"), &json!("c1")));
    let second = mcp.call("run_command", json!({"command": "pwd"})).await.ok();
    assert_eq!((&second["output"], &second["pane_id"]), (&json!("/"), &first["pane_id"]));
    mcp.close().await;
}

#[tokio::test]
async fn a_busy_pane_names_its_running_command() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let slow = json!({"command": "echo begun; sleep 100", "target": "main", "timeout": 0});
    let slow = mcp.call("run_command", slow).await.ok();
    assert_eq!(slow["status"], "running");
    let id = slow["command_id"].as_str().unwrap();
    let again = json!({"command": "true", "target": "main"});
    let error = mcp.call("run_command", again).await.err("busy");
    assert!(error.contains(&format!("busy with command {id}; ")), "{error}");
    // A key pressed earlier would go to the shell.
    wait_for_foreground(&tmux, "main", "sleep");
    let stopped = mcp.call("interrupt", json!({"target": "main"})).await.ok();
    assert_eq!((&stopped["at_prompt"], &stopped["exit_code"]), (&json!(true), &json!(130)));
    let result = mcp.call("command_result", json!({"command_id": id})).await.ok();
    assert_eq!((&result["output"], &result["exit_code"]), (&json!("begun"), &json!(130)));
    mcp.close().await;
}
