//! Answers of the option tools as text alone: they name the object, and no value can add a fact.

use serde_json::json;
use testkit::TmuxServer;

use crate::launch;

#[tokio::test]
async fn options_name_their_object_and_quote_values() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    for (value, shown) in [
        ("plain", "plain"),
        ("", "\"\""),
        ("x · inherited", "\"x · inherited\""),
        ("two\nlines", "\"two\\nlines\""),
    ] {
        let set = json!({"name": "@mine", "value": value, "target": "%0"});
        let set = mcp.call("set_option", set).await.text();
        assert_eq!(set, format!("@mine={shown} · pane %0"));
        let read = mcp.call("show_option", json!({"name": "@mine", "target": "%0"})).await.text();
        assert_eq!(read, format!("pane %0 · 1 option\n@mine={shown}"));
    }
    let unset = json!({"name": "@mine", "target": "%0"});
    assert_eq!(mcp.call("set_option", unset).await.text(), "@mine · not set · pane %0");
    let list = json!({"name": "status-format", "value": "A B", "global": true});
    let list = mcp.call("set_option", list).await.text();
    assert_eq!(list, "status-format=[\"A\",\"B\"] · global session");
    let read = mcp.call("show_option", json!({"name": "mouse", "target": "main"})).await.text();
    assert_eq!(read, "session $0 · 1 option\nmouse=off · inherited");
    let read = mcp.call("show_option", json!({"name": "buffer-limit"})).await.text();
    assert!(read.starts_with("server · 1 option\nbuffer-limit="), "{read}");
    mcp.close().await;
}

#[tokio::test]
async fn variables_and_hooks_name_their_object() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    let set = json!({"name": "MINE", "value": "x · inherited", "target": "main"});
    let set = mcp.call("set_environment", set).await.text();
    assert_eq!(set, "MINE=\"x · inherited\" · session $0");
    let read = json!({"name": "MINE", "target": "main"});
    let read = mcp.call("show_environment", read).await.text();
    assert_eq!(read, "session $0 · 1 variable\nMINE=\"x · inherited\"");
    let unset = json!({"name": "MINE", "global": true});
    assert_eq!(mcp.call("set_environment", unset).await.text(), "MINE · unset · global");
    tmux.tmux(&["set-hook", "-w", "-t", "@0", "pane-focus-in", "display-message global"]);
    let hooks = mcp.call("show_hooks", json!({"target": "main"})).await.text();
    assert_eq!(hooks, "pane-focus-in[0] · \"display-message global\" · window");
    mcp.close().await;
}
