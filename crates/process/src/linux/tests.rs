//! Who reads from a terminal, and who only looks like it: real programs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use testkit::{TmuxServer, wait_until};

use super::super::tests::{pane, wait_for_argv, wait_for_input, wait_for_name};
use super::super::{Foreground, Input, ShellKind, foreground, input, rustix_pid, shell};
use super::{input_by_place, is_alive};

/// What is found out where calls are not shown.
fn wait_for_input_by_place(pid: u32, expected: Input) {
    wait_until(&format!("`{:?}` reads {expected:?}, by place", foreground(pid)), || {
        (input_by_place(pid) == expected).then_some(())
    });
}

/// Waits until a process is held up in a call.
fn wait_for_sleep(pid: u32) {
    wait_until("it sleeps", || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") S ").then_some(())
    });
}

fn children(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn sh_is_the_shell_that_its_file_is() {
    let tmux = TmuxServer::new();
    for (file, kind) in [("bash", ShellKind::Bash), ("dash", ShellKind::Dash)] {
        let sh = tmux.home().join(file).join("sh");
        fs::create_dir(tmux.home().join(file)).unwrap();
        symlink(Path::new("/bin").join(file), &sh).unwrap();
        let command = format!("{} -i", sh.display());
        let program = wait_for_argv(pane(&tmux, &command), &command);
        assert_eq!((program.name.as_str(), shell(&program)), ("sh", Some(kind)));
    }
}

#[test]
fn a_shell_that_reads_commands_from_elsewhere_is_none() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'sleep 1000 | bash; true'");
    let program = wait_for_argv(pid, "bash -c sleep 1000 | bash; true");
    assert_eq!(shell(&program), None, "it was given a command");
    let inner = wait_until("the other shell runs", || {
        children(pid).into_iter().find(|child| {
            fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|argv| argv == b"bash\0")
        })
    });
    let inner = Foreground { pid: inner, argv: vec!["bash".into()], ..program };
    assert_eq!(shell(&inner), None, "it reads from a pipe");
}

#[test]
fn line_editors_and_full_screen_programs_read_keys() {
    let tmux = TmuxServer::new();
    for command in
        ["bash --norc", "zsh -f", "fish --no-config", "less /etc/passwd", "node -i", "python3 -i"]
    {
        let pid = pane(&tmux, command);
        wait_for_input(pid, Input::Raw);
        wait_for_input_by_place(pid, Input::Raw);
    }
}

#[test]
fn plain_programs_read_lines() {
    let tmux = TmuxServer::new();
    for command in [
        "cat",
        "dash",
        "bash -c 'read line'",
        "bash -c 'cat | sort'",
        "sh -c 'cat; true'",
        "python3 -c 'input()'",
        // A thread other than the first one.
        "python3 -c 'import sys, threading
t = threading.Thread(target=sys.stdin.read); t.start(); t.join()'",
    ] {
        let pid = pane(&tmux, command);
        wait_for_input(pid, Input::Line);
        wait_for_input_by_place(pid, Input::Line);
    }
}

#[test]
fn lines_may_be_waited_for_among_other_things() {
    let tmux = TmuxServer::new();
    for command in [
        "perl -e 'vec($r, 0, 1) = 1; select($r, undef, undef, undef)'",
        "python3 -c 'import select; p = select.poll(); p.register(0, 1); p.poll()'",
        "python3 -c 'import select; p = select.epoll(); p.register(0, 1); p.poll()'",
        "node -e 'process.stdin.on(\"data\", () => {})'",
    ] {
        wait_for_input(pane(&tmux, command), Input::Line);
    }
}

#[test]
fn passwords_are_read_without_echo() {
    let tmux = TmuxServer::new();
    for command in [
        "bash -c 'read -s secret'",
        "python3 -c 'import getpass; getpass.getpass()'",
        "sh -c 'stty -echo; cat'",
    ] {
        let pid = pane(&tmux, command);
        wait_for_input(pid, Input::Password);
        wait_for_input_by_place(pid, Input::Password);
    }
}

/// `su` runs as root: unless we do, its terminal is all we see.
#[test]
fn a_password_is_asked_for_by_another_user() {
    let tmux = TmuxServer::new();
    let drop_rights = "setpriv --reuid 65534 --regid 65534 --clear-groups su";
    let command = if rustix::process::geteuid().is_root() { drop_rights } else { "su" };
    wait_for_input(pane(&tmux, command), Input::Password);
}

#[test]
fn programs_that_wait_for_something_else_do_not_read() {
    let tmux = TmuxServer::new();
    for (name, command) in [
        ("sleep", "sleep 1000"),
        ("tail", "tail -f /dev/null"),
        ("bash", "bash -c 'sleep 1000 | sleep 1000'"),
        // The terminal is open and raw, but is not among the files that are waited for.
        ("perl", "sh -c 'stty raw; exec perl -e \"pipe(R, W); sysread(R, \\$x, 1)\"'"),
        (
            "perl",
            "sh -c 'stty raw; exec perl -e \"pipe(R, W); vec(\\$r, fileno(R), 1) = 1; \
             select(\\$r, undef, undef, undef)\"'",
        ),
    ] {
        let pid = pane(&tmux, command);
        wait_for_name(pid, name);
        wait_for_sleep(pid);
        for _ in 0..20 {
            assert_eq!(input(pid), Input::None, "{command}");
        }
    }
}

#[test]
fn a_program_that_runs_does_not_read() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'echo busy; while :; do :; done'");
    wait_until("it is busy", || {
        let screen = tmux.tmux(&["capture-pane", "-p", "-t", ":$"]);
        screen.starts_with("busy").then_some(())
    });
    for _ in 0..100 {
        assert_eq!((input(pid), input_by_place(pid)), (Input::None, Input::None));
    }
}

/// A held-up writer sleeps in the same place of the kernel as a reader.
#[test]
fn a_program_that_cannot_write_does_not_read() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "yes");
    wait_for_name(pid, "yes");
    tmux.tmux(&["send-keys", "-t", ":$", "C-s"]);
    wait_until("the place tells nothing", || {
        let by_place = input_by_place(pid);
        assert_ne!(by_place, Input::Line);
        assert_eq!(input(pid), Input::None);
        (by_place == Input::Unknown).then_some(())
    });
}

/// And so does one that reads from the network.
#[test]
fn a_program_that_reads_from_a_socket_does_not_read() {
    let tmux = TmuxServer::new();
    let program = "import socket; s = socket.create_server((\"127.0.0.1\", 0)); \
                   socket.create_connection(s.getsockname()).recv(1)";
    let pid = pane(&tmux, &format!("python3 -c '{program}'"));
    wait_for_name(pid, "python3");
    wait_until("the place tells nothing", || {
        let by_place = input_by_place(pid);
        assert_ne!(by_place, Input::Line);
        assert_eq!(input(pid), Input::None);
        (by_place == Input::Unknown).then_some(())
    });
}

#[test]
fn a_stopped_program_does_not_read_until_it_goes_on() {
    let tmux = TmuxServer::new();
    // Behind a shell, since tmux wakes its own children at once.
    for (command, reads) in [("cat", Input::Line), ("fish --no-config", Input::Raw)] {
        let pid = pane(&tmux, &format!("sh -c '{command}; true'"));
        wait_for_input(pid, reads);
        let reader = rustix_pid(children(pid)[0]).unwrap();
        kill_process(reader, Signal::STOP).unwrap();
        wait_for_input(pid, Input::None);
        kill_process(reader, Signal::CONT).unwrap();
        wait_for_input(pid, reads);
    }
}

/// Its parent has not asked for its status, so it is still listed.
#[test]
fn who_has_ended_is_not_alive() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "perl -e 'fork or exit; sleep 1000'");
    wait_until("the child has ended", || {
        let child = *children(pid).first()?;
        (!is_alive(child)).then_some(())
    });
    assert_eq!(children(pid).len(), 1);
    assert!(is_alive(pid));
}
