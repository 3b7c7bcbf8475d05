//! How subscriptions begin and end, what they may not tell, and what they cost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use crate::audit::log::{log, records};
use crate::launch;
use crate::protocol::subscriptions::{Client, content};

const LEGACY: &str = "2025-11-25";

/// What comes with every request of the newest revision.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The launch of a server with this in its config file.
fn configured(tmux: &TmuxServer, config: &str) -> testkit::Launch {
    let file = tmux.home().join("config.toml");
    std::fs::write(&file, config).unwrap();
    launch(tmux).args(&["--config", &file.to_string_lossy()])
}

/// Asks to be told of these, and returns the request's id and what was agreed to.
async fn listen(client: &mut Client, uris: &[&str]) -> (u64, Value) {
    let params = json!({"_meta": meta(), "notifications": {"resourceSubscriptions": uris}});
    let id = client.raw.start("subscriptions/listen", params).await;
    // Of what it listens to already it may be told meanwhile.
    loop {
        let told = client.hears().await;
        if told["method"] == "notifications/subscriptions/acknowledged" {
            return (id, told["params"]["notifications"]["resourceSubscriptions"].clone());
        }
    }
}

#[tokio::test]
async fn newest_revision_subscribes_with_listen() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("cat");
    let mut client = Client::modern(launch(&tmux));
    let uri = content(&pane);
    let (id, agreed) = listen(&mut client, &[&uri, "tmux://nothing", &uri]).await;
    assert_eq!(agreed, json!([uri, uri]), "what is not known is not agreed to");
    // Once it is followed, and then for each change.
    client.updated(&uri).await;
    for _ in 0..3 {
        tmux.types(&pane, "x");
        let told = client.hears().await;
        assert_eq!(told["params"]["uri"], uri, "{told}");
        let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, id, "{told}");
    }
    // Another one goes on when the first is cancelled.
    let tail = format!("tmux://panes/{pane}/tail/3");
    let (other, _) = listen(&mut client, &[&tail]).await;
    assert_ne!(id, other);
    client.updated(&tail).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    client.raw.send(&cancel).await;
    let list = json!({"_meta": meta()});
    client.request("tools/list", list.clone()).await;
    client.forget();
    for _ in 0..3 {
        tmux.types(&pane, "x");
        assert_eq!(client.hears().await["params"]["uri"], tail);
    }
    let still = client.request("tools/list", list).await;
    assert!(still["result"]["tools"].is_array(), "{still}");
}

#[tokio::test]
async fn removed_object_is_notified_one_last_time() {
    let tmux = TmuxServer::new();
    let mut client = Client::connect(launch(&tmux), LEGACY).await;
    let pane = tmux.open("cat");
    let uris = [content(&pane), format!("tmux://panes/{pane}")];
    for uri in &uris {
        client.subscribe(uri).await;
    }
    tmux.tmux(&["kill-pane", "-t", &pane]);
    client.all_updated(&[&uris[0], &uris[1]]).await;
    for uri in &uris {
        let read = client.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["error"]["code"], -32002, "{read}");
    }
    client.told().await;
    client.subscribe("tmux://sessions").await;
    tmux.new_session("other");
    let told = client.told_until("tmux://sessions").await;
    assert!(!told.iter().any(|told| uris.contains(told)), "{told:?}");
    // It can be subscribed to no more, and is not one that is followed already.
    let again = client.request("resources/subscribe", json!({"uri": uris[0]})).await;
    assert_eq!(again["error"]["code"], -32002, "{again}");
}

#[tokio::test]
async fn tmux_server_restart_is_notified() {
    let tmux = TmuxServer::new();
    let mut client = Client::connect(launch(&tmux), LEGACY).await;
    let pane = tmux.open("cat");
    let uris = ["tmux://server", "tmux://sessions", "tmux://sessions/main", &content(&pane)];
    for uri in uris {
        client.subscribe(uri).await;
    }
    tmux.kill();
    client.all_updated(&uris).await;
    tmux.new_session("main");
    client.updated("tmux://sessions").await;
    // The session of that name is another one.
    tmux.tmux(&["rename-session", "-t", "=main", "other"]);
    let told = client.told_until("tmux://sessions").await;
    assert!(!told.contains(&uris[2].to_owned()), "{told:?}");
}

#[tokio::test]
async fn tmux_server_start_is_notified() {
    let tmux = TmuxServer::not_started();
    let mut client = Client::connect(launch(&tmux), LEGACY).await;
    client.subscribe("tmux://server").await;
    client.subscribe("tmux://clients").await;
    tmux.new_session("main");
    client.updated("tmux://server").await;
}

#[tokio::test]
async fn invalid_subscriptions_are_refused_with_reasons() {
    let tmux = TmuxServer::new();
    let mut client = Client::connect(launch(&tmux), LEGACY).await;
    for (uri, says) in [
        ("tmux://nothing", "there is no resource"),
        ("", "there is no resource"),
        ("tmux://panes/%99/content", "there is no pane"),
        ("tmux://sessions/nobody", "nobody"),
        ("tmux://commands/c99", "there is no command"),
    ] {
        let refused = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(refused["error"]["code"], -32002, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{message}");
    }
    let shapeless = client.request("resources/subscribe", json!({"uri": 3})).await;
    assert_eq!(shapeless["error"]["code"], -32602, "{shapeless}");
    let pane = tmux.tmux(&["display-message", "-p", "#{pane_id}"]);
    for lines in 1..=256 {
        client.subscribe(&format!("tmux://panes/{pane}/tail/{lines}")).await;
    }
    let more = json!({"uri": "tmux://sessions"});
    let refused = client.request("resources/subscribe", more).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("256"), "{refused}");
    client.subscribe(&format!("tmux://panes/{pane}/tail/1")).await;
    client.unsubscribe(&format!("tmux://panes/{pane}/tail/1")).await;
    client.subscribe("tmux://sessions").await;
}

#[tokio::test]
async fn hidden_objects_are_never_notified() {
    let tmux = TmuxServer::new();
    let hidden = tmux.new_session("private");
    let policy = "[policy]\nallowed_sessions = [\"main\"]";
    let mut client = Client::connect(configured(&tmux, policy), LEGACY).await;
    for uri in [content(&hidden), "tmux://sessions/private".to_owned()] {
        let refused = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert!(refused["error"]["message"].is_string(), "{refused}");
    }
    let shown = ["tmux://sessions", "tmux://clients", "tmux://server"];
    for uri in shown {
        client.subscribe(uri).await;
    }
    tmux.tmux(&["rename-session", "-t", "=private", "secret"]);
    tmux.tmux(&["new-window", "-d", "-t", "=secret:", "cat"]);
    let person = testkit::Person::attach(&tmux, "secret", 80, 24);
    tmux.tmux(&["new-session", "-d", "-s", "more", "cat"]);
    // What is shown comes behind it.
    client.subscribe("tmux://sessions/main").await;
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "cat"]);
    let told = client.told_until("tmux://sessions/main").await;
    assert!(
        !told.contains(&shown[1].to_owned()) && !told.contains(&shown[2].to_owned()),
        "{told:?}"
    );
    drop(person);

    let uris = [content(&hidden)];
    let mut modern = Client::modern(configured(&tmux, policy));
    listen(&mut modern, &[&uris[0], "tmux://sessions"]).await;
    modern.updated("tmux://sessions").await;
    tmux.types(&hidden, "x");
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "cat"]);
    assert_eq!(modern.hears().await["params"]["uri"], "tmux://sessions");
}

#[tokio::test]
async fn subscriptions_are_audited_like_reads() {
    let tmux = TmuxServer::new();
    let file = log(&tmux);
    let config = format!("[audit]\nfile = \"{}\"", file.display());
    let mut client = Client::connect(configured(&tmux, &config), LEGACY).await;
    client.subscribe("tmux://sessions").await;
    let hidden = json!({"uri": "tmux://panes/%99/content"});
    client.request("resources/subscribe", hidden).await;
    client.raw.hang_up();
    client.raw.wait().await;
    let records = records(&file);
    let said: Vec<_> = records.iter().map(|r| (&r["tool"], &r["via"], &r["outcome"])).collect();
    let sessions = (json!("list_sessions"), json!("resources/subscribe tmux://sessions"));
    let pane = (json!("capture_pane"), json!("resources/subscribe tmux://panes/%99/content"));
    assert_eq!(
        said,
        [(&sessions.0, &sessions.1, &json!("ok")), (&pane.0, &pane.1, &json!("not_found"))]
    );
}

/// The clients of a tmux server.
fn clients(tmux: &TmuxServer) -> usize {
    tmux.tmux(&["list-clients", "-F", "#{client_pid}"]).lines().count()
}

#[tokio::test]
async fn leaving_subscriber_leaves_no_tmux_client() {
    for era in ["old", "new"] {
        let tmux = TmuxServer::new();
        let pane = tmux.open("cat");
        let uris = [content(&pane), "tmux://sessions".to_owned()];
        let mut client = match era {
            "old" => Client::connect(launch(&tmux), LEGACY).await,
            _ => Client::modern(launch(&tmux)),
        };
        if era == "old" {
            assert_eq!(clients(&tmux), 0, "nobody is attached for a client that follows nothing");
            for uri in &uris {
                client.subscribe(uri).await;
            }
        } else {
            listen(&mut client, &[&uris[0], &uris[1]]).await;
            client.updated(&uris[0]).await;
        }
        assert!(clients(&tmux) > 0);
        let begun = Instant::now();
        client.raw.hang_up();
        assert!(client.raw.wait().await.success());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        until("nobody is attached", async || (clients(&tmux) == 0).then_some(())).await;
    }
}

/// How long a process has been at work, in hundredths of a second.
#[cfg(target_os = "linux")]
fn work(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn unchanged_resources_cost_little_cpu() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("cat");
    let mut client = Client::connect(launch(&tmux), LEGACY).await;
    for uri in ["tmux://sessions", "tmux://sessions/main/tree", &content(&pane)] {
        client.subscribe(uri).await;
    }
    client.told().await;
    let before = work(client.raw.pid());
    // tmux looks once a second; that it has, twice, is heard of by a change in each.
    for title in ["one", "two"] {
        tmux.tmux(&["select-pane", "-t", &pane, "-T", title]);
        client.updated("tmux://sessions/main/tree").await;
    }
    let spent = work(client.raw.pid()) - before;
    assert!(spent <= 10, "{spent} hundredths of a second");
}
