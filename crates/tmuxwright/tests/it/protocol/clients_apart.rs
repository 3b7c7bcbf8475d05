//! Tests of several MCP clients of one process: their shared state, and the objects that each one owns.

use std::cell::Cell;
use std::sync::Arc;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use testkit::{Mcp, Outcome, TmuxServer, until};
use tmux_control::Socket;
use tmuxwright::app::App;
use tmuxwright::config::Settings;
use tmuxwright::contract::Toolset;
use tmuxwright::mcp::Handler;
use tmuxwright::policy::Ceiling;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use crate::audit::log::records;
use crate::protocol::{create_own_pane, initialized, session_names};
use crate::support::killing::kill_with_successor;
use crate::support::wire::meta;
use crate::support::{exited, field, list, pane, ready_pane, shows, string};
use crate::{launch, serve};

/// Settings with every tool and structured results.
fn settings(tmux: &TmuxServer) -> Settings {
    let mut settings = Settings::default();
    settings.socket = Some(Socket::Path(tmux.socket().to_path_buf()));
    settings.tmux = TmuxServer::program();
    settings.structured = true;
    settings.policy.toolset = Toolset::All;
    settings
}

/// A server in this process.
fn server(tmux: &TmuxServer) -> Arc<App> {
    Arc::new(App::new(settings(tmux)))
}

/// A connection to the server without a handshake.
fn connection(app: &Arc<App>) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let handler = Handler::for_http(Arc::clone(app));
    tokio::spawn(async move {
        if let Ok(service) = handler.serve(ours).await {
            let _ = service.waiting().await;
        }
    });
    theirs
}

/// An MCP client of the server.
async fn client(app: &Arc<App>) -> Mcp {
    Mcp::over(connection(app)).await
}

async fn run(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("run_command", arguments).await.ok()
}

/// The names of all buffers.
fn buffers(tmux: &TmuxServer) -> String {
    tmux.try_tmux(&["list-buffers", "-F", "#{buffer_name}"]).unwrap_or_default()
}

#[tokio::test]
async fn panes_are_own_only_to_their_client() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let made = ready_pane(&one, "echo here; exec sleep 1000", "here").await;
    let own = async |mcp: &Mcp| {
        let panes = list(mcp, "list_panes", json!({})).await;
        panes.into_iter().find(|row| row["pane_id"] == made.as_str()).unwrap()["own"].clone()
    };
    assert_eq!((own(&one).await, own(&two).await), (json!(true), Value::Null));
    for tool in ["kill", "clear_pane", "respawn_pane"] {
        let text = two.call(tool, json!({"target": made})).await.err("denied");
        assert!(text.contains(&made), "{text}");
    }
    let session = string(&list(&one, "list_sessions", json!({})).await[0]["session_id"]);
    two.call("kill", json!({"target": session})).await.err("denied");
    assert!(shows(&two, &made, "here").await.contains("here"));
    let _ = one.call("kill", json!({"target": made})).await.ok();
    app.close().await;
}

#[tokio::test]
async fn destructive_tier_reaches_another_clients_panes() {
    let tmux = TmuxServer::new();
    let mut settings = settings(&tmux);
    settings.policy.ceiling = Ceiling::Destructive;
    let app = Arc::new(App::new(settings));
    let (one, two) = (client(&app).await, client(&app).await);
    let (first, second) = (pane(&one, "exec sleep 1000").await, pane(&one, "exec sh").await);
    let _ = two.call("clear_pane", json!({"target": first})).await.ok();
    let _ = two.call("respawn_pane", json!({"target": first, "command": "exit 3"})).await.ok();
    // The exited pane stays for the client that made it.
    let ended = exited(&one, &first).await;
    assert_eq!(ended["exit_code"], 3);
    let _ = two.call("kill", json!({"target": second})).await.ok();
    assert!(!field(&one, "list_panes", json!({}), "pane_id").await.contains(&second));
    app.close().await;
}

#[tokio::test]
async fn command_is_known_only_to_its_client() {
    let tmux = TmuxServer::new();
    let mut settings = settings(&tmux);
    settings.runs.results = 2;
    let app = Arc::new(App::new(settings));
    let (one, two) = (client(&app).await, client(&app).await);
    let theirs = string(&run(&two, json!({"command": "echo theirs"})).await["command_id"]);
    let mut ids = Vec::new();
    for word in ["a", "b", "c"] {
        let done = run(&one, json!({"command": format!("echo {word}")})).await;
        ids.push(string(&done["command_id"]));
    }
    assert!(!ids.contains(&theirs), "{theirs} was given twice");
    let result =
        async |mcp: &Mcp, id: &str| mcp.call("command_result", json!({"command_id": id})).await;
    let text = result(&one, &theirs).await.err("not_found");
    assert!(text.contains(&format!("the newest commands are: {}, {}", ids[2], ids[1])), "{text}");
    // Each client keeps two results of its own.
    result(&one, &ids[0]).await.err("not_found");
    assert_eq!(result(&one, &ids[1]).await.ok()["output"], "b");
    assert_eq!(result(&two, &theirs).await.ok()["output"], "theirs");
    app.close().await;
}

#[tokio::test]
async fn pane_is_busy_with_another_clients_command() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let long = json!({"target": "main", "command": "cat", "timeout": 0.1});
    let running = run(&one, long).await;
    let id = string(&running["command_id"]);
    let again = json!({"target": "main", "command": "echo no"});
    let text = one.call("run_command", again.clone()).await.err("busy");
    assert!(text.contains(&id), "{text}");
    let text = two.call("run_command", again).await.err("busy");
    assert!(text.contains("another client") && !text.contains(&id), "{text}");
    let stopped = two.call("interrupt", json!({"target": "main"})).await.ok();
    assert_eq!((&stopped["at_prompt"], &stopped["command_id"]), (&json!(true), &Value::Null));
    let result = json!({"command_id": id, "wait": 10});
    assert_eq!(one.call("command_result", result).await.ok()["exit_code"], 130);
    app.close().await;
}

#[tokio::test]
async fn one_of_two_concurrent_clients_gets_the_pane() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let two_clients = [client(&app).await, client(&app).await];
    for _ in 0..3 {
        let calls = two_clients.iter().enumerate().map(async |(number, mcp)| {
            let command = format!("sleep 0.5; echo {number}");
            let call = json!({"target": "main", "command": command});
            (number, mcp.call("run_command", call).await)
        });
        let answers = futures::future::join_all(calls).await;
        let is_busy = |(_, answer): &(usize, Outcome)| answer.failed_with("busy");
        let (busy, done): (Vec<_>, Vec<_>) = answers.into_iter().partition(is_busy);
        assert_eq!(busy.len(), 1, "{done:?}");
        for (number, answer) in done {
            assert_eq!(answer.ok()["output"], number.to_string());
        }
    }
    app.close().await;
}

#[tokio::test]
async fn each_client_has_its_own_session_and_pool() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let pool_pane =
        async |mcp: &Mcp| string(&run(mcp, json!({"command": "cd /"})).await["pane_id"]);
    let (ones, twos) = (pool_pane(&one).await, pool_pane(&two).await);
    assert_ne!(ones, twos);
    assert_eq!((pool_pane(&one).await, pool_pane(&two).await), (ones.clone(), twos.clone()));
    let pid = std::process::id();
    for (pane, name) in [(ones, format!("mcp-{pid}-1")), (twos, format!("mcp-{pid}-2"))] {
        let session = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{session_name}"]);
        assert_eq!(session, name);
    }
    app.close().await;
    assert_eq!(session_names(&tmux), ["main"]);
}

#[tokio::test]
async fn leaving_client_removes_only_its_own_objects() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let theirs = pane(&one, "exec sleep 1000").await;
    let _ = one.call("set_buffer", json!({"name": "a", "text": "x"})).await.ok();
    let _ = two.call("set_buffer", json!({"name": "b", "text": "x"})).await.ok();
    let long =
        run(&two, json!({"command": "echo begun; read -r x; echo $x", "timeout": 0.1})).await;
    let pane = string(&long["pane_id"]);
    // The other client makes calls all the time.
    let gone = Cell::new(false);
    let busy = async {
        while !gone.get() {
            let name = json!({"target": pane, "name": "work"});
            let _ = two.call("rename", name).await.ok();
        }
    };
    let going = async {
        one.close().await;
        until("the pane of the first client is gone", async || {
            let panes = tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id}"]);
            (!panes.lines().any(|pane| pane == theirs)).then_some(())
        })
        .await;
        gone.set(true);
    };
    tokio::join!(busy, going);
    let left = buffers(&tmux);
    assert!(left.ends_with("_b") && !left.contains("_a\n"), "{left}");
    let typed = json!({"target": pane, "text": "on", "enter": true});
    let _ = two.call("send_keys", typed).await.ok();
    let done = json!({"command_id": long["command_id"], "wait": 10});
    assert_eq!(two.call("command_result", done).await.ok()["exit_code"], 0);
    app.close().await;
    assert_eq!(session_names(&tmux), ["main"]);
    assert_eq!(buffers(&tmux), "");
    assert_eq!(tmux.tmux(&["list-clients"]), "");
}

#[tokio::test]
async fn server_end_cancels_waits_and_removes_sessions() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let waits = [&one, &two].map(async |mcp| {
        let target = pane(mcp, "exec sleep 1000").await;
        let call = json!({"target": target, "until": ["exit"], "timeout": 600});
        mcp.call("wait_for", call).await.err("cancelled")
    });
    let end = async {
        until("both waits have begun", async || {
            (tmux.tmux(&["list-clients"]).lines().count() == 3).then_some(())
        })
        .await;
        app.close().await;
    };
    tokio::join!(futures::future::join_all(waits), end);
    assert_eq!(session_names(&tmux), ["main"]);
}

#[tokio::test]
async fn own_rule_means_the_clients_own_panes() {
    let tmux = TmuxServer::new();
    let mut settings = settings(&tmux);
    settings.policy.reach.set_panes(["own"].into_iter()).unwrap();
    let app = Arc::new(App::new(settings));
    let (one, two) = (client(&app).await, client(&app).await);
    let (ones, twos) = (pane(&one, "exec sleep 1000").await, pane(&two, "exec sleep 1000").await);
    assert_eq!(field(&one, "list_panes", json!({}), "pane_id").await, [ones.as_str()]);
    assert_eq!(field(&two, "list_panes", json!({}), "pane_id").await, [twos.as_str()]);
    let text = two.call("capture_pane", json!({"target": ones})).await.err("denied");
    assert!(text.contains("policy.allowed_panes"), "{text}");
    app.close().await;
}

#[tokio::test]
async fn each_client_has_its_own_buffers() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let (one, two) = (client(&app).await, client(&app).await);
    let set = async |mcp: &Mcp, text: &str| {
        string(&mcp.call("set_buffer", json!({"name": "notes", "text": text})).await.ok()["name"])
    };
    let (ones, twos) = (set(&one, "of one").await, set(&two, "of two").await);
    assert_ne!(ones, twos);
    for (mcp, text) in [(&one, "of one"), (&two, "of two")] {
        let shown = mcp.call("show_buffer", json!({"name": "notes"})).await.ok();
        assert_eq!(shown["text"], text);
    }
    two.call("show_buffer", json!({"name": ones})).await.err("denied");
    two.call("delete_buffer", json!({"name": ones})).await.err("denied");
    assert_eq!(field(&two, "list_buffers", json!({}), "name").await, [twos]);
    app.close().await;
}

#[tokio::test]
async fn client_without_initialize_uses_the_process_owner() {
    let tmux = TmuxServer::new();
    let app = server(&tmux);
    let mut session = String::new();
    for _ in 0..2 {
        let mut stream = BufReader::new(connection(&app));
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "create_pane", "arguments": {"command": "exec sleep 1000"},
            "_meta": meta(),
        }});
        stream.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        session = string(&answer["result"]["structuredContent"]["session"]);
        assert_eq!(session, format!("mcp-{}", std::process::id()), "{answer}");
    }
    // Both clients are gone, and their panes are still there.
    let panes = tmux.tmux(&["list-panes", "-s", "-t", &session, "-F", "#{@mcp_owner}"]);
    assert_eq!(panes.lines().count(), 2, "{panes}");
    app.close().await;
    assert_eq!(session_names(&tmux), ["main"]);
}

#[tokio::test]
async fn audit_log_numbers_clients_of_one_name() {
    let tmux = TmuxServer::new();
    let mut settings = settings(&tmux);
    let log = tmux.home().join("log");
    settings.audit.file = Some(log.clone());
    let app = Arc::new(App::new(settings));
    app.audit.as_ref().unwrap().open().await.unwrap();
    let (one, two) = (client(&app).await, client(&app).await);
    for mcp in [&two, &one, &two] {
        let _ = mcp.call("list_panes", json!({})).await.ok();
    }
    let records = records(&log);
    let numbers: Vec<&Value> = records.iter().map(|record| &record["client_number"]).collect();
    assert_eq!(numbers, [2, 1, 2]);
    assert!(string(&records[0]["client"]).contains("rmcp"), "{records:?}");
    app.close().await;
}

#[tokio::test]
async fn only_dead_clients_leftovers_are_removed() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux).args(&["--toolset", "all", "--structured"])).await;
    let target = string(&create_own_pane(&mut raw).await["pane_id"]);
    let token = tmux.tmux(&["display-message", "-p", "-t", &target, "#{@mcp_owner}"]);
    // Host, pid and start time of the process; then the number of the client and the secret.
    let dead = token.rsplitn(3, '.').last().unwrap().to_owned();
    kill_with_successor(&tmux, &mut raw).await;
    // The objects that two clients of the dead process would have left.
    for number in ["1", "2"] {
        let (name, token) = (format!("mcp-dead-{number}"), format!("{dead}.{number}.aa"));
        let pane = tmux.new_session(&name);
        tmux.tmux(&["set-option", "-t", &format!("={name}:"), "@mcp_home", &token]);
        tmux.tmux(&["set-option", "-p", "-t", &pane, "@mcp_owner", &token]);
        tmux.tmux(&["set-buffer", "-b", &format!("mcp_{dead}.{number}_00000000_x"), "left"]);
    }
    let app = server(&tmux);
    let living = client(&app).await;
    let home = pane(&living, "exec sleep 1000").await;
    let _ = living.call("set_buffer", json!({"name": "alive", "text": "x"})).await.ok();

    let next = serve(&tmux).await;
    let own = format!("mcp-{}-1", std::process::id());
    until("the orphans are gone", async || {
        (session_names(&tmux) == ["main", own.as_str()] && !buffers(&tmux).contains(&dead))
            .then_some(())
    })
    .await;
    next.close().await;
    app.reap().await;
    assert!(shows(&living, &home, "").await.is_empty());
    assert!(buffers(&tmux).contains("_alive"), "{}", buffers(&tmux));
    app.close().await;
}
