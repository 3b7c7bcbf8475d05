//! Real programs on real terminals.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use testkit::{TmuxServer, wait_until};

use super::*;

const NOBODY: u32 = u32::MAX - 1;

/// Starts a program in a pane of its own and returns its process.
pub(super) fn pane(tmux: &TmuxServer, command: &str) -> u32 {
    let command = format!("exec {command}");
    tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_pid}", &command]).parse().unwrap()
}

fn type_into(tmux: &TmuxServer, pid: u32, line: &str) {
    let panes = tmux.tmux(&["list-panes", "-s", "-F", "#{pane_pid} #{pane_id}"]);
    let mut panes = panes.lines().map(|line| line.split_once(' ').unwrap());
    let (_, pane) = panes.find(|(its, _)| *its == pid.to_string()).unwrap();
    tmux.tmux(&["send-keys", "-t", pane, line, "Enter"]);
}

pub(super) fn wait_for_name(pid: u32, name: &str) -> Foreground {
    wait_until(&format!("`{name}` has the terminal"), || {
        foreground(pid).filter(|program| program.name == name)
    })
}

pub(super) fn wait_for_argv(pid: u32, argv: &str) -> Foreground {
    wait_until(&format!("`{argv}` has the terminal"), || {
        foreground(pid).filter(|program| program.argv.join(" ") == argv)
    })
}

pub(super) fn wait_for_input(pid: u32, expected: Input) {
    wait_until(&format!("`{:?}` reads {expected:?}", foreground(pid)), || {
        (input(pid) == expected).then_some(())
    });
}

#[test]
fn shells_are_known_at_their_prompts() {
    let tmux = TmuxServer::new();
    for (command, name, kind) in [
        ("bash --norc", "bash", ShellKind::Bash),
        ("zsh -f", "zsh", ShellKind::Zsh),
        ("fish --no-config", "fish", ShellKind::Fish),
        ("dash", "dash", ShellKind::Dash),
    ] {
        let pid = pane(&tmux, command);
        let program = wait_for_argv(pid, command);
        assert_eq!((program.pid, program.group), (pid, pid), "{command}");
        assert_eq!(program.name, name);
        assert_eq!(program.started, started(pid));
        assert_eq!(shell(&program), Some(kind), "{command}");
    }
}

#[test]
fn the_foreground_follows_the_shell() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash --norc");
    wait_for_name(pid, "bash");
    type_into(&tmux, pid, "sleep 1000");
    let sleep = wait_for_argv(pid, "sleep 1000");
    assert_eq!((sleep.argv.len(), sleep.name.as_str()), (2, "sleep"));
    assert_eq!((sleep.group, sleep.started), (sleep.pid, started(sleep.pid)));
    assert_eq!(shell(&foreground(pid).unwrap()), None);

    let told = signal_foreground(pid, Signal::TERM).unwrap();
    assert_eq!((told.pid, told.name.as_str()), (sleep.pid, "sleep"));
    wait_for_name(pid, "bash");

    // The first of a pipeline gives the group its number, and may be gone while others run.
    type_into(&tmux, pid, "true | cat - /dev/tty");
    let cat = wait_for_argv(pid, "cat - /dev/tty");
    assert_ne!(cat.pid, cat.group);
    #[cfg(target_os = "linux")]
    wait_for_input(pid, Input::Line);
}

#[test]
fn a_login_shell_is_called_as_others_are() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'exec -a -bash bash --norc --noprofile'");
    let program = wait_until("it is a login shell", || {
        foreground(pid).filter(|program| program.argv.first().is_some_and(|name| name == "-bash"))
    });
    assert_eq!((program.name.as_str(), shell(&program)), ("bash", Some(ShellKind::Bash)));
}

#[test]
fn a_program_that_writes_over_its_arguments_has_a_name() {
    let argv = |text: &str| vec![text.to_owned()];
    let noted = || Some("npm run".to_owned());
    assert_eq!(program_name(&argv("npm run a/b"), noted), "npm run");
    assert_eq!(program_name(&[], noted), "npm run");
    assert_eq!(program_name(&argv(""), || None), "");
    assert_eq!(program_name(&argv("/usr/bin/vi"), noted), "vi");
}

#[test]
fn there_is_nothing_to_know_of_nobody() {
    assert_eq!(foreground(NOBODY), None);
    assert_eq!(input(NOBODY), Input::Unknown);
    assert_eq!((cwd(NOBODY), uid(NOBODY), age(NOBODY)), (None, None, None));
    assert_eq!((started(NOBODY), sees_our_files(NOBODY)), (None, None));
    let refused = signal_foreground(NOBODY, Signal::TERM).unwrap_err();
    assert_eq!(refused.to_string(), format!("no program has the terminal of process `{NOBODY}`"));
}

#[test]
fn password_prompt_is_recognized_in_the_foreground() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'read -s secret'");
    wait_for_input(pid, Input::Password);
    let program = foreground(pid).unwrap();
    assert_eq!((program.pid, program.group, program.name.as_str()), (pid, pid, "bash"));
    assert_eq!(program.argv, ["bash", "-c", "read -s secret"]);
}

#[test]
fn script_has_a_child_in_its_group() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'sleep 1000; true'");
    wait_until("`sleep` runs", || foreground_has_child(pid).filter(|&has| has));
    let pid = pane(&tmux, "sleep 1000");
    wait_for_name(pid, "sleep");
    assert_eq!(foreground_has_child(pid), Some(false));
}

#[test]
fn background_job_shares_the_session() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash --norc");
    wait_for_argv(pid, "bash --norc");
    assert_eq!(has_company(pid), Some(false));
    type_into(&tmux, pid, "sleep 1000 &");
    wait_until("the job runs", || has_company(pid).filter(|&has| has));
}

#[test]
fn cwd_is_unknown_once_the_directory_is_removed() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().canonicalize().unwrap().join("a (deleted)");
    fs::create_dir(&dir).unwrap();
    let args = ["new-window", "-d", "-P", "-F", "#{pane_pid}", "-c", dir.to_str().unwrap()];
    let pid = tmux.tmux(&[&args[..], &["exec cat"]].concat()).parse().unwrap();
    wait_until("it is in its directory", || (cwd(pid) == Some(dir.clone())).then_some(()));
    fs::remove_dir(&dir).unwrap();
    assert_eq!(cwd(pid), None);
}

#[tokio::test]
async fn an_exit_is_noticed() {
    let tmux = TmuxServer::new();
    for by_looking in [false, true] {
        let pid = pane(&tmux, "cat");
        wait_for_name(pid, "cat");
        let exit =
            async { if by_looking { exit::poll_until_gone(pid).await } else { exited(pid).await } };
        tokio::pin!(exit);
        assert!(futures::poll!(exit.as_mut()).is_pending());
        signal_foreground(pid, Signal::KILL).unwrap();
        let end = tokio::time::timeout(Duration::from_secs(20), exit).await;
        assert!(end.is_ok(), "by looking: {by_looking}");
    }
    exited(NOBODY).await;
    exit::poll_until_gone(NOBODY).await;
}

#[test]
fn a_process_belongs_to_somebody_and_has_an_age() {
    let tmux = TmuxServer::new();
    let (me, pid) = (std::process::id(), pane(&tmux, "cat"));
    assert_eq!(uid(me), Some(rustix::process::geteuid().as_raw()));
    assert_eq!(sees_our_files(me), Some(true));
    assert!(age(pid).unwrap() < Duration::from_secs(60), "{:?}", age(pid));
    assert!(age(me) >= age(pid));
    assert!(age(1).unwrap() > age(me).unwrap());
}

#[test]
fn ancestors_begin_with_the_process_and_reach_its_parent() {
    let me = std::process::id();
    let chain = ancestors(me);
    let parent = u32::try_from(rustix::process::getppid().unwrap().as_raw_nonzero().get());
    assert_eq!(chain[0], me);
    assert_eq!(Some(chain[1]), parent.ok());
}

#[test]
fn a_start_is_known_for_the_living_only() {
    assert_eq!(started(std::process::id()), started(std::process::id()));
    assert!(started(std::process::id()).is_some());
    assert_eq!(started(NOBODY), None);
}
