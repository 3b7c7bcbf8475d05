//! Tests of starting and ending the program: with and without tmux, by signals, with wrong settings.

use serde_json::json;
use std::path::Path;
use testkit::{Launch, Mcp, TmuxServer, until};

use crate::protocol::{client_count, create_own_pane, initialized, session_names};
use crate::{PROGRAM, launch, serve};

/// The signals that ask a process to end.
const TERMINATION_SIGNALS: [rustix::process::Signal; 3] =
    [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP];

/// Makes a pane in the own session, and returns the session's name.
async fn own_session(mcp: &Mcp) -> String {
    let made = mcp.call("create_pane", json!({"command": "exec sleep 1000"})).await.ok();
    made["session"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn server_starts_without_a_tmux_server() {
    let tmux = TmuxServer::not_started();
    let mcp = serve(&tmux).await;
    assert_eq!(mcp.call("list_panes", json!({})).await.ok(), json!({"panes": []}));
    let info = mcp.call("server_info", json!({})).await.ok();
    assert_eq!(info.get("running"), None);
    assert_eq!(info["socket"], tmux.socket().to_str().unwrap());
    for target in ["%0", "main"] {
        let text = mcp.call("capture_pane", json!({"target": target})).await.err("no_server");
        assert!(text.contains("create_session"), "{text}");
    }
    mcp.close().await;
    assert!(!tmux.socket().exists(), "a read started a tmux server");
}

#[tokio::test]
async fn missing_tmux_is_reported_with_install_advice() {
    let tmux = TmuxServer::not_started();
    let args = ["--toolset", "all", "--tier", "destructive", "--tmux", "/nonexistent/tmux"];
    let mcp = launch(&tmux).args(&args).args(&["--prompts-as-tools"]).mcp().await;
    assert_eq!(mcp.tools().await.len(), tmuxwright::tools::all().len());
    for (tool, arguments) in [
        ("list_sessions", json!({})),
        ("list_windows", json!({})),
        ("list_panes", json!({})),
        ("server_info", json!({})),
        ("list_clients", json!({})),
        ("show_option", json!({})),
        ("kill_server", json!({})),
        ("get_info", json!({"target": "%0"})),
        ("create_session", json!({})),
        ("create_window", json!({})),
        ("create_pane", json!({"command": "true"})),
        ("capture_pane", json!({"target": "main"})),
        ("send_keys", json!({"target": "main", "text": "x"})),
        ("kill", json!({"target": "%0"})),
    ] {
        let text = mcp.call(tool, arguments).await.err("tmux_missing");
        assert!(text.contains("/nonexistent/tmux") && text.contains("apt install"), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_signal_removes_a_session_being_created() {
    let tmux = TmuxServer::new();
    for round in 0..12 {
        let mut raw = launch(&tmux).raw();
        raw.initialize("2025-06-18").await;
        let call = json!({"name": "run_command", "arguments": {"command": "true"}});
        raw.start("tools/call", call).await;
        // The moments of this process are as good as any.
        for _ in 0..round % 4 {
            tmux.tmux(&["list-panes"]);
        }
        raw.signal(TERMINATION_SIGNALS[round % TERMINATION_SIGNALS.len()]);
        raw.wait().await;
        let shown = || format!("round {round}: {:?}", session_names(&tmux));
        until(&shown(), async || (session_names(&tmux) == ["main"]).then_some(())).await;
    }
}

#[tokio::test]
async fn hanging_up_removes_only_the_own_session() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = own_session(&mcp).await;
    let _ = mcp.call("create_session", json!({"name": "for-a-person"})).await.ok();
    assert!(session_names(&tmux).contains(&own));
    mcp.close().await;
    assert_eq!(session_names(&tmux), ["for-a-person", "main"]);
    assert_eq!(client_count(&tmux), 0);
}

#[tokio::test]
async fn termination_signals_end_the_server_cleanly() {
    for signal in TERMINATION_SIGNALS {
        let tmux = TmuxServer::new();
        let mut raw = initialized(launch(&tmux).args(&["--toolset", "all", "--structured"])).await;
        create_own_pane(&mut raw).await;
        raw.signal(signal);
        assert!(raw.wait().await.success(), "{signal:?}: {}", raw.stderr());
        assert_eq!(session_names(&tmux), ["main"], "{signal:?}");
        assert_eq!(client_count(&tmux), 0, "{signal:?}");
        assert_eq!(raw.stderr(), "");
    }
}

#[tokio::test]
async fn persons_pane_in_an_orphaned_session_stays() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux).args(&["--toolset", "all", "--structured"])).await;
    let made = create_own_pane(&mut raw).await;
    let own = made["session"].as_str().unwrap();
    tmux.tmux(&["new-window", "-d", "-t", &format!("={own}:"), "-n", "persons", "exec sleep 1000"]);
    raw.signal(rustix::process::Signal::KILL);
    raw.wait().await;

    let pane = made["pane_id"].as_str().unwrap();
    let panes = || tmux.tmux(&["list-panes", "-a", "-F", "#{pane_id} #{window_name}"]);
    until("the orphaned pane is gone", async || (!panes().contains(pane)).then_some(())).await;
    assert!(panes().contains("persons"), "{}", panes());
}

#[tokio::test]
async fn keep_flag_keeps_the_own_session() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--toolset", "all", "--structured", "--keep"]).mcp().await;
    let own = own_session(&mcp).await;
    mcp.close().await;
    assert!(session_names(&tmux).contains(&own));
    let next = serve(&tmux).await;
    let _ = own_session(&next).await;
    next.close().await;
    assert!(session_names(&tmux).contains(&own), "a kept session was reaped");
}

#[tokio::test]
async fn restarted_tmux_server_is_found_again() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let _ = mcp.call("list_panes", json!({})).await.ok();
    tmux.kill();
    assert_eq!(mcp.call("list_panes", json!({})).await.ok(), json!({"panes": []}));
    tmux.new_session("again");
    let panes = mcp.call("list_panes", json!({})).await.ok();
    assert_eq!(panes["panes"][0]["session"], "again");
    let _ = own_session(&mcp).await;
    mcp.close().await;
    assert_eq!(session_names(&tmux), ["again"]);
}

#[tokio::test]
async fn own_session_is_recreated_when_needed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = own_session(&mcp).await;
    tmux.tmux(&["kill-session", "-t", &format!("={own}")]);
    assert_eq!(own_session(&mcp).await, own);
    tmux.kill();
    assert_eq!(own_session(&mcp).await, own);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_settings_stop_the_start() {
    let tmux = TmuxServer::not_started();
    for (args, words) in [
        (vec!["--tier", "everything"], "everything"),
        (vec!["--toolset", "most"], "most"),
        (vec!["--no-such-flag"], "--no-such-flag"),
        (vec!["--config", "/nonexistent/config.toml"], "/nonexistent/config.toml"),
        (vec!["no-such-command"], "no-such-command"),
    ] {
        let output = launch(&tmux).args(&args).output().await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
    let output = launch(&tmux).env("TMUXWRIGHT_TIER", "everything").output().await;
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test]
async fn flags_override_the_environment() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).env("TMUXWRIGHT_TIER", "readonly").mcp().await;
    assert!(mcp.tools().await.iter().all(|tool| tool.name != "send_keys"));
    mcp.close().await;
    let readonly = launch(&tmux).env("TMUXWRIGHT_TIER", "readonly");
    let mcp = readonly.args(&["--tier", "mutating"]).mcp().await;
    assert!(mcp.tools().await.iter().any(|tool| tool.name == "send_keys"));
    mcp.close().await;
}

#[tokio::test]
async fn misspelt_environment_variable_stops_the_start() {
    let tmux = TmuxServer::not_started();
    let output = launch(&tmux).env("TMUXWRIGHT_TEIR", "readonly").output().await;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("did you mean `TMUXWRIGHT_TIER`?"), "{stderr}");
}

#[tokio::test]
async fn config_file_is_found_in_xdg_config_home() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().join("xdg/tmuxwright");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("config.toml"), "tier = \"readonly\"\n").unwrap();
    let xdg = tmux.home().join("xdg");
    let mcp = launch(&tmux).env("XDG_CONFIG_HOME", xdg.to_str().unwrap()).mcp().await;
    assert!(mcp.tools().await.iter().all(|tool| tool.name != "send_keys"));
    mcp.close().await;
}

#[tokio::test]
async fn version_and_help_go_to_stdout() {
    let tmux = TmuxServer::not_started();
    let output = launch(&tmux).args(&["--version"]).output().await;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(stdout.trim(), format!("tmuxwright {}", env!("CARGO_PKG_VERSION")));
    let output = launch(&tmux).args(&["--help"]).output().await;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    for setting in tmuxwright::config::SETTINGS {
        let flag = setting.flag.map(|flag| format!("--{flag}"));
        for name in flag.as_deref().iter().chain(setting.env.first()) {
            assert!(stdout.contains(name), "{name} is not in --help");
        }
    }
}

#[tokio::test]
async fn demo_succeeds_and_leaves_nothing_behind() {
    let tmux = TmuxServer::not_started();
    let home = tmux.home().join("demo");
    std::fs::create_dir(&home).unwrap();
    let home = home.to_str().unwrap();
    let demo = Launch::without_tmux(PROGRAM, Path::new(home))
        .env("TMUXWRIGHT_TMUX", TmuxServer::program().to_str().unwrap())
        .env("TMPDIR", home)
        .args(&["demo"]);
    let output = demo.output().await;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    for words in ["42 is the answer", "exited 7", "denied", "killed $"] {
        assert!(stdout.contains(words), "{words} is missing: {stdout}");
    }
    let left: Vec<_> = std::fs::read_dir(home).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
