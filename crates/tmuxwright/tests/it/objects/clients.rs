//! Tests of attached people: `list_clients`, `detach_client`, `show_message`, `write_to_display`.

use serde_json::json;
use testkit::{Person, TmuxServer, wait_until};

use crate::objects::serve_destructive;
use crate::serve;
use crate::support::{at_least, field, list, string};

/// Attaches a person whose screen can be captured: in a pane of the returned tmux server.
fn attach_in_pane(tmux: &TmuxServer) -> TmuxServer {
    let outer = TmuxServer::new();
    let program = TmuxServer::program();
    let attach = format!(
        "exec env -u TMUX {} -u -S {} attach-session -t =main",
        program.to_string_lossy(),
        tmux.socket().display()
    );
    outer.tmux(&["respawn-pane", "-k", "-t", "%0", &attach]);
    wait_until("the person is attached", || {
        (tmux.tmux(&["list-clients", "-F", "x"]).contains('x')).then_some(())
    });
    outer
}

/// The last line of the person's screen.
fn status_line(outer: &TmuxServer) -> String {
    outer.tmux(&["capture-pane", "-p", "-t", "%0"]).lines().nth(23).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn list_clients_shows_only_peoples_clients() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    assert!(list(&mcp, "list_clients", json!({})).await.is_empty());
    assert_eq!(mcp.call("list_clients", json!({})).await.text(), "no clients");
    let _person = Person::attach(&tmux, "main", 90, 30);
    let clients = list(&mcp, "list_clients", json!({})).await;
    assert_eq!(clients.len(), 1, "{clients:?}");
    let client = &clients[0];
    assert_eq!((&client["session"], &client["session_id"]), (&json!("main"), &json!("$0")));
    assert_eq!((&client["width"], &client["height"]), (&json!(90), &json!(30)));
    assert!(client["tty"].as_str().unwrap().starts_with("/dev/"), "{client}");
    assert_eq!(client["name"], client["tty"]);
    assert!(client["last_activity"].as_u64().unwrap() > 1_600_000_000, "{client}");
    mcp.close().await;
}

#[tokio::test]
async fn clients_are_absent_without_a_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve_destructive(&tmux).await;
    assert!(list(&mcp, "list_clients", json!({})).await.is_empty());
    let shown = mcp.call("show_message", json!({"text": "x"})).await.ok();
    assert_eq!(shown["clients"], 0);
    mcp.call("detach_client", json!({"client": "x"})).await.err("not_found");
    mcp.call("kill_server", json!({})).await.err("no_server");
    mcp.call("show_option", json!({"name": "mouse"})).await.err("no_server");
    mcp.call("set_option", json!({"name": "@x", "value": "1"})).await.err("no_server");
    mcp.call("show_environment", json!({})).await.err("no_server");
    mcp.close().await;
}

#[tokio::test]
async fn detach_client_detaches_only_the_named_client() {
    let tmux = TmuxServer::new();
    let mcp = serve_destructive(&tmux).await;
    let error = mcp.call("detach_client", json!({"client": "/dev/pts/999"})).await.err("not_found");
    assert!(error.contains("nobody is attached"), "{error}");
    let _one = Person::attach(&tmux, "main", 90, 30);
    let first = field(&mcp, "list_clients", json!({}), "name").await;
    let _two = Person::attach(&tmux, "main", 80, 24);
    let error = mcp.call("detach_client", json!({"client": "/dev/pts/999"})).await.err("not_found");
    assert!(error.contains(&first[0]), "{error}");
    // The server's own control clients count as absent.
    let all = tmux.tmux(&["list-clients", "-F", "#{client_name} #{client_control_mode}"]);
    for name in all.lines().filter_map(|line| line.strip_suffix(" 1")) {
        mcp.call("detach_client", json!({"client": name})).await.err("not_found");
    }
    let detached = mcp.call("detach_client", json!({"client": first[0]})).await.ok();
    assert_eq!((&detached["client"], &detached["session_id"]), (&json!(first[0]), &json!("$0")));
    let left = field(&mcp, "list_clients", json!({}), "name").await;
    assert_eq!(left.len(), 1);
    assert_ne!(left, first);
    mcp.close().await;
}

#[tokio::test]
async fn message_is_shown_literally() {
    let tmux = TmuxServer::new();
    let outer = attach_in_pane(&tmux);
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("ran");
    let job = format!("#(touch {})", file.display());
    for (text, seen) in [
        ("plain", "plain"),
        (
            "#S ##S #{pane_id} %H 50% #[fg=red]x ##[y] #",
            "#S ##S #{pane_id} %H 50% #[fg=red]x ##[y] #",
        ),
        ("two\nlines\u{1b}[31m\tred", "two lines red"),
        ("it's \"q\" \\ $HOME ; 漢", "it's \"q\" \\ $HOME ; 漢"),
        ("-p", "-p"),
        (job.as_str(), job.as_str()),
    ] {
        let shown = mcp.call("show_message", json!({"text": text, "duration": 60})).await;
        if !at_least(&tmux, "3.3") {
            assert!(shown.err("tmux_refused").contains("write_to_display"));
            continue;
        }
        assert_eq!(shown.ok()["clients"], 1);
        wait_until(&format!("{seen:?} is shown"), || {
            status_line(&outer).starts_with(seen).then_some(())
        });
    }
    assert!(!file.exists());
    let long = json!({"text": "%".repeat(20_000), "target": "main", "duration": 60});
    if at_least(&tmux, "3.3") {
        mcp.call("show_message", long).await.ok();
        wait_until("the message fills the line", || {
            (status_line(&outer) == "%".repeat(80)).then_some(())
        });
    }
    mcp.close().await;
}

#[tokio::test]
async fn message_expires_and_reaches_only_its_session() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let outer = attach_in_pane(&tmux);
    let mcp = serve(&tmux).await;
    let shown = mcp.call("show_message", json!({"text": "x", "target": "other"})).await.ok();
    assert_eq!(shown["clients"], 0);
    for wrong in [
        json!({"text": ""}),
        json!({"text": "\u{1b}[m\n"}),
        json!({"text": "x", "duration": 0}),
        json!({"text": "x", "duration": -1}),
        json!({"text": "x", "duration": 1e9}),
    ] {
        mcp.call("show_message", wrong).await.err("invalid_argument");
    }
    if at_least(&tmux, "3.3") {
        let text = mcp.call("show_message", json!({"text": "hello", "duration": 0.2})).await.text();
        assert!(text.starts_with("shown to 1 client: /dev/"), "{text}");
        wait_until("the message has expired", || {
            status_line(&outer).starts_with("[main]").then_some(())
        });
    }
    mcp.close().await;
}

#[tokio::test]
async fn display_is_split_beside_and_reused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let write = async |arguments| mcp.call("write_to_display", arguments).await.ok();
    let first = write(json!({"target": "main", "text": "one\ntwo \u{1b}[31mred\u{1b}[m"})).await;
    assert_eq!(first["created"], true);
    assert_eq!(first["bytes"], "one\ntwo \u{1b}[31mred\u{1b}[m\n".len());
    let pane = string(&first["pane_id"]);
    let shown = || tmux.tmux(&["capture-pane", "-p", "-t", &pane]).trim_end().to_owned();
    wait_until("the text is shown", || (shown() == "one\ntwo red").then_some(()));
    let colours = tmux.tmux(&["capture-pane", "-p", "-e", "-t", &pane]);
    assert!(colours.contains("\u{1b}[31mred"), "{colours:?}");
    // The active pane stays active.
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "=main:", "#{pane_id}"]), "%0");
    let again = write(json!({"target": "%0", "text": "three"})).await;
    assert_eq!((&again["pane_id"], &again["created"]), (&json!(pane), &json!(null)));
    wait_until("the second text is shown", || (shown() == "one\ntwo red\nthree").then_some(()));
    write(json!({"target": pane, "text": "fresh", "clear": true})).await;
    wait_until("the display was cleared", || (shown() == "fresh").then_some(()));
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", &pane, "#{history_size}"]), "0");
    let panes = list(&mcp, "list_panes", json!({})).await;
    assert_eq!(panes.len(), 2);
    assert_eq!(panes[1]["own"], true);
    mcp.call("kill", json!({"target": pane})).await.text();
    let new = write(json!({"target": "main", "text": "x"})).await;
    assert_eq!(new["created"], true);
    mcp.close().await;
}

#[tokio::test]
async fn display_drops_harmful_escape_sequences() {
    let tmux = TmuxServer::new();
    tmux.tmux(&["set-option", "-s", "set-clipboard", "on"]);
    let mcp = serve(&tmux).await;
    let text =
        "\u{1b}]52;c;aGk=\u{7}a\u{1b}]2;title\u{7}b\u{1b}[2Jc\u{1b}Pq\u{1b}\\d \u{1b}k1\u{1b}\\";
    let made = mcp.call("write_to_display", json!({"target": "main", "text": text})).await.ok();
    let pane = string(&made["pane_id"]);
    wait_until("the cleaned text is shown", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).starts_with("abcd").then_some(())
    });
    assert_eq!(tmux.tmux(&["list-buffers"]), "");
    let title = tmux.tmux(&["display-message", "-p", "-t", &pane, "#{pane_title}"]);
    assert!(!title.contains("title"), "{title}");
    let hostile = "#(x) #S %H $HOME ; 'q' \"";
    let write = json!({"target": "main", "text": hostile, "clear": true});
    mcp.call("write_to_display", write).await.ok();
    wait_until("the text is shown literally", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).starts_with(hostile).then_some(())
    });
    let long: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let answer = mcp.call("write_to_display", json!({"target": "main", "text": long})).await.ok();
    assert_eq!(answer["bytes"], long.len());
    wait_until("the last line is shown", || {
        tmux.tmux(&["capture-pane", "-p", "-t", &pane]).contains("line 19999").then_some(())
    });
    mcp.call("write_to_display", json!({"target": "main", "text": ""}))
        .await
        .err("invalid_argument");
    mcp.close().await;
}
