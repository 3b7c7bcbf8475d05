//! Attacks through environment variables.

use serde_json::json;
use testkit::{TmuxServer, wait_until};
use tmuxwright::policy::LOADING_VARIABLES;

use crate::serve;
use crate::support::random::Random;
use crate::support::{shows, string};

/// Names of random characters.
const RANDOM_NAMES: usize = 1_000;

const CHARACTERS: &[&str] = &[
    "A", "b", "_", "7", "@", "-", "=", ".", "[", "]", "#", "{", "}", "(", ")", "%", " ", "\n", "é",
];

/// Variables of shells and the linker, with values that would create the file `ran`.
fn loading(tmux: &TmuxServer) -> Vec<(String, String)> {
    let touch = format!("touch {}", tmux.home().join("ran").display());
    let script = tmux.home().join("evil");
    std::fs::create_dir(&script).unwrap();
    for file in ["file", ".zshenv", ".zshrc", ".bashrc", ".profile", "sh"] {
        std::fs::write(script.join(file), format!("#!/bin/sh\n{touch}\n")).unwrap();
    }
    let (folder, file) = (script.display().to_string(), script.join("file").display().to_string());
    let mut all = Vec::new();
    for variable in LOADING_VARIABLES {
        let name = variable.name.replace('*', "X");
        for value in [&touch, &folder, &file, &format!("$({touch})")] {
            all.push((name.clone(), value.clone()));
        }
    }
    for name in ["ENV", "BASH_ENV", "ZDOTDIR", "PROMPT_COMMAND", "PS1", "PS4", "LD_PRELOAD", "PATH"]
    {
        for value in [&touch, &folder, &file, &format!("$({touch})")] {
            all.push((name.to_owned(), value.clone()));
        }
    }
    all
}

#[tokio::test]
async fn variables_load_no_code_into_shells_of_others() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let before = tmux.tmux(&["show-environment", "-g"]);
    for (name, value) in loading(&tmux) {
        for mut set in [json!({"global": true}), json!({"target": "main"})] {
            set["name"] = json!(name);
            set["value"] = json!(value);
            let error = mcp.call("set_environment", set).await.err("denied");
            assert!(error.contains(&name) && error.contains("`policy.env`"), "{error}");
        }
    }
    assert_eq!(tmux.tmux(&["show-environment", "-g"]), before);
    for shell in ["bash", "bash -c 'echo $'", "zsh", "sh -i"] {
        let pane = tmux.open(&format!("{shell}; read x"));
        wait_until("the shell has started", || {
            tmux.screen(&pane).contains(['$', '%', '#']).then_some(())
        });
    }
    assert!(!tmux.home().join("ran").exists());
    for name in ["BASH_ENV", "ENV", "LD_PRELOAD", "PROMPT_COMMAND", "PS1", "ZDOTDIR"] {
        let call = json!({"command": "true", "env": {name: "x"}});
        mcp.call("create_pane", call).await.err("denied");
    }
    let pager = json!({"command": "echo $PAGER; exec cat", "env": {"PAGER": "more"}});
    let pane = string(&mcp.call("create_pane", pager).await.ok()["pane_id"]);
    shows(&mcp, &pane, "more").await;
    mcp.close().await;
}

#[tokio::test]
async fn generated_variable_names_are_those_of_shells() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let mut random = Random(3);
    let mut accepted = 0;
    for _ in 0..RANDOM_NAMES {
        let name = random.join(CHARACTERS, 6);
        let set = json!({"name": name, "value": "x", "target": "main"});
        let set = mcp.call("set_environment", set).await;
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let valid =
            plain && !name.starts_with(|c: char| c.is_ascii_digit()) && !name.starts_with('_');
        assert_eq!(set.result().is_error != Some(true), valid, "{name:?}");
        accepted += usize::from(valid);
    }
    assert!(accepted > 10, "{accepted}");
    mcp.close().await;
}
