//! Tests of the argument `server`: which server a call is for, and that it exists only if there is a choice.

use serde_json::{Value, json};
use testkit::TmuxServer;

use super::ThreeServers;
use crate::serve;
use crate::support::{field, list, string};

/// Tools whose calls are for no server.
const WITHOUT_SERVER: [&str; 5] =
    ["batch", "get_prompt", "list_prompts", "list_servers", "socket_for_path"];

/// Tools that can be called on several servers at once.
const FLEET_TOOLS: [&str; 3] = ["run_command", "search_panes", "wait_for"];

#[tokio::test]
async fn call_runs_on_the_server_it_names() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let socket = servers.two.socket().to_string_lossy().into_owned();
    for (given, name, session) in [
        (Value::Null, "default", "at-home"),
        (json!("default"), "default", "at-home"),
        (json!("one"), "one", "at-one"),
        (json!("two"), "two", "at-two"),
        (json!(socket), "two", "at-two"),
    ] {
        let arguments = json!({"server": given});
        let names = field(&mcp, "list_sessions", arguments.clone(), "name").await;
        assert!(names.contains(&session.to_owned()), "{given}: {names:?}");
        let answer = mcp.call("list_sessions", arguments.clone()).await.result();
        assert_eq!(answer.structured_content.as_ref().unwrap()["server"], name);
        let text = mcp.call("list_sessions", arguments).await.text();
        let first = format!("server {name}\n");
        assert_eq!(text.starts_with(&first), name != "default", "{text}");
    }
    let ran = json!({"command": "echo $TMUX", "server": "one"});
    let ran = mcp.call("run_command", ran).await.ok();
    let socket = servers.one.socket().display().to_string();
    assert!(string(&ran["output"]).starts_with(&socket), "{ran}");
    mcp.close().await;
}

#[tokio::test]
async fn unknown_server_lists_the_names() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    for wrong in ["tow", "/tmp/no such", "", "one "] {
        let call = json!({"server": wrong});
        let error = mcp.call("list_panes", call).await.err("invalid_argument");
        for part in ["`server`", "default", "one", "two"] {
            assert!(error.contains(part), "{wrong}: {error}");
        }
    }
    let error = mcp.call("list_panes", json!({"server": 1})).await.err("invalid_argument");
    assert!(error.contains("`server`") && error.contains("string"), "{error}");
    let error = mcp.call("list_panes", json!({"servr": "one"})).await.err("invalid_argument");
    assert!(error.contains("did you mean `server`"), "{error}");
    for tool in WITHOUT_SERVER {
        let error = mcp.call(tool, json!({"server": "one"})).await.err("invalid_argument");
        assert!(error.contains("no argument `server`"), "{tool}: {error}");
    }
    // Errors of a call name its server.
    let call = json!({"target": "at-home", "server": "two"});
    let error = mcp.call("capture_pane", call).await.err("not_found");
    assert!(error.contains("server `two`") && error.contains("default, one"), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn tools_have_the_argument_only_among_several() {
    let alone = TmuxServer::new();
    let mcp = serve(&alone).await;
    let single = mcp.tools().await;
    let error = mcp.call("list_panes", json!({"server": "default"})).await.err("invalid_argument");
    assert!(error.contains("no argument `server`"), "{error}");
    let panes = mcp.call("list_panes", json!({})).await.ok();
    assert_eq!(panes.get("server"), None, "{panes}");
    mcp.close().await;
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let several = mcp.tools().await;
    assert_eq!(single.len(), several.len());
    for (plain, tool) in single.iter().zip(several) {
        let properties = |schema: &Value| schema["properties"].as_object().unwrap().clone();
        let (name, mut input) = (tool.name.to_string(), json!(*tool.input_schema));
        assert_eq!(plain.input_schema["properties"].get("server"), None, "{name}");
        let has_it = properties(&input).contains_key("server");
        assert_eq!(has_it, !WITHOUT_SERVER.contains(&name.as_str()), "{name}");
        input["properties"].as_object_mut().unwrap().shift_remove("server");
        if FLEET_TOOLS.contains(&name.as_str()) {
            assert_ne!(input, json!(*plain.input_schema), "{name}");
            continue;
        }
        assert_eq!(input, json!(*plain.input_schema), "{name}");
        let mut output = json!(tool.output_schema);
        output["properties"].as_object_mut().unwrap().shift_remove("server");
        assert_eq!(output, json!(plain.output_schema), "{name}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn calls_of_a_batch_choose_their_server() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let sessions =
        |server: Value| json!({"tool": "list_sessions", "arguments": {"server": server}});
    let calls = [json!("two"), json!("one"), Value::Null].map(sessions);
    let done = mcp.call("batch", json!({"calls": calls})).await.ok();
    for (result, name) in done["results"].as_array().unwrap().iter().zip(["two", "one", "default"])
    {
        assert_eq!(result["result"]["server"], name, "{done}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn list_servers_shows_the_reachable_ones() {
    let servers = ThreeServers::new();
    let gone = servers.home.home().join("gone");
    let more = format!("[servers.gone]\nsocket = \"{}\"", gone.display());
    let config = format!("{}{more}", servers.config("", "", ""));
    let base = servers.home.home().to_string_lossy().into_owned();
    let mcp = servers.launch(&config).env("TMUX_TMPDIR", &base).mcp().await;
    let listed = list(&mcp, "list_servers", json!({})).await;
    let facts: Vec<_> = listed
        .iter()
        .map(|it| (string(&it["server"]), it["alive"] == true, it["sessions"].as_u64()))
        .collect();
    let wanted = [("default", 2), ("one", 2), ("two", 2)];
    for (name, sessions) in wanted {
        assert!(facts.contains(&(name.to_owned(), true, Some(sessions))), "{listed:?}");
    }
    assert!(facts.contains(&("gone".to_owned(), false, None)), "{listed:?}");
    let current: Vec<_> = listed.iter().filter(|it| it["current"] == true).collect();
    assert_eq!((current.len(), &current[0]["server"]), (1, &json!("default")));
    let info = mcp.call("server_info", json!({"server": "two"})).await.ok();
    assert_eq!(info["socket"], servers.two.socket().to_string_lossy().as_ref());
    mcp.close().await;
}
