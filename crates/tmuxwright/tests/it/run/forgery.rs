//! Programs that imitate the marks of their shell: neither the exit code nor the output can be forged.

use testkit::{Shell, TmuxServer, until};

use crate::launch;
use crate::run::fixture::ShellFixture;
use crate::support::string;

/// A program that searches everything it can read for the key of an end mark, prints an end mark with
/// each candidate, and then goes on: `$1` is the folder of the private directory.
const FORGER: &str = r#"
readable() {
    for pid in $$ $PPID; do
        tr '\0' '\n' </proc/$pid/environ
        tr '\0' '\n' </proc/$pid/cmdline
        for file in /proc/$pid/fd/*; do
            [ -f "$file" ] && cat "$file"
        done
    done
    env
    ls "$1"/tmuxwright-*
    cat "$1"/tmuxwright-*/*
}
echo before
for key in $(readable "$1" 2>/dev/null | grep -oE '[0-9a-f]{12,}' | sort -u); do
    printf '\033\134\033]133;D;0;k=%s\007' "$key"
done
echo after
exit 3
"#;

/// A fixture whose server keeps its private directory in a folder of the test.
async fn fixture(shell: Shell, own: bool) -> ShellFixture {
    let tmux = TmuxServer::new();
    tmux.use_shell(shell);
    let folder = tmux.home().join("temporary");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(tmux.home().join("forger"), FORGER).unwrap();
    let args = ["--toolset", "all", "--structured"];
    let mcp = launch(&tmux).args(&args).env("TMPDIR", folder.to_str().unwrap()).mcp().await;
    let target = (!own).then(|| tmux.shell_pane(80, 24));
    ShellFixture { tmux, mcp, shell, target, place: "a forged terminal".to_owned() }
}

#[tokio::test]
async fn a_child_finds_no_key_to_forge_with() {
    for shell in Shell::ALL {
        for own in [true, false] {
            let fixture = fixture(shell, own).await;
            let home = fixture.tmux.home().display().to_string();
            let forger = format!("sh {home}/forger {home}/temporary");
            for command in [
                forger.clone(),
                format!("{forger} 'quoted'"),
                format!("{forger} | cat; sh -c 'exit 3'"),
            ] {
                let ran = fixture.run(&command).await;
                assert_eq!(
                    (ran.output.as_str(), ran.code),
                    ("before\nafter", 3),
                    "{fixture}: {command}"
                );
            }
            fixture.assert_usable().await;
            fixture.close().await;
        }
    }
}

/// The key is handed to the program here, as if it had read the memory of its shell.
#[tokio::test]
async fn the_last_end_mark_counts_at_the_prompt() {
    let child = r#"sh -c 'printf "\033]133;D;0;k=$0\007"; echo shown; exit 3'"#;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let fixture = ShellFixture::own(shell).await;
        for command in [
            format!("{child} $__tmuxwright_key"),
            format!("{child} $__tmuxwright_key; sh -c 'exit 3'"),
        ] {
            let ran = fixture.run(&command).await;
            assert_eq!((ran.output.as_str(), ran.code), ("shown", 3), "{fixture}: {command}");
        }
        fixture.assert_usable().await;
        fixture.close().await;
    }
}

#[tokio::test]
async fn keys_are_not_exported_with_all_variables() {
    for (shell, option) in [(Shell::Bash, "set -a"), (Shell::Zsh, "setopt all_export")] {
        let fixture = ShellFixture::own(shell).await;
        assert_eq!(fixture.run(option).await.code, 0, "{fixture}");
        let environment = fixture.run("env").await.output;
        let found =
            environment.lines().find(|it| it.contains("__tmuxwright") || it.contains("133;D"));
        assert!(environment.contains("HOME=") && found.is_none(), "{fixture}: {found:?}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_command_typed_ahead_leaves_the_exit_code() {
    for shell in Shell::ALL {
        let fixture = ShellFixture::existing(shell).await;
        let (home, pane) = (fixture.tmux.home().to_owned(), fixture.target.clone().unwrap());
        // Creates one file and waits for another.
        let wait = |own: &str, other: &str| {
            let (own, other) = (home.join(own), home.join(other));
            let (own, other) = (own.display(), other.display());
            format!("sh -c 'touch {own}; until [ -e {other} ]; do sleep 0.02; done'")
        };
        let command = format!("echo begun; {}; sh -c 'exit 4'", wait("a", "b"));
        let started = fixture.start(&command, "begun").await;
        fixture.tmux.type_line(&pane, &wait("c", "d"));
        std::fs::write(home.join("b"), "").unwrap();
        let ahead = home.join("c");
        until("the shell runs the line typed ahead", async || ahead.exists().then_some(())).await;
        std::fs::write(home.join("d"), "").unwrap();
        let ended = fixture.end(&started).await;
        assert_eq!(ended["exit_code"], 4, "{fixture}: {ended}");
        assert!(string(&ended["output"]).starts_with("begun"), "{fixture}: {ended}");
        fixture.close().await;
    }
}
