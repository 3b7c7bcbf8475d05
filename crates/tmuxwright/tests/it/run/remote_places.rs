//! The checks of `run_command` in shells that are out of reach for command files: over ssh, behind script, of
//! another user, in another root, in a tmux within tmux, and within a command.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{Shell, TmuxServer, until, wait_until};

use crate::run::places::{InnerShell, Place};
use crate::run::shell_checks;
use crate::serve;

async fn assert_all_checks(place: Place, shell: InnerShell) {
    // An ordinary user without sudo cannot get to other users and roots.
    let Some(inner) = place.open(shell).await else { return };
    shell_checks::all(&inner.fixture).await;
    if place == Place::Ssh {
        shell_checks::runs_long_commands(&inner.fixture).await;
    }
    // busybox prints its prompt where the output goes.
    if shell != InnerShell::Busybox {
        shell_checks::survives_redirected_output(&inner.fixture).await;
    }
    inner.fixture.close().await;
}

/// One test for each shell in each place, since each takes seconds.
macro_rules! checks_in {
    ($($test:ident: $place:ident, $shell:expr;)*) => {
        $(#[tokio::test]
        async fn $test() {
            assert_all_checks(Place::$place, $shell).await;
        })*
    };
}

checks_in! {
    checks_hold_in_bash_over_ssh: Ssh, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_over_ssh: Ssh, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_over_ssh: Ssh, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_over_ssh: Ssh, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_over_ssh: Ssh, InnerShell::Busybox;
    checks_hold_in_bash_behind_script: Script, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_behind_script: Script, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_behind_script: Script, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_behind_script: Script, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_behind_script: Script, InnerShell::Busybox;
    checks_hold_in_bash_behind_su: Su, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_behind_su: Su, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_behind_su: Su, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_behind_su: Su, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_behind_su: Su, InnerShell::Busybox;
    checks_hold_in_bash_behind_sudo: Sudo, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_behind_sudo: Sudo, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_behind_sudo: Sudo, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_behind_sudo: Sudo, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_behind_sudo: Sudo, InnerShell::Busybox;
    checks_hold_in_bash_within_tmux: Tmux, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_within_tmux: Tmux, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_within_tmux: Tmux, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_within_tmux: Tmux, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_within_tmux: Tmux, InnerShell::Busybox;
    checks_hold_in_bash_within_a_command: InCommand, InnerShell::Plain(Shell::Bash);
    checks_hold_in_zsh_within_a_command: InCommand, InnerShell::Plain(Shell::Zsh);
    checks_hold_in_fish_within_a_command: InCommand, InnerShell::Plain(Shell::Fish);
    checks_hold_in_dash_within_a_command: InCommand, InnerShell::Plain(Shell::Dash);
    checks_hold_in_busybox_within_a_command: InCommand, InnerShell::Busybox;
    checks_hold_in_busybox_in_a_chroot: Chroot, InnerShell::Busybox;
}

/// A program that crashed has left the terminal there as its own line editor wants it.
#[tokio::test]
async fn raw_terminal_elsewhere_takes_commands() {
    for shell in [InnerShell::BASH, InnerShell::Plain(Shell::Zsh), InnerShell::Busybox] {
        let inner = Place::Script.open(shell).await.unwrap();
        let (tmux, target) = (&inner.fixture.tmux, inner.fixture.target.as_deref().unwrap());
        let raw = tmux.home().join("inner/raw");
        tmux.type_line(target, &format!("stty raw; : > {}", raw.display()));
        until("the terminal is raw", async || raw.exists().then_some(())).await;
        for _ in 0..2 {
            inner.fixture.assert_usable().await;
        }
        let modes = inner.fixture.run("stty -a").await.output;
        // zsh and busybox restore the modes that they know.
        assert!(modes.contains("-icrnl") || shell != InnerShell::BASH, "{modes}");
    }
}

/// `su USER -c` starts a session without a controlling terminal. There C-c is a signal for `su`, and ends it. fish does not
/// start there.
#[tokio::test]
async fn shell_without_controlling_terminal_takes_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = |name: &str| tmux.home().join(name).display().to_string();
    let program = "import subprocess, sys\nsubprocess.run(sys.argv[1:], start_new_session=True)\n";
    std::fs::write(file("session.py"), program).unwrap();
    let python = "import os, sys; print(os.path.realpath(sys.executable))";
    let (su, session) = (file("su"), file("session.py"));
    for (shell, start) in [
        (Shell::Bash, "env PS1='me@host:~$ ' bash --norc --noprofile -i"),
        (Shell::Zsh, "env PS1='me@host:~$ ' zsh -f -i"),
        (Shell::Dash, "env PS1='me@host:~$ ' dash -i"),
    ] {
        let script =
            format!("ln -sf \"$(python3 -c '{python}')\" {su}; exec {su} {session} {start}\n");
        std::fs::write(file("start"), script).unwrap();
        let target = tmux.open(&format!("exec sh {}", file("start")));
        wait_until("the prompt is shown", || {
            tmux.screen(&target).ends_with("me@host:~$").then_some(())
        });
        for number in 0..2 {
            let command = format!("echo it works {number}; (exit 3)");
            let arguments = json!({"target": target, "command": command});
            let answer = mcp.call("run_command", arguments).await.ok();
            assert_eq!(
                (&answer["output"], &answer["exit_code"]),
                (&json!(format!("it works {number}")), &json!(3)),
                "{shell:?}: {answer}"
            );
        }
    }
    mcp.close().await;
}

/// The leader of the foreground group is not the relay, but a program that has started it.
#[tokio::test]
async fn relay_behind_a_wrapper_takes_commands() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = |name: &str| tmux.home().join(name).display().to_string();
    let relay = format!("script -q -c {} /dev/null", file("shell"));
    let shell = "#!/bin/sh\nexec env PS1='me@host:~$ ' bash --norc --noprofile -i\n";
    std::fs::write(file("shell"), shell).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(file("shell"), executable).unwrap();
    for line in [format!("{relay}\necho bye\n"), format!("exec timeout --foreground 100 {relay}\n")]
    {
        std::fs::write(file("start"), &line).unwrap();
        let target = tmux.open(&format!("exec sh {}", file("start")));
        wait_until("the prompt is shown", || {
            tmux.screen(&target).ends_with("me@host:~$").then_some(())
        });
        for _ in 0..2 {
            let arguments = json!({"target": target, "command": "echo it works; (exit 3)"});
            let answer = mcp.call("run_command", arguments).await.ok();
            assert_eq!(
                (&answer["output"], &answer["exit_code"]),
                (&json!("it works"), &json!(3)),
                "{line}: {answer}"
            );
        }
    }
    mcp.close().await;
}
