//! Tests of subscriptions: an MCP client is notified when a resource changes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Launch, Person, Raw, TmuxServer, until};

use crate::launch;
use crate::protocol::LEGACY;
use crate::support::at_least;

/// An MCP client that keeps the notifications which come before a reply.
pub(crate) struct Subscriber {
    pub(crate) raw: Raw,
    pending: VecDeque<Value>,
}

impl Subscriber {
    /// Starts the program and completes the handshake of an older revision.
    pub(crate) async fn connect(launch: Launch, version: &str) -> Self {
        let mut raw = launch.args(&["--toolset", "all", "--structured"]).raw();
        let hello = raw.initialize(version).await;
        assert_eq!(hello["result"]["capabilities"]["resources"]["subscribe"], true, "{hello}");
        Self { raw, pending: VecDeque::new() }
    }

    /// Starts the program for the newest revision, which has no handshake.
    pub(crate) fn stateless(launch: Launch) -> Self {
        let raw = launch.args(&["--toolset", "all", "--structured"]).raw();
        Self { raw, pending: VecDeque::new() }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.raw.start(method, params).await;
        loop {
            let message = self.raw.receive().await.unwrap();
            if message["id"] == id {
                return message;
            }
            self.pending.push_back(message);
        }
    }

    pub(crate) async fn subscribe(&mut self, uri: &str) {
        let answer = self.request("resources/subscribe", json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    pub(crate) async fn unsubscribe(&mut self, uri: &str) {
        let answer = self.request("resources/unsubscribe", json!({"uri": uri})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    async fn read(&mut self, uri: &str) -> String {
        let answer = self.request("resources/read", json!({"uri": uri})).await;
        answer["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = json!({"name": tool, "arguments": arguments});
        self.request("tools/call", call).await["result"]["structuredContent"].clone()
    }

    /// The next notification.
    pub(crate) async fn next_notification(&mut self) -> Value {
        match self.pending.pop_front() {
            Some(notification) => notification,
            None => self.raw.receive().await.unwrap(),
        }
    }

    /// Waits until an update of this URI is notified, and discards updates of others.
    pub(crate) async fn until_updated(&mut self, uri: &str) {
        while updated_uri(&self.next_notification().await) != uri {}
    }

    /// The URIs of all updates up to one of this URI, and of those that came with it.
    pub(crate) async fn updates_until(&mut self, uri: &str) -> Vec<String> {
        let mut updates = Vec::new();
        while updates.last().is_none_or(|last| last != uri) {
            updates.push(updated_uri(&self.next_notification().await));
        }
        updates.extend(self.take_updates().await);
        updates
    }

    /// Waits until updates of all these URIs are notified, in any order.
    pub(crate) async fn until_all_updated(&mut self, uris: &[&str]) {
        let mut left = uris.to_vec();
        while !left.is_empty() {
            let updated = updated_uri(&self.next_notification().await);
            left.retain(|uri| *uri != updated);
        }
    }

    /// Discards earlier notifications, makes a change, and waits until it is notified.
    async fn updated_by(&mut self, uri: &str, change: impl FnOnce()) {
        self.all_updated_by(&[uri], change).await;
    }

    async fn all_updated_by(&mut self, uris: &[&str], change: impl FnOnce()) {
        self.take_updates().await;
        change();
        self.until_all_updated(uris).await;
    }

    /// Discards the pending notifications.
    pub(crate) fn discard_pending(&mut self) {
        self.pending.clear();
    }

    /// The URIs of all updates so far: a reply comes after every earlier notification.
    pub(crate) async fn take_updates(&mut self) -> Vec<String> {
        self.request("tools/list", json!({})).await;
        self.pending.drain(..).map(|notification| updated_uri(&notification)).collect()
    }
}

/// The URI of an update notification.
fn updated_uri(notification: &Value) -> String {
    assert_eq!(notification["method"], "notifications/resources/updated", "{notification}");
    notification["params"]["uri"].as_str().unwrap().to_owned()
}

/// The URI of a pane's content.
pub(crate) fn content(pane: &str) -> String {
    format!("tmux://panes/%25{}/content", &pane[1..])
}

async fn connect(tmux: &TmuxServer) -> Subscriber {
    Subscriber::connect(launch(tmux), LEGACY).await
}

#[tokio::test]
async fn output_is_notified_at_once() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let tmux = TmuxServer::new();
        let pane = tmux.open("cat");
        let mut client = Subscriber::connect(launch(&tmux), version).await;
        let uri = content(&pane);
        client.subscribe(&uri).await;
        for _ in 0..3 {
            let begun = Instant::now();
            client.updated_by(&uri, || tmux.types(&pane, "x")).await;
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        }
        assert!(client.read(&uri).await.contains("xxx"));
    }
}

#[tokio::test]
async fn notification_repeats_the_subscribed_uri_spelling() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("cat");
    let mut client = connect(&tmux).await;
    let spellings = [content(&pane), format!("tmux://panes/{pane}/tail/5")];
    for uri in &spellings {
        client.subscribe(uri).await;
    }
    tmux.types(&pane, "x");
    for uri in &spellings {
        client.updated_by(uri, || tmux.types(&pane, "x")).await;
    }
}

/// Two notifications are at least 100 ms apart by the server's clock, so eleven take at least a second.
#[tokio::test]
async fn flood_is_throttled_and_its_end_is_notified() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("read x; while :; do echo flood; done");
    let mut client = connect(&tmux).await;
    let uri = content(&pane);
    client.subscribe(&uri).await;
    let begun = Instant::now();
    tmux.presses(&pane, &["Enter"]);
    for _ in 0..11 {
        client.until_updated(&uri).await;
    }
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    client.unsubscribe(&uri).await;

    // A client that reads after each notification gets the last line, although no output follows.
    let pane = tmux.open("read x; seq 1 3000; sleep 0.05; echo the end; cat");
    let uri = content(&pane);
    client.subscribe(&uri).await;
    tmux.presses(&pane, &["Enter"]);
    loop {
        client.until_updated(&uri).await;
        if client.read(&uri).await.contains("the end") {
            return;
        }
    }
}

#[tokio::test]
async fn unsubscribing_stops_notifications() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("read x; while :; do echo flood; sleep 0.01; done");
    let mut client = connect(&tmux).await;
    let (uri, other) = (content(&pane), format!("tmux://panes/{pane}/tail/3"));
    client.subscribe(&uri).await;
    client.subscribe(&uri).await;
    client.subscribe(&other).await;
    tmux.presses(&pane, &["Enter"]);
    client.until_updated(&uri).await;
    client.unsubscribe(&uri).await;
    client.discard_pending();
    for _ in 0..5 {
        // The other subscription to the same pane is still notified.
        assert_eq!(updated_uri(&client.next_notification().await), other);
    }
    client.unsubscribe(&uri).await;
    client.unsubscribe("tmux://nothing").await;
    client.subscribe(&uri).await;
    client.until_updated(&uri).await;
}

#[tokio::test]
async fn content_changes_without_output_are_notified() {
    let tmux = TmuxServer::new();
    let pane = tmux.open("seq 1 100; cat");
    tmux.tmux(&["set-option", "-w", "-t", &pane, "remain-on-exit", "on"]);
    until("all lines are printed", async || tmux.screen(&pane).contains("100").then_some(())).await;
    let mut client = connect(&tmux).await;
    let uri = content(&pane);
    client.subscribe(&uri).await;
    client.updated_by(&uri, || drop(tmux.tmux(&["clear-history", "-t", &pane]))).await;
    client.updated_by(&uri, || drop(tmux.tmux(&["send-keys", "-R", "-t", &pane]))).await;
    client.updated_by(&uri, || drop(tmux.tmux(&["split-window", "-d", "-t", &pane, "cat"]))).await;
    if at_least(&tmux, "3.3") {
        client.updated_by(&uri, || tmux.presses(&pane, &["C-d"])).await;
        client.updated_by(&uri, || drop(tmux.tmux(&["respawn-pane", "-t", &pane, "cat"]))).await;
    }
    client.updated_by(&uri, || tmux.types(&pane, "x")).await;
}

#[tokio::test]
async fn command_updates_are_notified_until_its_end() {
    let tmux = TmuxServer::new();
    let mut client = connect(&tmux).await;
    let command = json!({"command": "echo one; read x; echo two; (exit 3)", "timeout": 0});
    let begun = client.call("run_command", command).await;
    let (id, pane) = (begun["command_id"].as_str().unwrap(), begun["pane_id"].as_str().unwrap());
    let uri = format!("tmux://commands/{id}");
    client.subscribe(&uri).await;
    until("the command has begun", async || tmux.screen(pane).contains("one").then_some(())).await;
    tmux.presses(pane, &["Enter"]);
    while !client.read(&uri).await.contains("\"exit_code\":3") {
        client.until_updated(&uri).await;
    }
    assert!(client.read(&uri).await.contains("two"));
    // A finished command can be subscribed to like a running one.
    client.unsubscribe(&uri).await;
    client.discard_pending();
    client.subscribe(&uri).await;
    assert_eq!(client.take_updates().await, [] as [String; 0]);
}

#[tokio::test]
async fn session_window_and_pane_changes_are_notified() {
    let tmux = TmuxServer::new();
    let pane = tmux.new_session("dev");
    let mut client = connect(&tmux).await;
    let (sessions, session) = ("tmux://sessions", "tmux://sessions/dev");
    let tree = "tmux://sessions/dev/tree";
    let own = format!("tmux://panes/%25{}", &pane[1..]);
    let window = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{window_id}"]);
    let window = format!("tmux://windows/{window}");
    for uri in [sessions, session, tree, &own, &window, "tmux://server"] {
        client.subscribe(uri).await;
    }
    let steps: &[(&[&str], &[&str])] = &[
        (&["new-session", "-d", "-s", "new", "cat"], &[sessions, "tmux://server"]),
        (&["rename-session", "-t", "=new", "old"], &[sessions]),
        (&["kill-session", "-t", "=old"], &[sessions, "tmux://server"]),
        (&["new-window", "-d", "-t", "=dev:7", "cat"], &[sessions, session, tree]),
        (&["rename-window", "-t", "=dev:7", "seven"], &[tree, session]),
        (&["select-window", "-t", "=dev:7"], &[tree, &window]),
        (&["move-window", "-s", "=dev:7", "-t", "=dev:9"], &[tree]),
        (&["swap-window", "-d", "-s", "=dev:9", "-t", "=dev:0"], &[tree, &own]),
        (&["kill-window", "-t", "=dev:0"], &[tree, sessions]),
        (&["split-window", "-d", "-t", &pane, "cat"], &[&window, tree]),
        (&["select-pane", "-t", &pane, "-T", "a title"], &[&own, &window, tree]),
        (&["select-pane", "-D", "-t", &pane], &[&own, &window]),
        (&["resize-pane", "-t", &pane, "-y", "5"], &[&own, &window]),
        (&["copy-mode", "-t", &pane], &[&own]),
        (&["rename-session", "-t", "=dev", "prod"], &[session, &own, sessions]),
    ];
    for (command, uris) in steps {
        client.all_updated_by(uris, || drop(tmux.tmux(command))).await;
    }
}

#[tokio::test]
async fn attach_and_detach_of_a_person_are_notified() {
    let tmux = TmuxServer::new();
    let mut client = connect(&tmux).await;
    for uri in ["tmux://clients", "tmux://sessions/main"] {
        client.subscribe(uri).await;
    }
    let mut person = None;
    let uris = ["tmux://clients", "tmux://sessions/main"];
    client.all_updated_by(&uris, || person = Some(Person::attach(&tmux, "main", 90, 30))).await;
    client.all_updated_by(&uris, || drop(person)).await;
}

#[tokio::test]
async fn newline_in_a_directory_name_is_harmless() {
    let tmux = TmuxServer::new();
    let odd = tmux.home().join("x\n%exit\n%begin 1 2 1\n%end 1 2 1");
    std::fs::create_dir(&odd).unwrap();
    let odd = odd.to_string_lossy();
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-c", &odd, "cat"]);
    let mut client = connect(&tmux).await;
    let uri = format!("tmux://panes/{pane}");
    client.subscribe(&uri).await;
    for title in ["one", "two"] {
        let change = || drop(tmux.tmux(&["select-pane", "-t", &pane, "-T", title]));
        client.updated_by(&uri, change).await;
    }
    assert!(!client.raw.stderr().contains("reconnecting"), "{}", client.raw.stderr());
}
