//! Tests of MCP requests with several servers: resources, subscriptions, prompts, completion, instructions, HTTP.

use serde_json::{Value, json};
use testkit::{Raw, TmuxServer};

use super::ThreeServers;
use crate::protocol::subscriptions::Subscriber;
use crate::protocol::{LEGACY, initialized};
use crate::serve;

/// The text of a prompt with these arguments.
async fn prompt(raw: &mut Raw, arguments: Value) -> Value {
    let params = json!({"name": "run_and_wait", "arguments": arguments});
    raw.request("prompts/get", params).await
}

/// The suggestions for an argument of a prompt or a variable of a template.
async fn suggested(
    raw: &mut Raw,
    of: &Value,
    name: &str,
    typed: &str,
    server: &str,
) -> Vec<String> {
    let params = json!({"ref": of, "argument": {"name": name, "value": typed},
        "context": {"arguments": {"server": server}}});
    let reply = raw.request("completion/complete", params).await;
    let values = reply["result"]["completion"]["values"].as_array().unwrap().iter();
    let mut values: Vec<String> = values.map(|it| it.as_str().unwrap().to_owned()).collect();
    values.sort();
    values
}

#[tokio::test]
async fn resource_is_read_from_its_server() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    for (query, session) in [("", "at-home"), ("?server=one", "at-one"), ("?server=two", "at-two")]
    {
        for uri in ["tmux://sessions", "tmux://sessions/main/tree"] {
            let text = format!("{:?}", mcp.read(&format!("{uri}{query}")).await.unwrap());
            let names = uri == "tmux://sessions";
            assert!(text.contains(session) == names && text.contains("main"), "{uri}: {text}");
        }
        let uri = format!("tmux://sessions/{session}{query}");
        mcp.read(&uri).await.unwrap();
    }
    let error = mcp.read("tmux://sessions/at-one?server=two").await.unwrap_err();
    assert!(error.message.contains("server `two`"), "{error:?}");
    let error = mcp.read("tmux://sessions?server=tow").await.unwrap_err();
    assert!(error.message.contains("default, one, two"), "{error:?}");
    for wrong in ["tmux://sessions?server=", "tmux://sessions?x=one"] {
        assert!(mcp.read(wrong).await.is_err(), "{wrong}");
    }
    let run = json!({"command": "echo ran", "server": "one"});
    mcp.call("run_command", run).await.ok();
    assert!(mcp.read("tmux://commands/c1?server=one").await.is_ok());
    let error = mcp.read("tmux://commands/c1").await.unwrap_err();
    assert!(error.message.contains("is of server `one`"), "{error:?}");
    let listed = mcp.resources().await;
    let uris: Vec<&str> = listed.iter().map(|it| it.uri.as_str()).collect();
    for uri in ["tmux://sessions", "tmux://sessions?server=one", "tmux://server?server=two"] {
        assert!(uris.contains(&uri), "{uris:?}");
    }
    let templates = mcp.templates().await;
    assert!(templates.iter().all(|it| it.uri_template.ends_with("{?server}")), "{templates:?}");
    mcp.close().await;
}

#[tokio::test]
async fn subscription_follows_its_server() {
    let servers = ThreeServers::new();
    let launch = servers.launch_plain(&servers.config("", "", ""));
    let mut client = Subscriber::connect(launch, LEGACY).await;
    client.subscribe("tmux://sessions?server=one").await;
    let wrong = client.request("resources/subscribe", json!({"uri": "tmux://sessions?server=x"}));
    assert!(wrong.await["error"]["message"].as_str().unwrap().contains("no server `x`"));
    servers.home.new_session("unseen");
    servers.two.new_session("unseen");
    servers.one.new_session("seen");
    let updates = client.updates_until("tmux://sessions?server=one").await;
    assert!(updates.iter().all(|uri| uri.ends_with("?server=one")), "{updates:?}");
}

#[tokio::test]
async fn prompt_and_completion_know_the_servers() {
    let servers = ThreeServers::new();
    servers.one.tmux(&["new-window", "-d", "-t", "=at-one:", "exec cat"]);
    let mut raw = initialized(servers.launch(&servers.config("", "", ""))).await;
    let listed = raw.request("prompts/list", json!({})).await;
    for prompt in listed["result"]["prompts"].as_array().unwrap() {
        let arguments = prompt["arguments"].as_array().unwrap();
        assert_eq!(arguments.last().unwrap()["name"], "server", "{prompt}");
    }
    let shown = prompt(&mut raw, json!({"command": "make", "server": "two"})).await;
    let text = shown["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("run_command {\"command\":\"make\",\"timeout\":60,\"server\":\"two\"}"));
    let shown = prompt(&mut raw, json!({"command": "make"})).await;
    assert!(!shown.to_string().contains("server"), "{shown}");
    let wrong = prompt(&mut raw, json!({"command": "make", "server": "x"})).await;
    assert!(wrong["error"]["message"].as_str().unwrap().contains("no server `x`"), "{wrong}");
    let of_prompt = json!({"type": "ref/prompt", "name": "run_and_wait"});
    let of_panes = json!({"type": "ref/resource", "uri": "tmux://panes/{pane}{?server}"});
    for of in [&of_prompt, &of_panes] {
        assert_eq!(suggested(&mut raw, of, "server", "", "").await, ["default", "one", "two"]);
        assert_eq!(suggested(&mut raw, of, "server", "tw", "").await, ["two"]);
        assert_eq!(suggested(&mut raw, of, "pane", "", "two").await, ["%0", "%1"]);
        assert_eq!(suggested(&mut raw, of, "pane", "", "one").await, ["%0", "%1", "%2"]);
    }
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn instructions_name_servers_only_among_several() {
    let alone = TmuxServer::new();
    let mcp = serve(&alone).await;
    assert!(!mcp.instructions().contains("`server`"), "{}", mcp.instructions());
    assert!(mcp.templates().await.iter().all(|it| !it.uri_template.contains("server")));
    mcp.close().await;
    let servers = ThreeServers::new();
    let mut config = servers.config("", "tier = \"readonly\"", "");
    for number in 0..30 {
        config.push_str(&format!(
            "[servers.another-build-machine-{number}]\nsocket = \"x{number}\"\n"
        ));
    }
    let mcp = servers.launch(&config).mcp().await;
    let text = mcp.instructions();
    assert!(text.len() < 2048, "{} bytes", text.len());
    assert!(text.contains("`server`") && text.contains("default") && text.contains("…"), "{text}");
    mcp.close().await;
    let mcp = servers.launch(&servers.config("", "tier = \"readonly\"", "")).mcp().await;
    let text = mcp.instructions();
    assert!(text.contains("default, one (readonly), two"), "{text}");
    mcp.close().await;
}

#[cfg(feature = "http")]
#[tokio::test]
async fn http_clients_own_panes_on_each_server() {
    const TOKEN: &str = "a-token-for-servers-0123456789";
    let servers = ThreeServers::new();
    let launch = servers.launch(&servers.config("", "", ""));
    let server = launch.env("TMUXWRIGHT_HTTP_TOKEN", TOKEN).http().await;
    let (mut first, mut second) =
        (server.client(TOKEN, LEGACY).await, server.client(TOKEN, LEGACY).await);
    let create = json!({"command": "cat", "server": "two"});
    let made = first.call("create_pane", create).await;
    let pane = made["structuredContent"]["pane_id"].clone();
    assert!(pane.is_string(), "{made}");
    let kill = json!({"target": pane, "server": "two"});
    let refused = second.call("kill", kill.clone()).await;
    assert_eq!(refused["_meta"]["tmuxwright/code"], "denied", "{refused}");
    let run = json!({"command": "echo hi", "server": "one"});
    let ran = second.call("run_command", run).await;
    assert_eq!(ran["structuredContent"]["output"], "hi", "{ran}");
    // The command of another client is unknown wherever it ran.
    let result = json!({"command_id": "c1"});
    let unknown = first.call("command_result", result).await;
    assert_eq!(unknown["_meta"]["tmuxwright/code"], "not_found", "{unknown}");
    let killed = first.call("kill", kill).await;
    assert_ne!(killed["isError"], true, "{killed}");
}
