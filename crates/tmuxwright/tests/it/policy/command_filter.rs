//! Tests of the command filter: every line is judged before it is entered, whichever tools send it.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer, until};

use crate::serve_configured;
use crate::support::{pane, ready_pane, screen, shows, string};

/// Denies lines that begin with `rm`.
pub(super) const DENY_RM: &str =
    "[policy.command_filter]\nmode = \"deny\"\npatterns = ['^\\s*rm\\b']";

/// A file that `rm` would remove if the filter let it through.
pub(super) struct DeletableFile {
    path: std::path::PathBuf,
}

impl DeletableFile {
    pub(super) fn new(tmux: &TmuxServer) -> Self {
        let path = tmux.home().join("deletable");
        std::fs::write(&path, "").unwrap();
        Self { path }
    }

    /// The line that removes it.
    pub(super) fn rm_line(&self) -> String {
        format!("rm {}", self.path.display())
    }

    pub(super) fn exists(&self) -> bool {
        self.path.exists()
    }
}

/// A pane with a shell at its prompt.
pub(super) async fn shell(mcp: &Mcp) -> String {
    ready_pane(mcp, "PS1='$ ' exec sh", "$").await
}

/// Clears the line and runs another, so that the shell has processed all earlier input.
async fn settle(mcp: &Mcp, pane: &str) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let interrupts = async || {
        let all = json!({"target": pane, "start": -1000});
        mcp.call("capture_pane", all).await.text().matches("^C").count()
    };
    let before = interrupts().await;
    mcp.call("send_keys", json!({"target": pane, "keys": ["C-c"]})).await.text();
    // A shell that still handles C-c may lose input that follows at once.
    until("the shell shows a new prompt", async || {
        let again = interrupts().await > before;
        let shown = screen(mcp, pane).await;
        // Between two commands the terminal echoes the key, and the prompt follows in the same row.
        let prompts = ["\n$", "^C$"].iter().any(|end| shown.trim_end().ends_with(end));
        (again && prompts).then_some(())
    })
    .await;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let line = format!("echo se''ttled {number}");
    let line = json!({"target": pane, "text": line, "enter": true});
    mcp.call("send_keys", line).await.text();
    shows(mcp, pane, &format!("settled {number}")).await;
}

/// A key for each character.
fn keys_of(text: &str) -> Vec<String> {
    text.chars().map(|c| c.to_string()).collect()
}

#[tokio::test]
async fn denied_line_is_stopped_in_every_tool() {
    let tmux = TmuxServer::new();
    let file = DeletableFile::new(&tmux);
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = shell(&mcp).await;
    let rm = file.rm_line();
    let lines = format!("true\n  {rm}\ntrue");
    let continued = rm.replacen("rm", "r\\\nm", 1);
    let mut calls: Vec<(&'static str, Value)> = Vec::new();
    for command in [&rm, &lines, &continued] {
        calls.extend([
            ("run_command", json!({"command": command})),
            ("run_command", json!({"command": command, "target": target})),
            ("start_and_watch", json!({"command": command, "until": ["exit"]})),
            ("start_and_watch", json!({"command": command, "target": target, "until": ["exit"]})),
            ("run_in_repl", json!({"input": command, "target": target})),
            ("create_session", json!({"command": command})),
            ("create_window", json!({"command": command})),
            ("create_window", json!({"command": command, "target": "main"})),
            ("create_pane", json!({"command": command})),
            ("split_pane", json!({"command": command, "target": target})),
            ("send_keys", json!({"text": command, "enter": true, "target": target})),
            ("paste_text", json!({"text": command, "enter": true, "target": target})),
            (
                "paste_text",
                json!({"text": format!("{command}\n"), "bracketed": false, "target": target}),
            ),
        ]);
    }
    for enter in ["Enter", "C-m", "C-j", "KPEnter", "0x0d", "0x0a", "C-o", "C-d", "M-a"] {
        calls.push(("send_keys", json!({"text": rm, "keys": [enter], "target": target})));
    }
    let single = [keys_of(&rm), vec!["Enter".to_owned()]].concat();
    calls.push(("send_keys", json!({"keys": single, "target": target})));
    let hex: Vec<String> = rm.bytes().chain([13]).map(|byte| format!("0x{byte:02x}")).collect();
    calls.push(("send_keys", json!({"keys": hex, "target": target})));
    calls.push(("send_keys", json!({"keys": single, "delay_ms": 1, "target": target})));
    let before = tmux.tmux(&["list-panes", "-a"]);
    for (tool, arguments) in calls {
        let error = mcp.call(tool, arguments.clone()).await.err("denied");
        assert!(error.contains("policy.command_filter"), "{tool} {arguments}: {error}");
        assert!(error.contains("`^\\s*rm\\b`"), "{tool} {arguments}: {error}");
        assert!(error.contains("a person can"), "{tool} {arguments}: {error}");
        assert!(!error.contains("deletable"), "{tool}: {error}");
    }
    assert_eq!(tmux.tmux(&["list-panes", "-a"]), before, "a pane was made");
    assert_eq!(screen(&mcp, &target).await.trim(), "$", "something was typed");
    for (tool, arguments) in [
        ("run_command", json!({"command": "echo rm; # rm"})),
        ("run_command", json!({"command": "echo ls", "target": target})),
        ("create_pane", json!({"command": "echo rm"})),
        ("paste_text", json!({"text": "echo rm", "enter": true, "target": target})),
    ] {
        mcp.call(tool, arguments).await.text();
    }
    settle(&mcp, &target).await;
    assert!(file.exists());
    mcp.close().await;
}

/// Each list is one attempt: every call but the last is allowed.
#[tokio::test]
async fn pieces_from_several_tools_form_one_line() {
    let tmux = TmuxServer::new();
    let file = DeletableFile::new(&tmux);
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = shell(&mcp).await;
    let rest = file.rm_line().replacen("rm", "m", 1);
    let attempts: Vec<Vec<(&'static str, Value)>> = vec![
        vec![
            ("send_keys", json!({"text": "r"})),
            ("paste_text", json!({"text": rest})),
            ("send_keys", json!({"keys": ["Enter"]})),
        ],
        vec![
            ("paste_text", json!({"text": "r", "bracketed": false})),
            ("send_keys", json!({"keys": ["0x6d", "Space"]})),
            ("send_keys", json!({"enter": true})),
        ],
        vec![("send_keys", json!({"text": "r"})), ("run_in_repl", json!({"input": rest}))],
        vec![
            ("send_keys", json!({"text": "true\nr"})),
            ("send_keys", json!({"text": rest, "enter": true})),
        ],
        vec![
            ("send_keys", json!({"text": "r\\\n"})),
            ("send_keys", json!({"text": rest, "enter": true})),
        ],
        vec![
            ("paste_text", json!({"text": "r\n"})),
            ("send_keys", json!({"text": rest, "enter": true})),
        ],
        vec![
            ("send_keys", json!({"keys": ["r"], "delay_ms": 1})),
            ("send_keys", json!({"text": rest, "keys": ["Enter"], "repeat": 2})),
        ],
        vec![
            ("send_keys", json!({"text": "m ", "repeat": 3})),
            ("send_keys", json!({"text": "\nrm ", "repeat": 2})),
        ],
    ];
    for attempt in attempts {
        let last = attempt.len() - 1;
        for (at, (tool, mut arguments)) in attempt.into_iter().enumerate() {
            arguments["target"] = json!(target);
            let done = mcp.call(tool, arguments.clone()).await;
            if at < last {
                done.text();
            } else {
                let error = done.err("denied");
                assert!(error.contains("pattern 1"), "{tool} {arguments}: {error}");
            }
        }
        settle(&mcp, &target).await;
    }
    assert!(file.exists());
    mcp.close().await;
}

#[tokio::test]
async fn editing_keys_cannot_rebuild_a_denied_line() {
    let tmux = TmuxServer::new();
    let file = DeletableFile::new(&tmux);
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = pane(&mcp, "PS1='$ ' exec bash --norc --noprofile -i").await;
    shows(&mcp, &target, "$").await;
    let keys =
        async |keys: Value| mcp.call("send_keys", json!({"target": target, "keys": keys})).await;
    let rest = file.rm_line().replacen("rm", "m", 1);
    for edit in [
        json!(["x", "BSpace", "r"]),
        json!(["m", "Home", "r", "End"]),
        json!(["m", "C-a", "r", "C-e"]),
        json!(["x", "C-u", "r"]),
        json!(["x", "C-w", "r"]),
        json!(["x", "0x7f", "r"]),
        json!(["x", "0x08", "r"]),
        json!(["x", "Left", "DC", "r"]),
        json!(["Up"]),
        json!(["C-r", "r"]),
        json!(["m", "r", "C-t"]),
    ] {
        keys(edit.clone()).await.text();
        let line = json!({"target": target, "text": rest, "enter": true});
        let error = mcp.call("send_keys", line).await.err("denied");
        assert!(error.contains("C-c"), "{edit}: {error}");
        settle(&mcp, &target).await;
    }
    // While a shell completes a word, C-c may end only the completion.
    let error = keys(json!(["r", "Tab", "C-c", "Enter"])).await.err("denied");
    assert!(error.contains("run_command"), "{error}");
    // Input right after C-c may be lost in part.
    let error = keys(json!(["C-c", "x", "r", "m", "Enter"])).await.err("denied");
    assert!(error.contains("a call of its own"), "{error}");
    // C-v quotes C-c, which then does not clear the line.
    let error = keys(json!(["r", "C-v", "C-c", "Enter"])).await.err("denied");
    assert!(error.contains("run_command"), "{error}");
    // Only a command that finds an empty prompt makes the line known again.
    keys(json!(["l", "C-d"])).await.text();
    keys(json!(["C-c", "l", "s", "Enter"])).await.err("denied");
    keys(json!(["C-c"])).await.text();
    mcp.call("run_command", json!({"target": target, "command": "true"})).await.text();
    settle(&mcp, &target).await;
    assert!(file.exists());
    mcp.close().await;
}

/// Line editors expand the line, start an editor or a program, or run a widget on these keys. The byte
/// 0x85 is M-C-e outside UTF-8, and the second byte of `Å`.
#[tokio::test]
async fn keys_that_expand_a_line_are_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let started = tmux.home().join("started");
    let text = format!("echo $(touch {})", started.display());
    for shell in Shell::ALL {
        let target = ready_pane(&mcp, &format!("exec {} -i", shell.name()), shell.prompt()).await;
        let before = screen(&mcp, &target).await;
        let mut calls = vec![("paste_text", json!({"text": "Å"}))];
        for key in [
            "Tab", "BTab", "C-i", "0x09", "Escape", "0x1b", "C-[", "M-C-e", "M-e", "M-v", "M-p",
            "M-l", "M-a", "C-x", "C-v", "C-o", "F1", "F12", "S-Up", "C-Left", "0x85", "Å",
        ] {
            calls.push(("send_keys", json!({"text": text, "keys": [key]})));
            calls.push(("send_keys", json!({"keys": [key]})));
        }
        calls.push(("send_keys", json!({"keys": ["C-x", "C-e"]})));
        calls.push(("paste_text", json!({"text": format!("{text}\t")})));
        for (tool, mut arguments) in calls {
            arguments["target"] = json!(target);
            let error = mcp.call(tool, arguments.clone()).await.err("denied");
            assert!(error.contains(shell.name()), "{arguments}: {error}");
            assert!(error.contains("run_command"), "{arguments}: {error}");
        }
        assert_eq!(screen(&mcp, &target).await, before, "{shell:?}");
        let allowed = json!({"target": target, "text": "x", "keys": ["Left", "Home", "DC", "C-c"]});
        mcp.call("send_keys", allowed).await.text();
    }
    assert!(!started.exists());
    mcp.close().await;
}

#[tokio::test]
async fn monitor_gets_every_key_despite_the_filter() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = ready_pane(&mcp, "top", "PID").await;
    for key in ["Down", "NPage", "Tab", "Escape", "F1", "M-v"] {
        mcp.call("send_keys", json!({"target": target, "keys": [key]})).await.text();
    }
    mcp.close().await;
}

/// A signal may discard typed input, and a mode may consume it.
#[tokio::test]
async fn input_that_may_be_lost_is_not_trusted() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = shell(&mcp).await;
    let send = async |arguments: Value| {
        let mut arguments = arguments;
        arguments["target"] = json!(target);
        mcp.call("send_keys", arguments).await
    };
    send(json!({"text": "Z"})).await.text();
    let signal = json!({"target": target, "signal": "INT"});
    mcp.call("send_signal", signal).await.text();
    send(json!({"text": "rm x", "enter": true})).await.err("denied");
    settle(&mcp, &target).await;
    send(json!({"text": "r"})).await.text();
    tmux.tmux(&["copy-mode", "-t", &target]);
    let error = send(json!({"keys": ["C-c"]})).await.err("denied");
    assert!(error.contains("copy-mode") && error.contains("\"q\""), "{error}");
    send(json!({"keys": ["q"]})).await.text();
    send(json!({"text": "m x", "enter": true})).await.err("denied");
    settle(&mcp, &target).await;
    tmux.tmux(&["set-option", "-w", "-t", &target, "synchronize-panes", "on"]);
    let error = send(json!({"text": "r"})).await.err("denied");
    assert!(error.contains("policy.command_filter"), "{error}");
    mcp.close().await;
}

/// A slow call keeps its turn: no other call types between its keys.
#[tokio::test]
async fn slow_typing_holds_the_panes_turn() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = shell(&mcp).await;
    let slow = json!({"target": target, "keys": ["r", "e", "m"], "delay_ms": 400});
    let slow = mcp.call("send_keys", slow);
    let fast = async {
        shows(&mcp, &target, "$ r").await;
        let rest = json!({"target": target, "text": "m x", "enter": true});
        mcp.call("send_keys", rest).await.text();
    };
    let (slow, ()) = futures::join!(slow, fast);
    slow.text();
    shows(&mcp, &target, "$ remm x").await;
    mcp.close().await;
}

#[tokio::test]
async fn cancelled_typing_leaves_an_unknown_line() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    let target = shell(&mcp).await;
    let calls = json!([{"tool": "send_keys", "arguments": {
        "target": target, "text": "r", "keys": ["x"], "delay_ms": 9000}}]);
    let slow = mcp.call("batch", json!({"calls": calls}));
    tokio::select! {
        _ = slow => {}
        _ = shows(&mcp, &target, "$ r") => {}
    }
    // The turn is released when the call has ended.
    until("another call gets its turn", async || {
        let rest = json!({"target": target, "text": "m x", "enter": true});
        let result = mcp.call("send_keys", rest).await.result();
        let code = result.meta?.0.get("tmuxwright/code")?.clone();
        assert!(code == "busy" || code == "denied", "{code}");
        (code == "denied").then_some(())
    })
    .await;
    mcp.close().await;
}

#[tokio::test]
async fn allow_mode_requires_every_line_to_match() {
    let tmux = TmuxServer::new();
    let config = "[policy.command_filter]\nmode = \"allow\"\npatterns = ['^echo [a-z ]*$', '^sh$']";
    let mcp = serve_configured(&tmux, config).await;
    let target = ready_pane(&mcp, "sh", "$").await;
    for (tool, arguments) in [
        ("run_command", json!({"command": "echo one\n\necho two"})),
        ("run_command", json!({"command": "echo one", "target": target})),
        ("send_keys", json!({"text": "echo three", "enter": true, "target": target})),
        ("paste_text", json!({"text": "echo four\necho five", "enter": true, "target": target})),
        ("send_keys", json!({"enter": true, "target": target})),
        ("create_session", json!({})),
    ] {
        mcp.call(tool, arguments).await.text();
    }
    for (tool, arguments) in [
        ("run_command", json!({"command": "echo one\nls"})),
        ("run_command", json!({"command": "echo $(ls)"})),
        ("send_keys", json!({"text": "ls", "enter": true, "target": target})),
        ("send_keys", json!({"text": "echo one; ls\n", "target": target})),
        ("paste_text", json!({"text": "echo one\nls", "enter": true, "target": target})),
        ("split_pane", json!({"command": "ls", "target": target})),
    ] {
        let error = mcp.call(tool, arguments).await.err("denied");
        assert!(error.contains("none of the allowed patterns"), "{error}");
    }
    mcp.close().await;
}

/// Shells execute the values of some variables.
#[tokio::test]
async fn filter_allows_only_listed_environment_variables() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, DENY_RM).await;
    for name in ["ENV", "BASH_ENV", "PROMPT_COMMAND", "PS1", "PAGER", "LD_PRELOAD", "PORT"] {
        let mut env = serde_json::Map::new();
        env.insert(name.to_owned(), json!("x"));
        let error = mcp.call("create_session", json!({"env": env})).await.err("denied");
        assert!(error.contains(&format!("`{name}`")) && error.contains("policy.env"), "{error}");
    }
    mcp.close().await;
    let mcp = serve_configured(&tmux, &format!("policy.env = [\"PORT\"]\n{DENY_RM}")).await;
    let made = mcp.call("create_pane", json!({"command": "echo :$PORT:", "env": {"PORT": "8"}}));
    shows(&mcp, &string(&made.await.ok()["pane_id"]), ":8:").await;
    mcp.close().await;
}
