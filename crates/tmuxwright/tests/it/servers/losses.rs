//! Tests of hosts that die, fall silent or were never there: what is lost, and that other servers are not delayed.

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Mcp, Sshd, TmuxServer, until_it_is, wait_until};

use super::ThreeServers;
use super::other_host::OtherHost;
use crate::protocol::initialized;
use crate::support::{command_end, string};

/// Runs a command as soon as the host can be reached again.
async fn runs_again(mcp: &Mcp) {
    let run = async || mcp.call("run_command", json!({"command": "echo back"})).await.result();
    until_it_is("commands run again", run, |answer| {
        let content = answer.structured_content.as_ref();
        content.is_some_and(|it| it["output"] == "back" && it["exit_code"] == 0)
    })
    .await;
}

#[tokio::test]
async fn cut_connection_gives_no_wrong_result() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let home = host.tmux.home();
    let (go, done) = (home.join("go"), home.join("done"));
    let command = format!(
        "cd {}; mkfifo go; echo begun; read x <go; echo end; echo it >done; sh -c 'exit 5'",
        home.display()
    );
    let started = mcp.call("run_command", json!({"command": command, "timeout": 0.1})).await.ok();
    wait_until("the command waits", || go.exists().then_some(()));
    host.sshd.kill();
    assert!(host.sshd.listen_again());
    fs::write(&go, "\n").unwrap();
    wait_until("the command has gone on", || done.exists().then_some(()));
    let result = command_end(&mcp, &started).await;
    let is_true = result["status"] == "exited"
        && result["exit_code"] == 5
        && result["output"] == "begun\nend";
    assert!(is_true || result["status"] == "lost", "{result}");
    assert_ne!(result["exit_code"], 0, "{result}");
    runs_again(&mcp).await;
    mcp.close().await;
    host.assert_clean();
}

/// Nothing answers any more and nothing is closed, as if packets were dropped.
#[tokio::test]
async fn silent_host_ends_waits_and_delays_none() {
    let (home, host) = (TmuxServer::new(), OtherHost::new());
    let file = home.home().join("config.toml");
    fs::write(&file, host.table("far")).unwrap();
    let launch = crate::launch(&home).args(&["--config", &file.to_string_lossy()]);
    let mut raw = initialized(launch.args(&["--toolset", "all", "--structured"])).await;
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let listed = raw.request("tools/call", call("list_panes", json!({"server": "far"}))).await;
    assert_ne!(listed["result"]["isError"], true, "{listed}");
    let wait =
        json!({"target": "%0", "until": ["text:never shown"], "timeout": 45, "server": "far"});
    let waiting = raw.start("tools/call", call("wait_for", wait)).await;
    wait_until("the wait has begun", || {
        (host.tmux.tmux(&["list-clients"]).lines().count() >= 2).then_some(())
    });
    let stopped = host.sshd.connections();
    stopped.iter().for_each(|pid| kill_process(*pid, Signal::STOP).unwrap());
    let hanging = raw.start("tools/call", call("list_panes", json!({"server": "far"}))).await;
    let mut open = HashSet::from([waiting, hanging]);
    for _ in 0..5 {
        let near = raw.start("tools/call", call("run_command", json!({"command": "echo x"}))).await;
        let reply = raw.receive().await.unwrap();
        assert_eq!(reply["id"], near, "{reply}");
    }
    while !open.is_empty() {
        let reply = raw.receive().await.unwrap();
        open.remove(&reply["id"].as_u64().unwrap());
        let result = &reply["result"];
        assert_eq!(result["isError"], true, "{reply}");
        assert!(string(&result["content"][0]["text"]).contains("far"), "{reply}");
    }
    stopped.iter().for_each(|pid| kill_process(*pid, Signal::KILL).unwrap());
    raw.hang_up();
    raw.wait().await;
}

#[tokio::test]
async fn dead_hosts_delay_no_other() {
    let servers = ThreeServers::new();
    // These accept connections, and never say a word.
    let mute: Vec<TcpListener> =
        (0..4).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let mut config = servers.config("", "", "");
    for (number, listener) in mute.iter().enumerate() {
        let port = listener.local_addr().unwrap().port();
        config += &format!("[servers.dead{number}]\nssh = \"-F none -p {port} 127.0.0.1\"\n");
    }
    let tmux = TmuxServer::program();
    for (name, socket) in [("a", servers.home.socket()), ("b", servers.one.socket())] {
        let (socket, tmux) = (socket.display(), tmux.to_string_lossy());
        config += &format!(
            "[servers.{name}]\nvia = [\"env\"]\nsocket = \"{socket}\"\ntmux = \"{tmux}\"\n"
        );
    }
    let mut raw = initialized(servers.launch(&config)).await;
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    let mut dead = HashSet::new();
    for number in 0..mute.len() {
        let panes = json!({"server": format!("dead{number}")});
        dead.insert(raw.start("tools/call", call("list_panes", panes)).await);
    }
    let mut alive = HashSet::new();
    for name in ["default", "one", "two", "a", "b"] {
        let run = json!({"command": "echo ran", "server": name});
        alive.insert(raw.start("tools/call", call("run_command", run)).await);
    }
    while !alive.is_empty() {
        let reply = raw.receive().await.unwrap();
        assert!(alive.remove(&reply["id"].as_u64().unwrap()), "{reply}");
        assert_eq!(reply["result"]["structuredContent"]["output"], "ran", "{reply}");
    }
    while !dead.is_empty() {
        let reply = raw.receive().await.unwrap();
        assert!(dead.remove(&reply["id"].as_u64().unwrap()), "{reply}");
        assert_eq!(reply["result"]["isError"], true, "{reply}");
    }
    raw.hang_up();
    raw.wait().await;
}

/// The text of the error of a first call.
async fn first_error(host: &OtherHost, arguments: &[&str]) -> String {
    let mcp = host.launch().args(arguments).mcp().await;
    let failed = mcp.call("list_panes", json!({})).await.result();
    assert_eq!(failed.is_error, Some(true), "{failed:?}");
    let stderr = mcp.stderr();
    mcp.close().await;
    assert!(!stderr.contains("panic"), "{stderr}");
    failed.content.iter().filter_map(|it| it.as_text()).map(|it| it.text.as_str()).collect()
}

#[tokio::test]
async fn refused_connections_are_explained() {
    let host = OtherHost::new();
    let missing = first_error(&host, &["--tmux", "/no/such/tmux"]).await;
    assert!(missing.contains("/no/such/tmux"), "{missing}");
    host.sshd.lose_user_key();
    let refused = first_error(&host, &[]).await;
    assert!(refused.contains("BatchMode=yes"), "{refused}");
    host.sshd.forget_host_key();
    let unknown = first_error(&host, &[]).await;
    assert!(unknown.contains("host key is unknown"), "{unknown}");
    host.sshd.trust();
    host.sshd.change_host_key();
    let changed = first_error(&host, &[]).await;
    assert!(changed.contains("ssh-keygen -R"), "{changed}");
    host.sshd.kill();
    let closed = first_error(&host, &[]).await;
    assert!(closed.contains("Connection refused"), "{closed}");
}

#[tokio::test]
async fn login_shell_that_prints_does_no_harm() {
    let noisy =
        r#"sh -c 'echo motd; echo >&2 banner; printf "no end"; eval "$SSH_ORIGINAL_COMMAND"'"#;
    for command in [noisy, r#"fish --no-config -c "$SSH_ORIGINAL_COMMAND""#] {
        let host = OtherHost::of_login_shell(command);
        let mcp = host.serve().await;
        let ran = mcp.call("run_command", json!({"command": "echo ran"})).await.ok();
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("ran"), &json!(0)), "{ran}");
        mcp.close().await;
        host.assert_clean();
    }
}

/// Local processes of ssh that lead to this host.
fn ssh_processes(sshd: &Sshd) -> usize {
    let port = format!("\0-p\0{}\0", sshd.port());
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let arguments = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    arguments.filter(|it| String::from_utf8_lossy(it).contains(&port)).count()
}

#[tokio::test]
async fn killed_program_leaves_no_ssh() {
    let host = OtherHost::new();
    let mut raw = initialized(host.launch()).await;
    let run = json!({"name": "run_command", "arguments": {"command": "echo ran"}});
    raw.request("tools/call", run).await;
    assert!(ssh_processes(&host.sshd) >= 2);
    raw.signal(Signal::KILL);
    wait_until("no ssh is left", || (ssh_processes(&host.sshd) == 0).then_some(()));
    wait_until("no client is left", || host.tmux.tmux(&["list-clients"]).is_empty().then_some(()));
    raw.wait().await;
}

#[tokio::test]
async fn kept_session_stays_on_its_host() {
    let host = OtherHost::new();
    let mcp = host.launch().args(&["--keep"]).mcp().await;
    mcp.call("create_pane", json!({"command": "exec cat"})).await.ok();
    let session = format!("mcp-{}", mcp.pid());
    mcp.close().await;
    assert!(host.sessions().contains(&session), "{:?}", host.sessions());
    wait_until("no connection is left", || host.sshd.connections().is_empty().then_some(()));
    assert_eq!(ssh_processes(&host.sshd), 0);
}

#[tokio::test]
async fn hostile_routes_are_refused_at_start() {
    let host = OtherHost::new();
    let witness = host.tmux.home().join("witness");
    let touch = format!("touch {}", witness.display());
    for (flag, text, reason) in [
        ("--ssh", format!("'host; {touch}'"), "cannot be part of the destination"),
        ("--ssh", format!("host {touch}"), "follows the destination"),
        ("--ssh", format!("-oLocalCommand='{touch}' host"), "cannot be set"),
        ("--ssh", "-V".to_owned(), "not an option that is accepted"),
        ("--ssh", format!("host '$({touch})'"), "follows the destination"),
        ("--via", "'open quote".to_owned(), "quote"),
    ] {
        let output = crate::launch(&host.tmux).args(&[flag, &text]).output().await;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{text}: {stderr}");
        assert!(stderr.contains(reason) && stderr.contains(&flag[2..]), "{text}: {stderr}");
    }
    assert!(!witness.exists());
}

#[tokio::test]
async fn hostile_names_run_nothing_there() {
    let host = OtherHost::new();
    let mcp = host.serve().await;
    let witness = host.tmux.home().join("witness");
    let touch = format!("touch {}", witness.display());
    for name in [
        format!("a'; {touch}; '"),
        format!("a\"; {touch}; \""),
        format!("$({touch})"),
        format!("`{touch}`"),
        format!("a\n{touch}\n"),
        format!("a\\'\n{touch} #"),
        format!("#({touch})"),
    ] {
        for (tool, arguments) in [
            ("create_session", json!({"name": name})),
            ("capture_pane", json!({"target": name})),
            ("rename", json!({"target": "%0", "name": name})),
            ("set_buffer", json!({"text": name})),
            ("set_environment", json!({"name": "X", "value": name, "target": "main"})),
            ("create_pane", json!({"command": "true", "cwd": name, "name": name})),
            ("search_panes", json!({"pattern": name})),
        ] {
            let _ = mcp.call(tool, arguments).await.result();
        }
    }
    mcp.call("run_command", json!({"command": "true"})).await.ok();
    assert!(!witness.exists());
    mcp.close().await;
}
