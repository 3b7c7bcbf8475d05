//! The whole crate with real programs in panes of a private tmux server.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use testkit::{TmuxServer, wait_until};

use super::*;

/// A pid that no process has.
const NO_PROCESS: u32 = u32::MAX - 1;

/// Starts a program in a new pane and returns its pid.
pub(super) fn pane(tmux: &TmuxServer, command: &str) -> u32 {
    let command = format!("exec {command}");
    tmux.tmux(&["new-window", "-d", "-P", "-F", "#{pane_pid}", &command]).parse().unwrap()
}

fn type_into(tmux: &TmuxServer, pid: u32, line: &str) {
    let panes = tmux.tmux(&["list-panes", "-s", "-F", "#{pane_pid} #{pane_id}"]);
    let mut panes = panes.lines().map(|line| line.split_once(' ').unwrap());
    let (_, pane) = panes.find(|(pane_pid, _)| *pane_pid == pid.to_string()).unwrap();
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

pub(super) fn wait_for_input(pid: u32, expected: InputState) {
    wait_until(&format!("`{:?}` reads {expected:?}", foreground(pid)), || {
        (input_state(pid) == expected).then_some(())
    });
}

#[test]
fn shells_are_recognized_at_their_prompts() {
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
fn foreground_changes_with_the_running_command() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash --norc");
    wait_for_name(pid, "bash");
    type_into(&tmux, pid, "sleep 1000");
    let sleep = wait_for_argv(pid, "sleep 1000");
    assert_eq!((sleep.argv.len(), sleep.name.as_str()), (2, "sleep"));
    assert_eq!((sleep.group, sleep.started), (sleep.pid, started(sleep.pid)));
    assert_eq!(shell(&foreground(pid).unwrap()), None);

    let signalled = signal_foreground(pid, Signal::TERM).unwrap();
    assert_eq!((signalled.pid, signalled.name.as_str()), (sleep.pid, "sleep"));
    wait_for_name(pid, "bash");

    // The group has the pid of the pipeline's first process, which may exit before the others.
    type_into(&tmux, pid, "true | cat - /dev/tty");
    let cat = wait_for_argv(pid, "cat - /dev/tty");
    assert_ne!(cat.pid, cat.group);
    #[cfg(target_os = "linux")]
    wait_for_input(pid, InputState::Line);
}

#[test]
fn login_shell_is_named_without_its_dash() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'exec -a -bash bash --norc --noprofile'");
    let program = wait_until("the login shell runs", || {
        foreground(pid).filter(|program| program.argv.first().is_some_and(|name| name == "-bash"))
    });
    assert_eq!((program.name.as_str(), shell(&program)), ("bash", Some(ShellKind::Bash)));
}

#[test]
fn overwritten_arguments_yield_the_kernel_name() {
    let argv = |text: &str| vec![text.to_owned()];
    let kernel_name = || Some("npm run".to_owned());
    assert_eq!(program_name(&argv("npm run a/b"), kernel_name), "npm run");
    assert_eq!(program_name(&[], kernel_name), "npm run");
    assert_eq!(program_name(&argv(""), || None), "");
    assert_eq!(program_name(&argv("/usr/bin/vi"), kernel_name), "vi");
}

#[test]
fn missing_process_has_no_properties() {
    assert_eq!(foreground(NO_PROCESS), None);
    assert_eq!(input_state(NO_PROCESS), InputState::Unknown);
    assert_eq!((cwd(NO_PROCESS), uid(NO_PROCESS), age(NO_PROCESS)), (None, None, None));
    assert_eq!((started(NO_PROCESS), sees_our_files(NO_PROCESS)), (None, None));
    let refused = signal_foreground(NO_PROCESS, Signal::TERM).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!("no program has the terminal of process `{NO_PROCESS}`")
    );
}

#[test]
fn password_prompt_is_recognized_in_the_foreground() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'read -s secret'");
    wait_for_input(pid, InputState::Password);
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
    assert_eq!(other_session_processes(pid), Some(Vec::new()));
    type_into(&tmux, pid, "sleep 1000 &");
    wait_until("the job runs", || other_session_processes(pid).filter(|jobs| jobs.len() == 1));
}

#[test]
fn cwd_is_unknown_once_the_directory_is_removed() {
    let tmux = TmuxServer::new();
    let dir = tmux.home().canonicalize().unwrap().join("a (deleted)");
    fs::create_dir(&dir).unwrap();
    let args = ["new-window", "-d", "-P", "-F", "#{pane_pid}", "-c", dir.to_str().unwrap()];
    let pid = tmux.tmux(&[&args[..], &["exec cat"]].concat()).parse().unwrap();
    wait_until("the process is in its directory", || (cwd(pid) == Some(dir.clone())).then_some(()));
    fs::remove_dir(&dir).unwrap();
    assert_eq!(cwd(pid), None);
}

#[tokio::test]
async fn exit_is_reported() {
    let tmux = TmuxServer::new();
    for polled in [false, true] {
        let pid = pane(&tmux, "cat");
        wait_for_name(pid, "cat");
        let exit =
            async { if polled { exit::poll_until_gone(pid).await } else { exited(pid).await } };
        tokio::pin!(exit);
        assert!(futures::poll!(exit.as_mut()).is_pending());
        signal_foreground(pid, Signal::KILL).unwrap();
        let reported = tokio::time::timeout(Duration::from_secs(20), exit).await;
        assert!(reported.is_ok(), "polled: {polled}");
    }
    exited(NO_PROCESS).await;
    exit::poll_until_gone(NO_PROCESS).await;
}

#[test]
fn process_has_a_user_and_an_age() {
    let tmux = TmuxServer::new();
    let (me, pid) = (std::process::id(), pane(&tmux, "cat"));
    assert_eq!(uid(me), Some(rustix::process::geteuid().as_raw()));
    assert_eq!(sees_our_files(me), Some(true));
    assert!(age(pid).unwrap() < Duration::from_secs(60), "{:?}", age(pid));
    assert!(age(me) >= age(pid));
    assert!(age(1).unwrap() > age(me).unwrap());
}

#[test]
fn ancestors_begin_with_process_and_parent() {
    let me = std::process::id();
    let chain = ancestors(me);
    let parent = u32::try_from(rustix::process::getppid().unwrap().as_raw_nonzero().get());
    assert_eq!(chain[0], me);
    assert_eq!(Some(chain[1]), parent.ok());
}

#[test]
fn start_time_is_stable() {
    assert_eq!(started(std::process::id()), started(std::process::id()));
    assert!(started(std::process::id()).is_some());
    assert_eq!(started(NO_PROCESS), None);
}

#[test]
fn input_is_unread_until_a_program_reads_it() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "sh -c 'read line; exec sleep 1000'");
    wait_for_input(pid, InputState::Line);
    assert_eq!(has_unread_input(pid), Some(false));
    type_into(&tmux, pid, "read");
    wait_for_name(pid, "sleep");
    assert_eq!(has_unread_input(pid), Some(false));
    type_into(&tmux, pid, "left alone");
    wait_until("the line is unread", || has_unread_input(pid).filter(|unread| *unread));
    assert_eq!(has_unread_input(NO_PROCESS), None);
}
