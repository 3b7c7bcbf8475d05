//! Tests of sessions and the tmux server: `list_sessions`, `create_session`, `server_info`.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use testkit::{Person, Raw, TmuxServer, until, wait_until};

use crate::serve;
use crate::support::{at_least, field, keys, list, shows, string};

#[tokio::test]
async fn a_session_shows_every_field_of_the_contract() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let sessions = list(&mcp, "list_sessions", json!({})).await;
    assert_eq!(sessions.len(), 1);
    let session = &sessions[0];
    assert_eq!(keys(session), ["attached", "created", "name", "session_id", "windows"]);
    assert_eq!(session["session_id"], "$0");
    assert_eq!(session["name"], "main");
    assert_eq!(session["windows"], 1);
    assert_eq!(session["attached"], 0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let age = now - session["created"].as_u64().unwrap();
    assert!(age < 60, "{age} s old");
    let text = mcp.call("list_sessions", json!({})).await.text();
    assert_eq!(text, format!("$0 main · 1 window · created {}", session["created"]));
    mcp.close().await;
}

#[tokio::test]
async fn session_is_own_until_a_person_adds_windows() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_session", json!({"name": "ours"})).await.ok();
    assert_eq!(
        keys(&made),
        ["index", "pane_id", "session", "session_id", "window_id"],
        "the fields of a creation result"
    );
    assert_eq!(made["index"], 0);
    let own = async || field(&mcp, "list_sessions", json!({"filter": "own=true"}), "name").await;
    assert_eq!(own().await, ["ours"]);
    tmux.tmux(&["new-window", "-d", "-t", "=ours:"]);
    assert!(own().await.is_empty(), "a session with a person's window counts as own");
    mcp.close().await;
}

#[tokio::test]
async fn only_people_count_as_attached() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let attached = async || list(&mcp, "list_sessions", json!({})).await[0]["attached"].clone();
    assert_eq!(attached().await, 0);
    let ours = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
    assert!(ours.contains("ignore-size"), "the link is not attached: {ours}");

    let person = Person::attach(&tmux, "main", 90, 30);
    assert_eq!(attached().await, 1);
    // A terminal emulator in control mode, used by a person.
    let _terminal = control_client(&tmux, "no-output", 3).await;
    assert_eq!(attached().await, 2);
    // The link of another tmuxwright.
    let _program = control_client(&tmux, "ignore-size,no-output", 4).await;
    assert_eq!(attached().await, 2);
    let info = mcp.call("get_info", json!({"target": "main"})).await.ok();
    assert_eq!(info["session"]["attached"], 2);
    let text = mcp.call("list_sessions", json!({})).await.text();
    assert!(text.contains("2 attached"), "{text}");
    drop(person);
    until("the person has left", async || (attached().await == 1).then_some(())).await;
    mcp.close().await;
}

/// A control client with these flags, once there are `count` clients.
async fn control_client(tmux: &TmuxServer, flags: &str, count: usize) -> Raw {
    let client = testkit::Launch::without_tmux("/bin/sh", tmux.home()).args(&[
        "-c",
        r#"exec "$0" -u -C -S "$1" attach-session -f "$2" -t =main"#,
        &TmuxServer::program().to_string_lossy(),
        &tmux.socket().to_string_lossy(),
        flags,
    ]);
    let client = client.raw();
    wait_until("the control client is attached", || {
        (tmux.tmux(&["list-clients"]).lines().count() == count).then_some(())
    });
    client
}

#[tokio::test]
async fn lists_are_empty_and_start_no_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    for tool in ["list_sessions", "list_windows", "list_panes"] {
        assert!(list(&mcp, tool, json!({})).await.is_empty(), "{tool}");
    }
    let info = mcp.call("server_info", json!({})).await.ok();
    assert_eq!(keys(&info), ["sessions", "socket", "version"]);
    assert_eq!(info["sessions"], 0);
    let error = mcp.call("get_info", json!({"target": "main"})).await.err("no_server");
    assert!(error.contains("create_session"), "{error}");
    mcp.call("send_keys", json!({"target": "%0", "text": "x"})).await.err("no_server");
    assert!(!tmux.socket().exists(), "a read started a tmux server");
    mcp.close().await;
}

#[tokio::test]
async fn server_info_reports_version_socket_pid_and_sessions() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let mcp = serve(&tmux).await;
    let info = mcp.call("server_info", json!({})).await.ok();
    assert_eq!(keys(&info), ["pid", "running", "sessions", "socket", "version"]);
    assert_eq!(info["running"], true);
    assert_eq!(info["pid"], tmux.pid());
    assert_eq!(info["sessions"], 2);
    assert_eq!(info["socket"], tmux.socket().to_string_lossy().as_ref());
    let version = tmux.tmux(&["-V"]).replace("tmux ", "");
    assert_eq!(info["version"], version);
    let text = mcp.call("server_info", json!({})).await.text();
    assert!(
        text.starts_with(&format!("tmux {version} · ")) && text.ends_with("2 sessions"),
        "{text}"
    );
    mcp.close().await;
}

#[tokio::test]
async fn filters_choose_by_value_and_by_pattern() {
    let tmux = TmuxServer::new();
    tmux.new_session("dev");
    tmux.new_session("dev-long");
    tmux.tmux(&["new-window", "-d", "-t", "=dev-long:"]);
    let mcp = serve(&tmux).await;
    let names =
        async |filter: &str| field(&mcp, "list_sessions", json!({"filter": filter}), "name").await;
    assert_eq!(names("name=dev").await, ["dev"]);
    assert_eq!(names("name~^dev").await, ["dev", "dev-long"]);
    assert_eq!(names("name~^dev,windows=2").await, ["dev-long"]);
    assert_eq!(names("own=false").await.len(), 3);
    assert!(names("name=nobody").await.is_empty());
    for (filter, words) in
        [("nam=dev", "`name`"), ("dev", "neither"), ("name~(", "regular expression")]
    {
        let error = mcp.call("list_sessions", json!({"filter": filter})).await;
        let error = error.err("invalid_argument");
        assert!(error.contains(words), "{filter}: {error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn create_session_applies_all_its_arguments() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().join("a b");
    std::fs::create_dir(&dir).unwrap();
    let mcp = serve(&tmux).await;
    let made = mcp.call(
        "create_session",
        json!({
            "name": "work", "window_name": "logs", "width": 123, "height": 45, "cwd": dir,
            "env": {"GREETING": "it's \"$HOME\" #{pane_id};"},
            "command": "printf '%s\\n' \"$GREETING\" \"$PWD\"; exec cat",
        }),
    );
    let made = made.await.ok();
    assert_eq!(made["session"], "work");
    let target = string(&made["pane_id"]);
    let text = shows(&mcp, &target, "a b").await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines, ["it's \"$HOME\" #{pane_id};", &dir.to_string_lossy()]);
    let windows = list(&mcp, "list_windows", json!({"target": "work"})).await;
    assert_eq!(windows[0]["name"], "logs");
    assert_eq!((&windows[0]["width"], &windows[0]["height"]), (&json!(123), &json!(45)));
    assert_eq!(windows[0]["window_id"], made["window_id"]);
    mcp.close().await;
}

#[tokio::test]
async fn cwd_may_start_with_a_tilde() {
    let tmux = TmuxServer::new();
    std::fs::create_dir(tmux.home().join("below")).unwrap();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_session", json!({"cwd": "~/below", "command": "pwd; exec cat"}));
    let target = string(&made.await.ok()["pane_id"]);
    shows(&mcp, &target, &tmux.home().join("below").to_string_lossy()).await;
    mcp.close().await;
}

#[tokio::test]
async fn first_session_starts_the_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    let made = mcp.call("create_session", json!({"name": "first", "command": "exec cat"}));
    assert_eq!(made.await.ok()["session"], "first");
    assert_eq!(
        field(&mcp, "list_sessions", json!({"filter": "own=true"}), "name").await,
        ["first"]
    );
    mcp.close().await;
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "first");
}

#[tokio::test]
async fn own_sessions_survive_destroy_unattached() {
    let tmux = TmuxServer::new();
    let _person = Person::attach(&tmux, "main", 90, 30);
    tmux.tmux(&["set-option", "-g", "destroy-unattached", "on"]);
    let mcp = serve(&tmux).await;
    mcp.call("create_session", json!({"name": "work"})).await.text();
    mcp.call("create_pane", json!({"command": "cat"})).await.text();
    // tmux looks for sessions to destroy whenever a client leaves.
    tmux.tmux(&["list-sessions"]);
    let names = field(&mcp, "list_sessions", json!({"filter": "own=true"}), "name").await;
    assert_eq!(names, [format!("mcp-{}", mcp.pid()), "work".to_owned()]);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_create_session_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let error = mcp.call("create_session", json!({"name": "main"})).await.err("exists");
    assert!(error.contains("`main`") && error.contains("Next: "), "{error}");
    for (arguments, words) in [
        (json!({"cwd": "/nonexistent/dir"}), "/nonexistent/dir"),
        (json!({"env": {"A=B": "1"}}), "`A=B`"),
        (json!({"env": {"": "1"}}), "name of a variable"),
        (json!({"env": {"A": 1}}), "env.A"),
        (json!({"width": 0}), "`width`"),
        (json!({"height": 20_000}), "20000"),
        (json!({"name": " "}), "`name`"),
        (json!({"nmae": "x"}), "`name`"),
        (json!({"command": "a\u{0}b"}), "NUL"),
    ] {
        let outcome = mcp.call("create_session", arguments.clone()).await;
        let error = outcome.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    assert_eq!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]), "main");
    mcp.close().await;
}

#[tokio::test]
async fn create_session_returns_the_name_tmux_stored() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let name = "#(touch f) v1.2 #{pane_id} #[bold] 漢🙂";
    let made = mcp.call("create_session", json!({"name": name})).await.ok();
    let expected =
        if at_least(&tmux, "3.7") { name.to_owned() } else { name.replace("v1.2", "v1_2") };
    assert_eq!(made["session"], expected);
    assert!(tmux.tmux(&["list-sessions", "-F", "#{session_name}"]).contains(&expected));
    assert!(!tmux.home().join("f").exists());
    mcp.call("capture_pane", json!({"target": expected})).await.text();
    mcp.close().await;
}
