//! Tests of the life cycle of subscriptions: their begin and end, hidden objects, and CPU time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{TmuxServer, until};

use crate::audit::log::{audit_log, records};
use crate::launch;
use crate::protocol::subscriptions::{Subscriber, content};
use crate::protocol::{
    INVALID_PARAMS, LEGACY, RESOURCE_NOT_FOUND, cancel, client_count, configured,
};
use crate::support::wire::meta;

/// Subscribes as the newest revision does, and returns the request's id and the accepted URIs.
async fn listen(client: &mut Subscriber, uris: &[&str]) -> (u64, Value) {
    let params = json!({"_meta": meta(), "notifications": {"resourceSubscriptions": uris}});
    let id = client.raw.start("subscriptions/listen", params).await;
    // Notifications of an earlier subscription may come first.
    loop {
        let note = client.next_notification().await;
        if note["method"] == "notifications/subscriptions/acknowledged" {
            return (id, note["params"]["notifications"]["resourceSubscriptions"].clone());
        }
    }
}

#[tokio::test]
async fn newest_revision_subscribes_with_listen() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("cat");
    let mut client = Subscriber::stateless(launch(&tmux));
    let uri = content(&pane);
    let (id, accepted) = listen(&mut client, &[&uri, "tmux://nothing", &uri]).await;
    assert_eq!(accepted, json!([uri, uri]), "an unknown URI was accepted");
    // One notification once the pane is followed, then one for each change.
    client.until_updated(&uri).await;
    for _ in 0..3 {
        tmux.types(&pane, "x");
        let note = client.next_notification().await;
        assert_eq!(note["params"]["uri"], uri, "{note}");
        let subscription = &note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(subscription, id, "{note}");
    }
    // A second subscription continues when the first is cancelled.
    let tail = format!("tmux://panes/{pane}/tail/3");
    let (other, _) = listen(&mut client, &[&tail]).await;
    assert_ne!(id, other);
    client.until_updated(&tail).await;
    cancel(&mut client.raw, id).await;
    let list = json!({"_meta": meta()});
    client.request("tools/list", list.clone()).await;
    client.discard_pending();
    for _ in 0..3 {
        tmux.types(&pane, "x");
        assert_eq!(client.next_notification().await["params"]["uri"], tail);
    }
    let still = client.request("tools/list", list).await;
    assert!(still["result"]["tools"].is_array(), "{still}");
}

#[tokio::test]
async fn removed_object_is_notified_one_last_time() {
    let tmux = TmuxServer::new();
    let mut client = Subscriber::connect(launch(&tmux), LEGACY).await;
    let pane = tmux.open("cat");
    let uris = [content(&pane), format!("tmux://panes/{pane}")];
    for uri in &uris {
        client.subscribe(uri).await;
    }
    tmux.tmux(&["kill-pane", "-t", &pane]);
    client.until_all_updated(&[&uris[0], &uris[1]]).await;
    for uri in &uris {
        let read = client.request("resources/read", json!({"uri": uri})).await;
        assert_eq!(read["error"]["code"], RESOURCE_NOT_FOUND, "{read}");
    }
    client.take_updates().await;
    client.subscribe("tmux://sessions").await;
    tmux.new_session("other");
    let updates = client.updates_until("tmux://sessions").await;
    assert!(!updates.iter().any(|uri| uris.contains(uri)), "{updates:?}");
    // A new subscription is refused, so the old one has ended.
    let again = client.request("resources/subscribe", json!({"uri": uris[0]})).await;
    assert_eq!(again["error"]["code"], RESOURCE_NOT_FOUND, "{again}");
}

#[tokio::test]
async fn tmux_server_restart_is_notified() {
    let tmux = TmuxServer::new();
    let mut client = Subscriber::connect(launch(&tmux), LEGACY).await;
    let pane = tmux.open("cat");
    let uris = ["tmux://server", "tmux://sessions", "tmux://sessions/main", &content(&pane)];
    for uri in uris {
        client.subscribe(uri).await;
    }
    tmux.kill();
    client.until_all_updated(&uris).await;
    tmux.new_session("main");
    client.until_updated("tmux://sessions").await;
    // The new session of that name is another object.
    tmux.tmux(&["rename-session", "-t", "=main", "other"]);
    let updates = client.updates_until("tmux://sessions").await;
    assert!(!updates.contains(&uris[2].to_owned()), "{updates:?}");
}

#[tokio::test]
async fn tmux_server_start_is_notified() {
    let tmux = TmuxServer::not_started();
    let mut client = Subscriber::connect(launch(&tmux), LEGACY).await;
    client.subscribe("tmux://server").await;
    client.subscribe("tmux://clients").await;
    tmux.new_session("main");
    client.until_updated("tmux://server").await;
}

#[tokio::test]
async fn invalid_subscriptions_are_refused_with_reasons() {
    let tmux = TmuxServer::new();
    let mut client = Subscriber::connect(launch(&tmux), LEGACY).await;
    for (uri, words) in [
        ("tmux://nothing", "there is no resource"),
        ("", "there is no resource"),
        ("tmux://panes/%99/content", "there is no pane"),
        ("tmux://sessions/nobody", "nobody"),
        ("tmux://commands/c99", "there is no command"),
    ] {
        let refused = client.request("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(refused["error"]["code"], RESOURCE_NOT_FOUND, "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    let invalid = client.request("resources/subscribe", json!({"uri": 3})).await;
    assert_eq!(invalid["error"]["code"], INVALID_PARAMS, "{invalid}");
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
    let mut client = Subscriber::connect(configured(&tmux, policy), LEGACY).await;
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
    // An update of a visible session comes after those of hidden ones.
    client.subscribe("tmux://sessions/main").await;
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "cat"]);
    let updates = client.updates_until("tmux://sessions/main").await;
    assert!(
        !updates.contains(&shown[1].to_owned()) && !updates.contains(&shown[2].to_owned()),
        "{updates:?}"
    );
    drop(person);

    let uris = [content(&hidden)];
    let mut stateless = Subscriber::stateless(configured(&tmux, policy));
    listen(&mut stateless, &[&uris[0], "tmux://sessions"]).await;
    stateless.until_updated("tmux://sessions").await;
    tmux.types(&hidden, "x");
    tmux.tmux(&["new-window", "-d", "-t", "=main:", "cat"]);
    assert_eq!(stateless.next_notification().await["params"]["uri"], "tmux://sessions");
}

#[tokio::test]
async fn subscriptions_are_audited_like_reads() {
    let tmux = TmuxServer::new();
    let file = audit_log(&tmux);
    let config = format!("[audit]\nfile = \"{}\"", file.display());
    let mut client = Subscriber::connect(configured(&tmux, &config), LEGACY).await;
    client.subscribe("tmux://sessions").await;
    let hidden = json!({"uri": "tmux://panes/%99/content"});
    client.request("resources/subscribe", hidden).await;
    client.raw.hang_up();
    client.raw.wait().await;
    let records = records(&file);
    let calls: Vec<_> = records.iter().map(|r| (&r["tool"], &r["via"], &r["outcome"])).collect();
    let sessions = (json!("list_sessions"), json!("resources/subscribe tmux://sessions"));
    let pane = (json!("capture_pane"), json!("resources/subscribe tmux://panes/%99/content"));
    assert_eq!(
        calls,
        [(&sessions.0, &sessions.1, &json!("ok")), (&pane.0, &pane.1, &json!("not_found"))]
    );
}

#[tokio::test]
async fn leaving_subscriber_leaves_no_tmux_client() {
    for era in ["old", "new"] {
        let tmux = TmuxServer::new();
        let pane = tmux.open("cat");
        let uris = [content(&pane), "tmux://sessions".to_owned()];
        let mut client = match era {
            "old" => Subscriber::connect(launch(&tmux), LEGACY).await,
            _ => Subscriber::stateless(launch(&tmux)),
        };
        if era == "old" {
            assert_eq!(
                client_count(&tmux),
                0,
                "a control client is attached without a subscription"
            );
            for uri in &uris {
                client.subscribe(uri).await;
            }
        } else {
            listen(&mut client, &[&uris[0], &uris[1]]).await;
            client.until_updated(&uris[0]).await;
        }
        assert!(client_count(&tmux) > 0);
        let begun = Instant::now();
        client.raw.hang_up();
        assert!(client.raw.wait().await.success());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        until("no control client is attached", async || (client_count(&tmux) == 0).then_some(()))
            .await;
    }
}

/// The CPU time of a process, in hundredths of a second.
#[cfg(target_os = "linux")]
fn cpu_time(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn unchanged_resources_cost_little_cpu() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("cat");
    let mut client = Subscriber::connect(launch(&tmux), LEGACY).await;
    for uri in ["tmux://sessions", "tmux://sessions/main/tree", &content(&pane)] {
        client.subscribe(uri).await;
    }
    client.take_updates().await;
    let before = cpu_time(client.raw.pid());
    // tmux compares its state once a second: two notified changes prove that it did so twice.
    for title in ["one", "two"] {
        tmux.tmux(&["select-pane", "-t", &pane, "-T", title]);
        client.until_updated("tmux://sessions/main/tree").await;
    }
    let spent = cpu_time(client.raw.pid()) - before;
    assert!(spent <= 10, "{spent} hundredths of a second");
}
