//! Tests that resources follow the rules of calls: policy, redaction, audit, cancellation, paging.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use crate::audit::log::{audit_command, audit_log, records, serve_audited};
use crate::policy::redaction::github_token;
use crate::protocol::resources::{encoded, listed_uris, read_json, read_text};
use crate::protocol::{INVALID_PARAMS, RESOURCE_NOT_FOUND, cancel, initialized};
use crate::support::server_state::{descendants, server_state_and_text};
use crate::support::wire::meta;
use crate::support::{ready_pane, string};
use crate::{launch, serve_configured};

/// The parameters of a request in the newest revision.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

#[tokio::test]
async fn hidden_objects_are_neither_listed_nor_read() {
    let tmux = TmuxServer::new();
    tmux.new_session("secret");
    tmux.tmux(&["split-window", "-d", "-t", "main", "exec cat"]);
    let rules = "[policy]\nallowed_sessions = ['main']\nallowed_panes = ['%0', '%1']\n";
    let mcp = serve_configured(&tmux, rules).await;
    let uris = listed_uris(&mcp).await;
    for hidden in ["%241", "%401", "%251", "%252", "commands"] {
        assert!(!uris.iter().any(|uri| uri.contains(hidden)), "{hidden}: {uris:?}");
    }
    assert!(uris.contains(&"tmux://panes/%250/content".to_owned()), "{uris:?}");
    let sessions = read_json(&mcp, "tmux://sessions").await;
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1, "{sessions}");
    let tree = read_json(&mcp, "tmux://sessions/main/tree").await;
    assert_eq!(tree["windows"][0]["panes"].as_array().unwrap().len(), 1, "{tree}");
    for uri in [
        "tmux://sessions/secret",
        "tmux://sessions/secret/tree",
        "tmux://sessions/%241",
        "tmux://windows/%401",
        "tmux://panes/%251",
        "tmux://panes/%1/content",
        "tmux://panes/%252/content",
        "tmux://panes/%252/tail/5",
        "tmux://panes/%252/tail/5/ansi",
    ] {
        let error = mcp.read(uri).await.unwrap_err();
        assert_eq!(error.code.0, INVALID_PARAMS, "{uri}: {error:?}");
        assert_eq!(error.data.unwrap()["code"], "denied", "{uri}");
    }
    let error = mcp.read("tmux://sessions/nope").await.unwrap_err();
    assert!(!error.message.contains("secret"), "{error:?}");
    mcp.close().await;
}

#[tokio::test]
async fn command_in_a_hidden_pane_is_not_listed() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[policy]\nallowed_sessions = ['other']\n").await;
    let made = json!({"name": "other"});
    let made = mcp.call("create_session", made).await.ok();
    let run = json!({"command": "echo one", "target": made["pane_id"]});
    mcp.call("run_command", run).await.text();
    let uri = "tmux://commands/c1".to_owned();
    assert!(listed_uris(&mcp).await.contains(&uri));
    tmux.tmux(&["rename-session", "-t", "=other:", "theirs"]);
    let uris = listed_uris(&mcp).await;
    assert_eq!(uris, ["tmux://server", "tmux://sessions", "tmux://clients"]);
    let error = mcp.read(&uri).await.unwrap_err();
    assert_eq!(error.data.unwrap()["code"], "denied");
    mcp.close().await;
}

#[tokio::test]
async fn denied_tool_removes_its_resources() {
    let tmux = TmuxServer::new();
    let file = audit_log(&tmux).display().to_string();
    let args = ["--tools", "deny:capture_pane,list_clients", "--audit", &file];
    let mcp = launch(&tmux).args(&args).mcp().await;
    let templates = mcp.templates().await;
    assert!(templates.iter().all(|t| !t.uri_template.contains("/content")), "{templates:?}");
    assert_eq!(templates.len(), 5, "{templates:?}");
    let uris = listed_uris(&mcp).await;
    assert!(uris.iter().all(|uri| !uri.contains("content") && !uri.contains("clients")));
    for uri in ["tmux://panes/%250/content", "tmux://panes/%250/tail/3/ansi", "tmux://clients"] {
        let error = mcp.read(uri).await.unwrap_err();
        assert_eq!(error.code.0, RESOURCE_NOT_FOUND, "{uri}: {error:?}");
        assert!(error.message.contains("there is no resource"), "{}", error.message);
        assert!(!error.message.contains("/content, "), "{}", error.message);
        let record = records(&audit_log(&tmux)).pop().unwrap();
        assert_eq!((&record["outcome"], &record["via"]), (&json!("denied"), &json!(uri)));
    }
    mcp.close().await;
    // Without a tool that lists panes, no URIs of panes are listed.
    let mcp = launch(&tmux).args(&["--tools", "allow:capture_pane,server_info"]).mcp().await;
    assert_eq!(listed_uris(&mcp).await, ["tmux://server"]);
    let (screen, _) = read_text(&mcp, "tmux://panes/%250/content").await;
    assert!(screen.contains('$'), "{screen}");
    mcp.close().await;
}

#[tokio::test]
async fn secrets_in_resources_are_redacted_and_counted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[policy]\nredact = true\n").await;
    let token = github_token();
    let (head, tail) = token.split_at(12);
    let command = format!("printf '%s \\033[31m%s\\033[1m%s\\033[0m last' {token} {head} {tail}");
    let pane = ready_pane(&mcp, &format!("{command}; exec cat"), "last").await;
    let mark = "[redacted:github_token]";
    for path in ["content", "tail/5", "tail/5/ansi"] {
        let read = mcp.read(&format!("tmux://panes/{}/{path}", encoded(&pane))).await.unwrap();
        let read = serde_json::to_value(read).unwrap();
        let text = terminal::text::clean(&string(&read["text"]), false);
        assert_eq!(text.trim_end(), format!("{mark} {mark} last"), "{path}");
        assert_eq!(read["_meta"]["tmuxwright/redacted"], 2, "{path}");
    }
    let session = json!({"name": token, "command": "exec cat"});
    mcp.call("create_session", session).await.text();
    mcp.call("run_command", json!({"command": format!("echo {token}")})).await.text();
    let shown = serde_json::to_string(&mcp.resources().await).unwrap();
    assert!(!shown.contains("ghp_") && shown.contains(mark), "{shown}");
    let error = mcp.read(&format!("tmux://nothing/{token}")).await.unwrap_err();
    assert!(!error.message.contains("ghp_"), "{}", error.message);
    mcp.close().await;
}

#[tokio::test]
async fn read_is_audited_with_its_uri() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "").await;
    let uri = "tmux://panes/%250/tail/3";
    read_text(&mcp, uri).await;
    read_text(&mcp, "tmux://panes/%250").await;
    mcp.read("tmux://panes/%2599/content").await.unwrap_err();
    mcp.read("tmux://nothing").await.unwrap_err();
    listed_uris(&mcp).await;
    mcp.call("list_panes", json!({})).await.text();
    mcp.close().await;
    let found: Vec<String> = records(&audit_log(&tmux))
        .iter()
        .map(|record| {
            let [tool, outcome, via] = ["tool", "outcome", "via"].map(|name| string(&record[name]));
            format!("{tool} {outcome} {via}")
        })
        .collect();
    assert_eq!(
        found,
        [
            "capture_pane ok tmux://panes/%250/tail/3",
            "get_info ok tmux://panes/%250",
            "pane_state ok tmux://panes/%250",
            "capture_pane not_found tmux://panes/%2599/content",
            "list_panes ok resources/list",
            "list_panes ok null",
        ]
    );
    let first = &records(&audit_log(&tmux))[0];
    assert_eq!(first["arguments"], json!({"target": "%0", "lines": 3}), "{first}");
    assert_eq!(first["pane_id"], "%0", "{first}");
    let (printed, _) =
        audit_command(&tmux, &[&audit_log(&tmux).to_string_lossy(), "--tool", "capture_pane"])
            .await;
    assert!(printed.lines().next().unwrap().ends_with(&format!("  for {uri}")), "{printed}");
}

/// A tmux server that is stopped until this is dropped.
struct StoppedServer(Pid);

impl StoppedServer {
    fn new(tmux: &TmuxServer) -> Self {
        let pid = Pid::from_raw(i32::try_from(tmux.pid()).unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for StoppedServer {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

#[tokio::test]
async fn a_read_can_be_cancelled() {
    let tmux = TmuxServer::new();
    let file = audit_log(&tmux).display().to_string();
    let mut raw = initialized(launch(&tmux).args(&["--audit", &file])).await;
    let read = json!({"uri": "tmux://panes/%250/content"});
    raw.request("resources/read", read.clone()).await;
    let stopped = StoppedServer::new(&tmux);
    let id = raw.start("resources/read", read.clone()).await;
    cancel(&mut raw, id).await;
    until("the read is cancelled", async || {
        let last = records(&audit_log(&tmux)).pop()?;
        (last["outcome"] == "cancelled").then_some(())
    })
    .await;
    drop(stopped);
    let reply = raw.request("resources/read", read).await;
    assert!(reply["result"]["contents"][0]["text"].is_string(), "{reply}");
}

#[tokio::test]
async fn not_found_code_differs_by_revision() {
    let tmux = TmuxServer::new();
    let nothing = || json!({"uri": "tmux://panes/%2599"});
    let mut older = initialized(launch(&tmux)).await;
    let reply = older.request("resources/read", nothing()).await;
    assert_eq!(reply["error"]["code"], RESOURCE_NOT_FOUND, "{reply}");
    let reply = older.request("resources/read", json!({"uri": "tmux://panes/%0"})).await;
    assert_eq!(reply["result"]["ttlMs"], Value::Null, "{reply}");
    let reply = older.request("resources/read", json!({"uri": 3})).await;
    assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
    assert!(string(&reply["error"]["message"]).contains("`uri` must be text"), "{reply}");

    let mut newer = launch(&tmux).raw();
    let reply = newer.request("resources/read", stateless(nothing())).await;
    assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{reply}");
    assert_eq!(reply["error"]["data"]["code"], "not_found", "{reply}");
    // Results about live objects must not be cached.
    let read = stateless(json!({"uri": "tmux://panes/%0/content"}));
    for (method, params) in [("resources/read", read), ("resources/list", stateless(json!({})))] {
        let result = newer.request(method, params).await["result"].take();
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
        assert_eq!(result["resultType"], "complete", "{result}");
    }
}

#[tokio::test]
async fn pages_stay_stable_while_panes_change() {
    let tmux = TmuxServer::new();
    for _ in 0..40 {
        tmux.open("exec cat");
    }
    let mut raw = initialized(launch(&tmux)).await;
    let first = raw.request("resources/list", json!({})).await["result"].take();
    let uris = |page: &Value| -> Vec<String> {
        page["resources"].as_array().unwrap().iter().map(|r| string(&r["uri"])).collect()
    };
    let (before, cursor) = (uris(&first), &first["nextCursor"]);
    assert_eq!(before.len(), 100);
    // The last pane of the page is killed, with one before and one after it; another is made.
    assert_eq!(before[99], "tmux://panes/%2512/content");
    for pane in ["%12", "%2", "%20"] {
        tmux.tmux(&["kill-pane", "-t", pane]);
    }
    let new = tmux.open("exec cat");
    let second = raw.request("resources/list", json!({"cursor": cursor})).await["result"].take();
    assert_eq!(second["nextCursor"], Value::Null, "{second}");
    let expected: Vec<String> = (13..=40)
        .filter(|number| *number != 20)
        .map(|number| format!("tmux://panes/%25{number}/content"))
        .chain([format!("tmux://panes/{}/content", encoded(&new))])
        .collect();
    assert_eq!(uris(&second), expected);
}

#[tokio::test]
async fn invalid_cursor_is_refused() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    // The last is the base64 of a URI that is never listed.
    for cursor in ["", "x", "!!", "ü", "aHR0cDovL3g", "dG11eDovL3Nlc3Npb25zL21haW4"] {
        for method in ["resources/list", "tools/list", "resources/templates/list"] {
            let reply = raw.request(method, json!({"cursor": cursor})).await;
            assert_eq!(reply["error"]["code"], INVALID_PARAMS, "{method} {cursor}: {reply}");
            let message = string(&reply["error"]["message"]);
            assert!(message.contains(method) && message.contains("first page"), "{message}");
        }
    }
}

#[tokio::test]
async fn templates_are_identical_in_every_toolset() {
    let tmux = TmuxServer::new();
    let mut replies = Vec::new();
    for toolset in ["debug", "all"] {
        let mut raw = initialized(launch(&tmux).args(&["--toolset", toolset])).await;
        let reply = raw.request("resources/templates/list", json!({})).await;
        tmux.open("exec cat");
        replies.push(reply.to_string());
    }
    assert_eq!(replies[0], replies[1]);
    let mut raw = launch(&tmux).raw();
    let hello = raw.initialize("2025-11-25").await;
    assert_eq!(hello["result"]["capabilities"]["resources"], json!({"subscribe": true}), "{hello}");
}

#[tokio::test]
async fn reading_resources_changes_nothing() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-gw", "automatic-rename", "off"]);
    let trap = format!("#(touch {})", tmux.home().join("touched").display());
    tmux.tmux(&["rename-window", "-t", "=main:", &trap.replace('#', "##")]);
    let mcp = serve_configured(&tmux, "").await;
    mcp.call("run_command", json!({"command": "echo one"})).await.text();
    let uris = listed_uris(&mcp).await;
    let (before, processes) = (server_state_and_text(&tmux), descendants(tmux.pid()));
    for uri in &uris {
        read_text(&mcp, uri).await;
    }
    for bad in ["", "%FF", "%00", "a;b", "$(id)", "#{E:x}", "-t", "=main", "main:"] {
        for path in ["sessions/", "windows/", "panes/", "commands/"] {
            let _ = mcp.read(&format!("tmux://{path}{bad}")).await;
        }
    }
    let hostile = format!("tmux://sessions/{}", encoded(&trap));
    assert_eq!(mcp.read(&hostile).await.unwrap_err().code.0, RESOURCE_NOT_FOUND);
    listed_uris(&mcp).await;
    for (before, after) in before.iter().zip(server_state_and_text(&tmux)) {
        assert_eq!(&after, before);
    }
    assert_eq!(descendants(tmux.pid()), processes);
    assert!(!tmux.home().join("touched").exists());
    mcp.close().await;
}
