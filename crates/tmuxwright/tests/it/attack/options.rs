//! Attacks through `set_option`, at the tiers `mutating` and `destructive`.

use serde_json::{Value, json};
use testkit::{Person, TmuxServer, wait_until};

use crate::{launch, serve, serve_configured};

/// The objects and buffers of a person.
fn belongings(tmux: &TmuxServer) -> Vec<String> {
    [
        &["list-sessions", "-F", "#{session_id} #{session_name} #{session_windows}"][..],
        &["list-windows", "-a", "-F", "#{session_id} #{window_id} #{window_name}"],
        &["list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{pane_title} #{pane_dead}"],
        &["list-buffers", "-F", "#{buffer_name} #{buffer_sample}"],
        &["show-environment", "-g"],
        &["list-keys"],
        &["show-hooks", "-g"],
        &["show-options", "-s", "command-alias"],
    ]
    .map(|command| tmux.tmux(command))
    .to_vec()
}

/// The names of all options and hooks of this tmux, and some that do not exist.
fn names(tmux: &TmuxServer) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for command in [
        &["show-options", "-s"][..],
        &["show-options", "-g"],
        &["show-options", "-gw"],
        &["show-hooks", "-g"],
    ] {
        let printed = tmux.tmux(command);
        let name = |line: &str| line.split([' ', '[']).next().unwrap_or_default().to_owned();
        names.extend(printed.lines().map(name));
    }
    names.dedup();
    assert!(names.len() > 100, "{names:?}");
    let more =
        ["command-alias[0]", "command-alias[99]", "status-l", "@mine", "@mcp_owner", "#S", ""];
    names.extend(more.map(str::to_owned));
    names
}

fn values(tmux: &TmuxServer) -> Vec<String> {
    let file = tmux.home().join("ran").display().to_string();
    vec![
        "on".to_owned(),
        "off".to_owned(),
        "0".to_owned(),
        "1".to_owned(),
        format!("#(touch {file})"),
        format!("#%p(touch {file})"),
        format!("#{{E:@job}}#{{@half}}(touch {file})"),
        format!("run-shell 'touch {file}'"),
        format!("touch {file}"),
        "list-clients=kill-server".to_owned(),
        tmux.home().join("precious").display().to_string(),
    ]
}

#[tokio::test]
async fn generated_options_take_and_run_nothing() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    tmux.tmux(&["set-option", "-gw", "automatic-rename", "off"]);
    tmux.tmux(&["set-buffer", "-b", "one", "1"]);
    tmux.tmux(&["set-buffer", "-b", "two", "2"]);
    let precious = tmux.home().join("precious");
    std::fs::write(&precious, "mine").unwrap();
    tmux.tmux(&["set-option", "-g", "@job", &values(&tmux)[4]]);
    let person = Person::attach(&tmux, "main", 90, 30);
    let mcp = serve(&tmux).await;
    let (before, pid) = (belongings(&tmux), tmux.pid());
    let mut accepted = 0;
    for name in names(&tmux) {
        for value in values(&tmux) {
            for mut arguments in [json!({"global": true}), json!({"target": "other"})] {
                arguments["name"] = Value::from(name.as_str());
                arguments["value"] = Value::from(value.as_str());
                let answer = mcp.call("set_option", arguments).await;
                assert!(
                    !answer.failed_with("lost") && !answer.failed_with("internal"),
                    "{answer:?}"
                );
                accepted += usize::from(answer.result().is_error != Some(true));
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
    // tmux draws the status line, detaches and starts shells with the options as they are now.
    let clients = tmux.tmux(&["list-clients", "-F", "#{client_control_mode} #{client_name}"]);
    let name = clients.lines().find_map(|line| line.strip_prefix("0 ")).unwrap();
    tmux.tmux(&["refresh-client", "-S", "-t", name]);
    tmux.tmux(&["detach-client", "-t", name]);
    drop(person);
    wait_until("the person's client is gone", || {
        let clients = tmux.tmux(&["list-clients", "-F", "#{?client_control_mode,,person}"]);
        (!clients.contains("person")).then_some(())
    });
    let pane = tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=main:"]);
    wait_until("a new window has a shell", || tmux.screen(&pane).contains('$').then_some(()));
    tmux.tmux(&["kill-pane", "-t", &pane]);
    tmux.tmux(&["run-shell", "true"]);
    assert!(!tmux.home().join("ran").exists());
    assert_eq!(std::fs::read_to_string(precious).unwrap(), "mine");
    assert_eq!(tmux.pid(), pid);
    for (before, after) in before.iter().zip(belongings(&tmux)) {
        assert_eq!(&after, before);
    }
    mcp.close().await;
}

#[tokio::test]
async fn unlisted_options_need_tier_and_config() {
    let tmux = TmuxServer::new();
    let unlisted = [
        ("command-alias[50]", "list-clients=kill-server"),
        ("default-command", "id"),
        ("default-shell", "/bin/sh"),
        ("destroy-unattached", "on"),
        ("exit-empty", "on"),
        ("history-file", "~/.bash_history"),
        ("buffer-limit", "1"),
        ("lock-command", "id"),
        ("update-environment", "LD_PRELOAD"),
        ("set-clipboard", "on"),
        ("synchronize-panes", "on"),
    ];
    let mutating = serve(&tmux).await;
    let own = mutating.call("create_session", json!({"name": "own"})).await.ok();
    let destructive = launch(&tmux);
    let args = ["--tier", "destructive", "--toolset", "all", "--structured"];
    let destructive = destructive.args(&args).mcp().await;
    for (name, value) in unlisted {
        for (mcp, target) in [(&mutating, &own["session_id"]), (&destructive, &json!("main"))] {
            let session = ["destroy", "default", "lock"].iter().any(|it| name.starts_with(it));
            let set = match session {
                true => json!({"name": name, "value": value, "target": target}),
                false => json!({"name": name, "value": value, "global": true}),
            };
            let error = mcp.call("set_option", set).await.err("denied");
            assert!(error.contains(name.split('[').next().unwrap()), "{error}");
            assert!(error.contains("`policy.options`"), "{error}");
        }
    }
    destructive.close().await;
    mutating.close().await;
    let config = "tier = \"destructive\"\n[policy]\noptions = [\"default-command\"]\n\
                  [policy.command_filter]\nmode = \"deny\"\npatterns = ['rm ']\n";
    let mcp = serve_configured(&tmux, config).await;
    let set = json!({"name": "default-command", "value": "rm x", "target": "main"});
    mcp.call("set_option", set).await.err("denied");
    let set = json!({"name": "default-command", "value": "exec /bin/sh", "target": "main"});
    assert_eq!(mcp.call("set_option", set).await.ok()["value"], "exec /bin/sh");
    mcp.call("set_option", json!({"name": "history-file", "value": "x"})).await.err("denied");
    mcp.close().await;
}

#[tokio::test]
async fn options_that_end_or_resize_need_own_objects() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let own = mcp.call("create_session", json!({"name": "own"})).await.ok();
    for (name, value) in [
        ("remain-on-exit", "off"),
        ("automatic-rename", "on"),
        ("window-size", "smallest"),
        ("history-limit", "100"),
        ("set-titles", "on"),
    ] {
        for place in [json!({"global": true}), json!({"target": "main"})] {
            let mut set = json!({"name": name, "value": value});
            set.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            let error = mcp.call("set_option", set).await.err("denied");
            assert!(error.contains("did not make") && error.contains("Next: "), "{error}");
        }
        let set = json!({"name": name, "value": value, "target": own["session_id"]});
        assert_eq!(mcp.call("set_option", set).await.ok()["value"], value);
    }
    mcp.close().await;
}
