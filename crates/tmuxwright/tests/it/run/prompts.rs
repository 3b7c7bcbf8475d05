//! Prompts of all kinds: those at which commands run at once, and those that need an interrupt first.

use serde_json::json;
use testkit::TmuxServer;

use crate::run::fixture::assert_usable;
use crate::run::gate::{
    BASH, DASH, FISH, ZSH, assert_refused, run, wait_for_prompt, wait_for_text,
};
use crate::serve;

#[tokio::test]
async fn commands_run_at_any_prompt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let fish = |text: &str| format!("function fish_prompt; {text}; end");
    for (shell, setting) in [
        (BASH, "PS1='\\w\\n$ '".to_owned()),
        (BASH, "PS1='one\\ntwo\\nthree\\n❯ '".to_owned()),
        (BASH, "PS1='\\t $ '".to_owned()),
        (BASH, "PS1='\\[\\e[1;32m\\]me\\[\\e[0m\\] \\# \\$ '".to_owned()),
        (BASH, "PS1='$?$ '".to_owned()),
        (BASH, "PROMPT_COMMAND='echo a hook'".to_owned()),
        (BASH, "set -o vi".to_owned()),
        (BASH, "trap 'true' DEBUG".to_owned()),
        (ZSH, "PS1=$'%~\\n%# '".to_owned()),
        (ZSH, "PS1='%* %# '".to_owned()),
        (ZSH, "RPS1='%* right'".to_owned()),
        (ZSH, "bindkey -v".to_owned()),
        (ZSH, "precmd() { echo a hook }".to_owned()),
        (ZSH, "unsetopt prompt_cr prompt_sp".to_owned()),
        (FISH, fish("echo; echo above; echo '$ '")),
        // Under load fish 3.6 may print the output of a program after that of the builtin that follows it.
        (FISH, fish("echo (date +%T); echo -n '> '")),
        (FISH, "function fish_right_prompt; date; end".to_owned()),
        (FISH, "fish_vi_key_bindings".to_owned()),
        (DASH, "PS1='one\ntwo $ '".to_owned()),
        (DASH, "PS1='$(date +%T) # '".to_owned()),
    ] {
        let target = tmux.open_shell(shell);
        let context = format!("{shell}, {setting}");
        assert_eq!(run(&mcp, &target, &setting).await["exit_code"], 0, "{context}");
        assert_usable(&mcp, &target, &context).await;
        let result = run(&mcp, &target, "printf 'no end'; sh -c 'exit 42'").await;
        assert_eq!(result["exit_code"], 42, "{context}: {result}");
        assert_eq!(result["output"], "no end", "{context}: {result}");
        // After an Enter the gate has to recognise the prompt again.
        let before = wait_for_prompt(&tmux, &target, 0);
        tmux.presses(&target, &["Enter"]);
        wait_for_prompt(&tmux, &target, before + 1);
        assert_usable(&mcp, &target, &context).await;
        tmux.tmux(&["kill-pane", "-t", &target]);
    }
    mcp.close().await;
}

#[tokio::test]
async fn an_ambiguous_prompt_is_accepted_after_interrupt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in ["PS1='> ' exec bash --norc --noprofile -i", "PS1='> ' exec dash -i"] {
        let target = tmux.open_shell(shell);
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("continuation prompt") && error.contains("interrupt"), "{error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        assert_usable(&mcp, &target, shell).await;
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}

/// The hint of the refusal says so.
#[tokio::test]
async fn an_unusual_prompt_is_accepted_after_interrupt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for shell in [
        "PS1='host: ' exec bash --norc --noprofile -i",
        "PS1='host: ' exec zsh -f",
        "PS1='host $ me: ' exec dash -i",
    ] {
        let target = tmux.open(shell);
        wait_for_text(&tmux, &target, ":");
        let error = assert_refused(&tmux, &mcp, &target, "not_ready").await;
        assert!(error.contains("interrupt"), "{shell}: {error}");
        mcp.call("interrupt", json!({"target": target})).await.text();
        assert_usable(&mcp, &target, shell).await;
        assert_usable(&mcp, &target, shell).await;
    }
    mcp.close().await;
}
