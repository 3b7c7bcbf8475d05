//! Tests of MCP over stdin and stdout, with the mistakes that a client can make.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Raw, TmuxServer, until};

use crate::launch;
use crate::protocol::{INVALID_PARAMS, LEGACY, cancel, initialized};
use crate::support::wire::{METHOD_NOT_FOUND, STATELESS, meta};

async fn lists_tools(raw: &mut Raw) -> bool {
    let reply = raw.request("tools/list", json!({})).await;
    reply["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5)
}

#[tokio::test]
async fn every_older_revision_is_supported() {
    let tmux = TmuxServer::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut raw = launch(&tmux).raw();
        let hello = raw.initialize(version).await;
        assert_eq!(hello["result"]["protocolVersion"], version);
        assert_eq!(hello["result"]["serverInfo"]["name"], "tmuxwright");
        assert_eq!(hello["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        let instructions = hello["result"]["instructions"].as_str().unwrap();
        assert!(instructions.contains("list_panes") && instructions.len() < 2048, "{instructions}");
        assert!(lists_tools(&mut raw).await, "{version}");
        let call = json!({"name": "list_panes", "arguments": {}});
        let reply = raw.request("tools/call", call).await;
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("%0 @0 $0 main:0.0 "), "{version}: {text}");
        assert_eq!(result.get("structuredContent"), None, "{version}: text alone");
    }
}

#[tokio::test]
async fn newest_revision_needs_no_handshake() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    let found = raw.request("server/discover", json!({"_meta": meta()})).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(STATELESS)), "{found}");
    let call = json!({"_meta": meta(), "name": "list_panes", "arguments": {}});
    let reply = raw.request("tools/call", call).await;
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("%0 @0 $0 main:0.0 "), "{reply}");
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
}

#[tokio::test]
async fn messages_before_initialize_do_no_harm() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    for early in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}),
        json!({"jsonrpc": "2.0", "method": "notifications/of/the/future"}),
        json!({"jsonrpc": "2.0", "id": 77, "result": {}}),
    ] {
        raw.send(&early).await;
    }
    let refused = raw.request("tools/list", json!({})).await;
    assert_eq!(refused["error"]["code"], INVALID_PARAMS, "{refused}");
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.initialize(LEGACY).await;
    assert!(lists_tools(&mut raw).await);
}

#[tokio::test]
async fn garbage_neither_ends_the_server_nor_reaches_stdout() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux).args(&["--log", "trace"])).await;
    let huge = format!("{{\"jsonrpc\":\"2.0\",\"junk\":\"{}\"}}\n", "x".repeat(20_000_000));
    let lines: [&[u8]; 10] = [
        b"{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": \"tools/li\n",
        b"\xff\xfe\xc3\x28 not UTF-8\n",
        b"[]\n[1,2]\nnull\n42\n\"text\"\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}\n",
        b"{\"id\":3,\"method\":\"tools/list\"}\n",
        b"{\"jsonrpc\":\"1.0\",\"id\":3,\"method\":\"tools/list\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":7}\n",
        b"\r\n\n   \n\0\0\0\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":[]}\n",
        huge.as_bytes(),
    ];
    for line in lines {
        raw.send_bytes(line).await;
        assert!(lists_tools(&mut raw).await, "after {:?}", &line[..line.len().min(60)]);
    }
}

#[tokio::test]
async fn malformed_requests_get_a_precise_error() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    for params in [
        json!({}),
        json!({"name": 3}),
        json!({"name": "list_panes", "arguments": [1]}),
        json!({"name": "list_panes", "arguments": "text"}),
    ] {
        let reply = raw.request("tools/call", params.clone()).await;
        assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{params}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains("tools/call"), "{reply}");
    }
    let reply = raw.request("tools/destroy", json!({})).await;
    assert_eq!(reply["error"]["code"], METHOD_NOT_FOUND, "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("tools/destroy"), "{reply}");
}

#[tokio::test]
async fn argument_mistakes_are_readable_tool_results() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    for (arguments, name, words) in [
        (json!({"taget": "%0"}), "capture_pane", "`target`"),
        (json!({}), "capture_pane", "`target` is missing"),
        (json!({"target": "%0", "lines": "many"}), "capture_pane", "many"),
        (json!({"target": 5}), "capture_pane", "`target`"),
        (json!({}), "list_pane", "`list_panes`"),
    ] {
        let call = json!({"name": name, "arguments": arguments});
        let result = raw.request("tools/call", call).await["result"].clone();
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words) && text.contains("Next: "), "{text}");
    }
}

#[tokio::test]
async fn concurrent_calls_get_their_own_answers() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    let mut waiting = Vec::new();
    for number in 0..100 {
        let target = format!("%{}", if number % 2 == 0 { 0 } else { 1000 + number });
        let call = json!({"name": "capture_pane", "arguments": {"target": target}});
        waiting.push((raw.start("tools/call", call).await, target));
    }
    while !waiting.is_empty() {
        let reply = raw.receive().await.unwrap();
        let at = waiting.iter().position(|(id, _)| reply["id"] == *id).unwrap();
        let (_, target) = waiting.swap_remove(at);
        let text = reply["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(&target), "{target}: {text}");
    }
}

/// A call that would type for hours.
fn endless_typing() -> Value {
    json!({"name": "send_keys",
        "arguments": {"target": "%0", "text": "z", "repeat": 1000, "delay_ms": 10000}})
}

/// Waits until the call has typed its first round.
async fn until_typed(tmux: &TmuxServer) {
    until("the first round was typed", async || {
        tmux.tmux(&["capture-pane", "-p", "-t", "%0"]).contains("$ z").then_some(())
    })
    .await;
}

#[tokio::test]
async fn end_of_input_ends_a_running_call() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    raw.start("tools/call", endless_typing()).await;
    until_typed(&tmux).await;
    let start = Instant::now();
    raw.hang_up();
    assert!(raw.wait().await.success(), "{}", raw.stderr());
    // rmcp by itself would wait for five seconds.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

#[tokio::test]
async fn call_before_end_of_input_is_answered() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    let call = json!({"name": "list_panes", "arguments": {}});
    let id = raw.start("tools/call", call).await;
    raw.hang_up();
    let mut answered = false;
    while let Some(message) = raw.receive().await {
        answered |= message["id"] == id && message["result"]["isError"] == false;
    }
    assert!(answered);
    assert!(raw.wait().await.success());
}

#[tokio::test]
async fn cancelled_call_stops_without_an_answer() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    let id = raw.start("tools/call", endless_typing()).await;
    until_typed(&tmux).await;
    cancel(&mut raw, id).await;
    let call = json!({"name": "capture_pane", "arguments": {"target": "%0"}});
    let reply = raw.request("tools/call", call).await;
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    raw.hang_up();
    while let Some(message) = raw.receive().await {
        assert_ne!(message["id"], id, "a cancelled call was answered");
    }
    assert!(raw.wait().await.success());
}

#[tokio::test]
async fn immediate_end_of_input_is_a_success() {
    let tmux = TmuxServer::new();
    let mut raw = launch(&tmux).raw();
    raw.hang_up();
    assert!(raw.wait().await.success(), "{}", raw.stderr());
    assert_eq!(raw.stderr(), "");
}
