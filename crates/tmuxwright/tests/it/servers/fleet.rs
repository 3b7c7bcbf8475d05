//! Tests of calls on several tmux servers at once: their answers as one, failures of some, refusals of wrong lists.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use super::{Stopped, ThreeServers};
use crate::audit::log::{audit_log, records};
use crate::protocol::{cancel, initialized};
use crate::serve;
use crate::support::{pane, string};

/// One field of each result.
fn fields(answer: &Value, name: &str) -> Vec<Value> {
    answer["results"].as_array().unwrap().iter().map(|it| it[name].clone()).collect()
}

/// A config with a server that cannot be reached, as `gone`.
fn with_gone(servers: &ThreeServers) -> String {
    format!("{}[servers.gone]\nvia = [\"false\"]\n", servers.config("", "", ""))
}

/// A pane of the program itself on a server, which copies its input.
async fn reader(mcp: &Mcp, server: &str) -> String {
    let made = mcp.call("create_pane", json!({"command": "cat", "server": server})).await.ok();
    string(&made["pane_id"])
}

#[tokio::test]
async fn same_output_of_servers_is_folded() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let run = json!({"command": "echo same; echo lines", "servers": ["two", "default", "one"]});
    let answer = mcp.call("run_command", run.clone()).await.ok();
    assert_eq!(fields(&answer, "server"), ["two", "default", "one"], "in the order asked");
    assert_eq!(fields(&answer, "output"), ["same\nlines"; 3]);
    assert_eq!(fields(&answer, "exit_code"), [0; 3]);
    let ids = fields(&answer, "command_id");
    let result = json!({"command_id": ids[0], "server": "two"});
    assert_eq!(mcp.call("command_result", result).await.ok()["output"], "same\nlines");
    let text = mcp.call("run_command", run).await.text();
    assert!(text.starts_with("3 servers · 3 exit 0\ntwo, default, one: exit 0 · "), "{text}");
    assert!(text.contains(" · 2 lines · commands c"), "{text}");
    assert!(text.ends_with("\n  same\n  lines") && text.matches("same").count() == 1, "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn different_results_stand_side_by_side() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let command = "case $TMUX in *SOCKET*) echo here; exit 3;; *) echo there;; esac"
        .replace("SOCKET", &servers.one.socket().to_string_lossy());
    let run = json!({"command": command, "servers": ["default", "one", "two"]});
    let answer = mcp.call("run_command", run.clone()).await.ok();
    assert_eq!(fields(&answer, "output"), ["there", "here", "there"]);
    assert_eq!(fields(&answer, "exit_code"), [0, 3, 0]);
    let text = mcp.call("run_command", run).await.text();
    assert!(text.starts_with("3 servers · 2 exit 0 · 1 exit 3 (one)\n"), "{text}");
    assert!(text.contains("\ndefault, two: exit 0 · ") && text.contains("\none: exit 3 · "));
    // A line of a program cannot pass for the answer of another server.
    let forged = json!({"command": "echo 'two: exit 0'", "servers": ["one"]});
    let answer = mcp.call("run_command", forged.clone()).await.ok();
    assert_eq!(fields(&answer, "server"), ["one"], "one server has the same form");
    let text = mcp.call("run_command", forged).await.text();
    assert!(text.starts_with("1 server · 1 exit 0\none: exit 0"), "{text}");
    assert!(!text.contains("\ntwo: exit 0"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn failing_server_leaves_the_others_answers() {
    let servers = ThreeServers::new();
    let mcp = servers.launch(&with_gone(&servers)).mcp().await;
    let run = json!({"command": "echo ran", "servers": ["gone", "two"]});
    let answer = mcp.call("run_command", run.clone()).await.ok();
    let results = answer["results"].as_array().unwrap();
    assert_eq!((&results[0]["server"], &results[1]["output"]), (&json!("gone"), &json!("ran")));
    let message = string(&results[0]["error"]["message"]);
    assert!(message.contains("cannot be reached"), "{answer}");
    assert!(results[0]["error"]["code"].is_string(), "{answer}");
    let text = mcp.call("run_command", run).await.text();
    assert!(text.starts_with("2 servers · 1 failed (gone) · 1 exit 0\ngone: "), "{text}");
    let all = json!({"command": "echo ran", "servers": ["gone"]});
    let failed = mcp.call("run_command", all).await.result();
    assert_eq!(failed.is_error, Some(true), "{failed:?}");
    mcp.close().await;
}

#[tokio::test]
async fn stopped_server_delays_only_its_answer() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    // Both are in use before one is stopped.
    let run = json!({"command": "echo ran", "servers": ["one", "two"]});
    mcp.call("run_command", run.clone()).await.ok();
    let stopped = Stopped::new(&servers.one);
    let begun = Instant::now();
    let answer = mcp.call("run_command", run).await.ok();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(answer["results"][0]["error"]["code"], "timeout", "{answer}");
    assert_eq!(answer["results"][1]["output"], "ran", "{answer}");
    let wait = json!({"targets": ["one/main", "two/main"], "until": ["text:x"], "timeout": 0.1});
    let begun = Instant::now();
    let waited = mcp.call("wait_for", wait).await.ok();
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!((&waited["event"], &waited["server"]), (&json!("timeout"), &json!("two")));
    assert!(string(&waited["note"]).contains("no answer: one"), "{waited}");
    drop(stopped);
    mcp.close().await;
}

#[tokio::test]
async fn running_command_is_answered_after_the_timeout() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let command = "case $TMUX in *SOCKET*) exec cat;; esac"
        .replace("SOCKET", &servers.one.socket().to_string_lossy());
    let run = json!({"command": format!("({command})"), "servers": ["one", "two"], "timeout": 5});
    let answer = mcp.call("run_command", run).await.ok();
    assert_eq!(fields(&answer, "status"), ["running", "exited"], "{answer}");
    let id = answer["results"][0]["command_id"].clone();
    let result = json!({"command_id": id, "server": "one"});
    assert_eq!(mcp.call("command_result", result).await.ok()["status"], "running");
    mcp.close().await;
}

#[tokio::test]
async fn tier_of_each_server_applies() {
    let servers = ThreeServers::new();
    let log = audit_log(&servers.home);
    let audit = format!("[audit]\nfile = \"{}\"\n", log.display());
    let config = servers.config(&audit, "tier = \"readonly\"", "");
    let mcp = servers.launch(&config).mcp().await;
    let run = json!({"command": "echo ran", "servers": ["one", "two"]});
    let answer = mcp.call("run_command", run).await.ok();
    assert_eq!(answer["results"][0]["error"]["code"], "denied", "{answer}");
    assert_eq!(answer["results"][1]["output"], "ran", "{answer}");
    let search = json!({"pattern": "ran", "targets": ["one/main"]});
    mcp.call("search_panes", search).await.ok();
    mcp.close().await;
    let found = records(&log);
    let rows: Vec<String> = found
        .iter()
        .map(|it| format!("{} {} {}", it["tool"], it["server"], it["outcome"]).replace('"', ""))
        .collect();
    let wanted = [
        "run_command one denied",
        "run_command two ok",
        "run_command null ok",
        "search_panes one ok",
        "search_panes null ok",
    ];
    assert_eq!(rows, wanted);
    assert_eq!(found[2]["arguments"]["servers"], json!(["one", "two"]), "{}", found[2]);
    assert_eq!(found[4]["arguments"]["targets"], json!(["one/main"]), "{}", found[4]);
}

#[tokio::test]
async fn wait_ends_on_the_first_server() {
    let servers = ThreeServers::new();
    let log = audit_log(&servers.home);
    let audit = format!("[audit]\nfile = \"{}\"\n", log.display());
    let mcp = servers.launch(&servers.config(&audit, "", "")).mcp().await;
    let (one, two) = (reader(&mcp, "one").await, reader(&mcp, "two").await);
    for (name, pane) in [("one", &one), ("two", &two)] {
        let targets = [format!("one/{one}"), format!("two/{two}")];
        let wait = json!({"targets": targets, "until": ["text:word"], "timeout": 30});
        let (waited, _) = tokio::join!(mcp.call("wait_for", wait), async {
            let send = json!({"target": pane, "text": "word", "enter": true, "server": name});
            // The wait may begin after the first one.
            until("the wait has ended", async || {
                mcp.call("send_keys", send.clone()).await.ok();
                let ended = records(&log).iter().any(|it| {
                    it["tool"] == "wait_for" && it["outcome"] == "ok" && it["server"] == name
                });
                ended.then_some(())
            })
            .await;
        });
        let waited = waited.ok();
        assert_eq!((&waited["event"], &waited["server"]), (&json!("text:word"), &json!(name)));
        assert_eq!(waited["pane_id"], **pane, "{waited}");
    }
    // As many panes as may be watched: a wait that was left behind would take the place of one.
    for name in ["one", "two"] {
        let all =
            json!({"targets": vec!["%0"; 256], "until": ["bell"], "timeout": 0, "server": name});
        mcp.call("wait_for", all).await.ok();
    }
    mcp.close().await;
    // The losers have ended before the answer went out.
    let waits: Vec<Value> =
        records(&log).into_iter().filter(|it| it["tool"] == "wait_for").collect();
    let outcome = |at: usize| format!("{} {}", waits[at]["server"], waits[at]["outcome"]);
    let ends: Vec<String> = (0..6).map(outcome).map(|it| it.replace('"', "")).collect();
    let wanted = ["one ok", "two cancelled", "null ok", "two ok", "one cancelled", "null ok"];
    assert_eq!(ends, wanted);
}

#[tokio::test]
async fn failed_server_does_not_end_a_wait() {
    let servers = ThreeServers::new();
    let mcp = servers.launch(&with_gone(&servers)).mcp().await;
    let pane = reader(&mcp, "one").await;
    let wait = |targets: [String; 2]| {
        mcp.call("wait_for", json!({"targets": targets, "until": ["text:no"], "timeout": 0.5}))
    };
    let waited = wait(["gone/%0".to_owned(), format!("one/{pane}")]).await.ok();
    assert_eq!((&waited["event"], &waited["server"]), (&json!("timeout"), &json!("one")));
    assert!(string(&waited["note"]).contains("not watched: gone (unreachable: "), "{waited}");
    let both = wait(["two/main".to_owned(), format!("one/{pane}")]).await.ok();
    assert_eq!((&both["event"], &both["server"]), (&json!("timeout"), &json!("two")));
    assert!(string(&both["note"]).contains("timed out too: one"), "{both}");
    let error = wait(["gone/%0".to_owned(), "one/%99".to_owned()]).await.err("unreachable");
    assert!(error.contains("gone: unreachable: ") && error.contains("one: not_found: "), "{error}");
    // The targets of one server are an ordinary call.
    let only = wait(["one/main".to_owned(), format!("one/{pane}")]).await.ok();
    assert_eq!((&only["event"], &only["server"]), (&json!("timeout"), &json!("one")));
    assert_eq!(only.get("note").filter(|note| string(note).contains("server")), None);
    mcp.close().await;
}

#[tokio::test]
async fn search_lists_the_lines_of_each_server() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    for (name, count) in [("default", 1), ("one", 2), ("two", 3)] {
        let command = format!("for i in $(seq {count}); do echo needle; done; exec cat");
        let pane = json!({"command": command, "server": name});
        let made = mcp.call("create_pane", pane).await.ok();
        let wait = json!({"target": made["pane_id"], "until": ["input"], "server": name});
        mcp.call("wait_for", wait).await.ok();
    }
    let search = json!({"pattern": "^needle$", "regex": true,
        "targets": ["two/", "default/", "one/main"]});
    let answer = mcp.call("search_panes", search.clone()).await.ok();
    assert_eq!(answer["total"], 4, "{answer}");
    assert_eq!(fields(&answer, "server"), ["two", "default", "one"]);
    assert_eq!(fields(&answer, "total"), [3, 1, 0]);
    assert_eq!(answer["results"][2]["target"], "main");
    let text = mcp.call("search_panes", search).await.text();
    assert!(text.starts_with("3 servers · 4 matching lines\ntwo: 3 matching lines in "), "{text}");
    assert!(text.contains("\none/main: 0 matching lines in 1 pane"), "{text}");
    assert_eq!(text.matches(": needle").count(), 4, "{text}");
    let limited = json!({"pattern": "^needle$", "regex": true, "limit": 2,
        "targets": ["two/", "one/"]});
    let limited = mcp.call("search_panes", limited).await.ok();
    assert_eq!(limited["total"], 5, "{limited}");
    for result in limited["results"].as_array().unwrap() {
        assert_eq!(result["next"], 1, "{limited}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn session_name_with_slash_stays_a_name() {
    let servers = ThreeServers::new();
    for name in ["feat/x", "one/x"] {
        servers.home.new_session(name);
    }
    servers.one.new_session("x");
    let mcp = servers.serve().await;
    for (target, server) in [("feat/x", "default"), ("one/x", "one"), ("default/one/x", "default")]
    {
        let search = json!({"pattern": "nothing", "targets": [target]});
        let answer = mcp.call("search_panes", search).await.ok();
        assert_eq!(fields(&answer, "server"), [server], "{target}");
        let wait = json!({"targets": [target], "until": ["text:x"], "timeout": 0});
        assert_eq!(mcp.call("wait_for", wait).await.ok()["server"], server, "{target}");
    }
    // Targets without a name are those of `server`.
    let wait = json!({"targets": ["x", "default/main"], "until": ["text:x"], "timeout": 0,
        "server": "one"});
    assert_eq!(mcp.call("wait_for", wait).await.ok()["server"], "one");
    mcp.close().await;
}

#[tokio::test]
async fn wrong_lists_are_refused() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let socket = servers.two.socket();
    let many: Vec<String> = (0..65).map(|number| format!("s{number}")).collect();
    for (servers, words) in [
        (json!([]), "is for 0 calls"),
        (json!(["one", "tow"]), "`servers[1]`: there is no server `tow`"),
        (json!(["one", "two", "one"]), "`servers[2]`: `one` is in the list already"),
        (json!(["two", socket]), "`servers[1]`: `two` is in the list already"),
        (json!(many), "is for 65 calls"),
        (json!(["one", 2]), "a list of strings"),
        (json!("one"), "a list of strings"),
    ] {
        let run = json!({"command": "touch made", "servers": servers});
        let error = mcp.call("run_command", run).await.err("invalid_argument");
        assert!(error.contains(words), "{error}");
    }
    let targets = ["one/main", "two/main"];
    for (tool, call, words) in [
        (
            "run_command",
            json!({"command": "true", "servers": ["one"], "server": "two"}),
            "`server`",
        ),
        ("search_panes", json!({"pattern": "x", "targets": targets, "offset": 3}), "`offset`"),
        ("search_panes", json!({"pattern": "x", "targets": targets, "target": "x"}), "`target`"),
        ("search_panes", json!({"pattern": "x", "targets": ["one/x", "one/"]}), "`targets[1]`"),
        ("search_panes", json!({"pattern": "x", "targets": ["x"], "server": "o"}), "server `o`"),
        ("wait_for", json!({"targets": targets, "until": ["bell"], "since": "x"}), "`since`"),
        ("wait_for", json!({"targets": ["one/", "x"], "until": ["bell"]}), "names no pane"),
        ("wait_for", json!({"targets": targets, "until": ["often"]}), "on one, two: "),
        ("capture_pane", json!({"target": "main", "servers": ["one"]}), "no argument `servers`"),
    ] {
        let error = mcp.call(tool, call).await.err("invalid_argument");
        assert!(error.contains(words), "{tool}: {error}");
    }
    // A list that was sent as text, and null.
    let text = json!({"command": "echo ran", "servers": "[\"one\"]"});
    assert_eq!(fields(&mcp.call("run_command", text).await.ok(), "output"), ["ran"]);
    let null = json!({"command": "echo ran", "servers": null});
    assert_eq!(mcp.call("run_command", null).await.ok()["output"], "ran");
    mcp.close().await;
}

#[tokio::test]
async fn cancelling_ends_the_calls_on_all_servers() {
    let servers = ThreeServers::new();
    let log = audit_log(&servers.home);
    let audit = format!("[audit]\nfile = \"{}\"\n", log.display());
    let mut raw = initialized(servers.launch(&servers.config(&audit, "", ""))).await;
    let run = json!({"command": "sleep 600", "servers": ["one", "two"], "timeout": 50});
    let id = raw.start("tools/call", json!({"name": "run_command", "arguments": run})).await;
    let runs = |tmux: &TmuxServer| {
        tmux.tmux(&["list-panes", "-a", "-F", "#{pane_current_command}"]).contains("sleep")
    };
    until("both commands run", async || (runs(&servers.one) && runs(&servers.two)).then_some(()))
        .await;
    cancel(&mut raw, id).await;
    // A later call is answered once the cancellation is processed.
    raw.request("tools/call", json!({"name": "list_panes", "arguments": {}})).await;
    until("all three records are written", async || {
        let ended = records(&log);
        (ended.iter().filter(|it| it["outcome"] == "cancelled").count() == 3).then_some(())
    })
    .await;
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn progress_of_a_fleet_only_grows() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let wait = json!({"targets": ["one/main", "two/main"], "until": ["text:NEVER"], "timeout": 6});
    mcp.call("wait_for", wait).await.ok();
    let steps = mcp.progress();
    assert_eq!(steps.len(), 1, "{steps:?}");
    let message = steps[0].message.clone().unwrap();
    assert!(message.starts_with("one: ") || message.starts_with("two: "), "{message}");
    mcp.close().await;
}

#[tokio::test]
async fn results_share_one_text_limit() {
    let servers = ThreeServers::new();
    let mcp = servers.serve().await;
    let run = json!({"command": "seq -f %0200.0f 1 150", "servers": ["one", "two", "default"]});
    let answer = mcp.call("run_command", run).await.ok();
    for output in fields(&answer, "output") {
        let length = string(&output).chars().count();
        assert!((4000..5500).contains(&length), "{length}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn fleet_arguments_exist_only_among_several() {
    let alone = TmuxServer::new();
    let mcp = serve(&alone).await;
    for (tool, call) in [
        ("run_command", json!({"command": "true", "servers": ["default"]})),
        ("search_panes", json!({"pattern": "x", "targets": ["main"]})),
    ] {
        let error = mcp.call(tool, call).await.err("invalid_argument");
        assert!(error.contains("no argument `"), "{error}");
    }
    let wait = json!({"targets": ["default/main"], "until": ["bell"]});
    mcp.call("wait_for", wait).await.err("not_found");
    let own = pane(&mcp, "cat").await;
    let wait = json!({"targets": [own, "main"], "until": ["bell"], "timeout": 0});
    mcp.call("wait_for", wait).await.ok();
    assert!(!mcp.instructions().contains("at once: run_command"), "{}", mcp.instructions());
    mcp.close().await;
    let servers = ThreeServers::new();
    let mcp = servers.launch_plain(&servers.config("", "", "")).mcp().await;
    assert!(mcp.instructions().contains("run_command `servers`"), "{}", mcp.instructions());
    mcp.close().await;
}
