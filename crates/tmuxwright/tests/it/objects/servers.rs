//! Tests of tmux servers: `list_servers`, `socket_for_path`, `kill_server`.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Person, TmuxServer};

use crate::objects::{DESTRUCTIVE, in_pane, serve_destructive};
use crate::support::{field, list, pane, shows, string};
use crate::{launch, serve};

/// A socket directory as tmux makes it.
fn socket_directory(base: &Path) -> std::path::PathBuf {
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(base).unwrap());
    let dir = base.join(format!("tmux-{uid}"));
    std::fs::create_dir(&dir).unwrap();
    std::fs::set_permissions(&dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    dir
}

#[tokio::test]
async fn running_servers_are_listed_without_stale_sockets() {
    let (tmux, other) = (TmuxServer::new(), TmuxServer::new());
    other.new_session("second");
    let dir = socket_directory(tmux.home());
    std::os::unix::fs::symlink(other.socket(), dir.join("work")).unwrap();
    drop(UnixListener::bind(dir.join("stale")).unwrap());
    std::fs::write(dir.join("file"), "x").unwrap();
    // A listener that never answers.
    let _mute = UnixListener::bind(dir.join("mute")).unwrap();
    let base = tmux.home().to_string_lossy().into_owned();
    let mcp = launch(&tmux).env("TMUX_TMPDIR", &base).args(DESTRUCTIVE).mcp().await;
    let begun = Instant::now();
    let servers = list(&mcp, "list_servers", json!({})).await;
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    assert_eq!(servers.len(), 3, "{servers:?}");
    assert_eq!((&servers[0]["name"], &servers[0]["alive"]), (&json!("mute"), &json!(true)));
    assert!(servers[0]["problem"].is_string() && servers[0]["pid"].is_null(), "{servers:?}");
    assert_eq!((&servers[1]["name"], &servers[1]["sessions"]), (&json!("work"), &json!(2)));
    assert_eq!(servers[1]["pid"], other.pid());
    assert_eq!(servers[1].get("current"), None);
    assert_eq!((&servers[2]["current"], &servers[2]["sessions"]), (&json!(true), &json!(1)));
    assert_eq!(servers[2]["socket"], tmux.socket().to_string_lossy().as_ref());
    let version = tmux.tmux(&["display-message", "-p", "#{version}"]);
    assert_eq!(servers[2]["version"], version.as_str());
    // A path given in `paths` is listed even if no server answers there.
    let asked: Vec<_> = ["stale", "file", "nothing"].map(|name| dir.join(name)).to_vec();
    let servers = list(&mcp, "list_servers", json!({"paths": asked})).await;
    let problem = |name: &str| {
        let socket = dir.join(name).to_string_lossy().into_owned();
        let found = servers.iter().find(|server| server["socket"] == socket.as_str()).unwrap();
        assert_eq!(found.get("alive"), None, "{found}");
        string(&found["problem"])
    };
    assert!(problem("stale").contains("no server"));
    assert!(problem("file").contains("no socket") && problem("nothing").contains("no socket"));
    mcp.call("list_servers", json!({"paths": ["relative"]})).await.err("invalid_argument");
    mcp.close().await;
}

#[tokio::test]
async fn list_servers_starts_no_server() {
    let tmux = TmuxServer::not_started();
    let base = tmux.home().to_string_lossy().into_owned();
    let mcp = launch(&tmux).env("TMUX_TMPDIR", &base).args(DESTRUCTIVE).mcp().await;
    assert!(list(&mcp, "list_servers", json!({})).await.is_empty());
    mcp.call("list_servers", json!({"paths": [tmux.socket()]})).await.ok();
    assert!(!tmux.socket().exists());
    mcp.close().await;
}

#[tokio::test]
async fn project_has_one_socket_by_any_path() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    let project = tmux.home().join("My Project");
    std::fs::create_dir(&project).unwrap();
    std::os::unix::fs::symlink(&project, tmux.home().join("link")).unwrap();
    let home = tmux.home().display().to_string();
    let socket = async |path: String| {
        string(&mcp.call("socket_for_path", json!({"path": path})).await.ok()["socket"])
    };
    let first = socket(project.display().to_string()).await;
    assert!(first.len() <= 100 && first.contains("/My-Project-"), "{first}");
    for same in ["My Project/", "./My Project", "link", "My Project/../link/."] {
        assert_eq!(socket(format!("{home}/{same}")).await, first, "{same}");
    }
    assert_ne!(socket(home.clone()).await, first);
    assert!(!Path::new(&first).exists());
    for wrong in [format!("{home}/nothing"), "relative".to_owned(), String::new()] {
        let wrong = mcp.call("socket_for_path", json!({"path": wrong})).await;
        wrong.err("invalid_argument");
    }
    let text = mcp.call("socket_for_path", json!({"path": project})).await.text();
    assert!(text.contains("tmux -L My-Project-"), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn killed_server_is_gone_and_can_be_restarted() {
    let tmux = TmuxServer::new();
    tmux.new_session("second");
    let _person = Person::attach(&tmux, "main", 90, 30);
    let mcp = serve_destructive(&tmux).await;
    let busy = pane(&mcp, "echo ours; exec yes").await;
    shows(&mcp, &busy, "y").await;
    mcp.call("run_command", json!({"command": "echo before"})).await.text();
    let pid = tmux.pid();
    let killed = mcp.call("kill_server", json!({})).await.ok();
    assert_eq!((&killed["pid"], &killed["sessions"]), (&json!(pid), &json!(3)));
    assert!(tmux.try_tmux(&["list-sessions"]).is_err());
    assert!(list(&mcp, "list_sessions", json!({})).await.is_empty());
    mcp.call("kill_server", json!({})).await.err("no_server");
    mcp.call("create_session", json!({"name": "new"})).await.ok();
    let names = field(&mcp, "list_sessions", json!({}), "name").await;
    assert_eq!(names, ["new"]);
    let ran = mcp.call("run_command", json!({"command": "echo after"})).await.ok();
    assert_eq!(ran["output"], "after");
    mcp.close().await;
}

#[tokio::test]
async fn recycled_session_id_is_not_the_own_session() {
    let tmux = TmuxServer::not_started();
    let mcp = serve_destructive(&tmux).await;
    let ours = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    mcp.call("kill_server", json!({})).await.ok();
    let theirs = mcp.call("create_session", json!({"name": "theirs"})).await.ok();
    assert_eq!(theirs["session_id"], ours["session_id"]);
    let made = mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    assert!(string(&made["session"]).starts_with("mcp-"), "{made}");
    mcp.close().await;
}

#[tokio::test]
async fn wait_ends_when_the_tmux_server_ends() {
    let tmux = TmuxServer::new();
    let mcp = serve_destructive(&tmux).await;
    let waiting =
        mcp.call("wait_for", json!({"target": "%0", "until": ["text:never"], "timeout": 40}));
    let killing = async {
        testkit::until("the wait has begun", async || {
            let clients = tmux.tmux(&["list-clients", "-F", "#{client_flags}"]);
            clients.lines().any(|flags| !flags.contains("no-output")).then_some(())
        })
        .await;
        mcp.call("kill_server", json!({})).await.ok()
    };
    let begun = Instant::now();
    let (waited, _): (_, Value) = tokio::join!(waiting, killing);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", waited.result());
    mcp.close().await;
}

#[tokio::test]
async fn callers_tmux_server_is_not_killed() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let mcp = in_pane(launch(&tmux), &tmux, "%0").args(DESTRUCTIVE).mcp().await;
    let error = mcp.call("kill_server", json!({})).await.err("denied");
    assert!(error.contains("where this server itself runs"), "{error}");
    assert_eq!(list(&mcp, "list_sessions", json!({})).await.len(), 2);
    mcp.close().await;
}

#[tokio::test]
async fn kill_server_asks_for_user_interaction() {
    let tmux = TmuxServer::not_started();
    let mcp = serve_destructive(&tmux).await;
    let asks = |tool: &rmcp::model::Tool| {
        tool.meta
            .as_ref()
            .is_some_and(|meta| meta.0.contains_key("anthropic/requiresUserInteraction"))
    };
    let tools = mcp.tools().await;
    let asking: Vec<_> = tools.iter().filter(|tool| asks(tool)).map(|tool| &tool.name).collect();
    assert_eq!(asking, ["kill_server"]);
    mcp.close().await;
}
