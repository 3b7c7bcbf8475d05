//! The input state of real programs that read from their terminal, or only seem to.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use testkit::{TmuxServer, wait_until};

use super::super::procfs::Stat;
use super::super::tests::{pane, wait_for_argv, wait_for_input, wait_for_name};
use super::super::{
    Foreground, InputState, InputWait, ShellKind, foreground, input_state, input_wait, rustix_pid,
    shell,
};
use super::{input_by_wait_channel, is_alive};

/// Waits for the input state as it is found where the kernel hides system calls.
fn wait_for_input_by_wait_channel(pid: u32, expected: InputState) {
    wait_until(&format!("`{:?}` reads {expected:?}, by wait channel", foreground(pid)), || {
        (input_by_wait_channel(pid) == expected).then_some(())
    });
}

/// Waits until a process sleeps in a system call.
fn wait_for_sleep(pid: u32) {
    wait_until("the process sleeps", || {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") S ").then_some(())
    });
}

fn children(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn sh_is_identified_by_its_executable() {
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
fn shell_that_reads_a_pipe_is_not_interactive() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'sleep 1000 | bash; true'");
    let program = wait_for_argv(pid, "bash -c sleep 1000 | bash; true");
    assert_eq!(shell(&program), None, "started with a command");
    let inner = wait_until("the inner shell runs", || {
        children(pid).into_iter().find(|child| {
            fs::read(format!("/proc/{child}/cmdline")).is_ok_and(|argv| argv == b"bash\0")
        })
    });
    let inner = Foreground { pid: inner, argv: vec!["bash".into()], ..program };
    assert_eq!(shell(&inner), None, "reads from a pipe");
}

#[test]
fn line_editors_and_full_screen_programs_read_keys() {
    let tmux = TmuxServer::new();
    for command in
        ["bash --norc", "zsh -f", "fish --no-config", "less /etc/passwd", "node -i", "python3 -i"]
    {
        let pid = pane(&tmux, command);
        wait_for_input(pid, InputState::Raw);
        wait_for_input_by_wait_channel(pid, InputState::Raw);
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
        wait_for_input(pid, InputState::Line);
        wait_for_input_by_wait_channel(pid, InputState::Line);
    }
}

#[test]
fn programs_that_poll_the_terminal_read_lines() {
    let tmux = TmuxServer::new();
    for command in [
        "perl -e 'vec($r, 0, 1) = 1; select($r, undef, undef, undef)'",
        "python3 -c 'import select; p = select.poll(); p.register(0, 1); p.poll()'",
        "python3 -c 'import select; p = select.epoll(); p.register(0, 1); p.poll()'",
        "node -e 'process.stdin.on(\"data\", () => {})'",
    ] {
        wait_for_input(pane(&tmux, command), InputState::Line);
    }
}

#[test]
fn programs_without_echo_read_a_password() {
    let tmux = TmuxServer::new();
    for command in [
        "bash -c 'read -s secret'",
        "python3 -c 'import getpass; getpass.getpass()'",
        "sh -c 'stty -echo; cat'",
    ] {
        let pid = pane(&tmux, command);
        wait_for_input(pid, InputState::Password);
        wait_for_input_by_wait_channel(pid, InputState::Password);
    }
}

/// `su` runs as root, so only its terminal can be inspected by other users.
#[test]
fn password_prompt_of_another_user_is_recognized() {
    let tmux = TmuxServer::new();
    let as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups su";
    let command = if rustix::process::geteuid().is_root() { as_nobody } else { "su" };
    wait_for_input(pane(&tmux, command), InputState::Password);
}

#[test]
fn programs_waiting_for_other_files_do_not_read() {
    let tmux = TmuxServer::new();
    for (name, command) in [
        ("sleep", "sleep 1000"),
        ("tail", "tail -f /dev/null"),
        ("bash", "bash -c 'sleep 1000 | sleep 1000'"),
        // The terminal is open and raw, but not waited for.
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
            assert_eq!(input_state(pid), InputState::None, "{command}");
        }
    }
}

#[test]
fn busy_program_does_not_read() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "bash -c 'echo busy; while :; do :; done'");
    wait_until("the program is busy", || {
        let screen = tmux.tmux(&["capture-pane", "-p", "-t", ":$"]);
        screen.starts_with("busy").then_some(())
    });
    for _ in 0..100 {
        assert_eq!(
            (input_state(pid), input_by_wait_channel(pid)),
            (InputState::None, InputState::None)
        );
    }
}

/// A blocked writer has the wait channel of a reader.
#[test]
fn program_blocked_in_a_write_does_not_read() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "yes");
    wait_for_name(pid, "yes");
    tmux.tmux(&["send-keys", "-t", ":$", "C-s"]);
    wait_until("the wait channel is ambiguous", || {
        let by_wait_channel = input_by_wait_channel(pid);
        assert_ne!(by_wait_channel, InputState::Line);
        assert_eq!(input_state(pid), InputState::None);
        (by_wait_channel == InputState::Unknown).then_some(())
    });
}

/// A reader of a socket has the wait channel of a reader of the terminal.
#[test]
fn program_that_reads_a_socket_does_not_read() {
    let tmux = TmuxServer::new();
    let program = "import socket; s = socket.create_server((\"127.0.0.1\", 0)); \
                   socket.create_connection(s.getsockname()).recv(1)";
    let pid = pane(&tmux, &format!("python3 -c '{program}'"));
    wait_for_name(pid, "python3");
    wait_until("the wait channel is ambiguous", || {
        let by_wait_channel = input_by_wait_channel(pid);
        assert_ne!(by_wait_channel, InputState::Line);
        assert_eq!(input_state(pid), InputState::None);
        (by_wait_channel == InputState::Unknown).then_some(())
    });
}

#[test]
fn stopped_program_does_not_read_until_continued() {
    let tmux = TmuxServer::new();
    // In a shell, since tmux continues its own children at once.
    for (command, reads) in [("cat", InputState::Line), ("fish --no-config", InputState::Raw)] {
        let pid = pane(&tmux, &format!("sh -c '{command}; true'"));
        wait_for_input(pid, reads);
        let reader = rustix_pid(children(pid)[0]).unwrap();
        kill_process(reader, Signal::STOP).unwrap();
        wait_for_input(pid, InputState::None);
        kill_process(reader, Signal::CONT).unwrap();
        wait_for_input(pid, reads);
    }
}

/// The parent does not wait for the child, which stays in the process table.
#[test]
fn zombie_is_not_alive() {
    let tmux = TmuxServer::new();
    let pid = pane(&tmux, "perl -e 'fork or exit; sleep 1000'");
    wait_until("the child has exited", || {
        let child = *children(pid).first()?;
        (!is_alive(child)).then_some(())
    });
    assert_eq!(children(pid).len(), 1);
    assert!(is_alive(pid));
    assert_eq!(crate::started(children(pid)[0]), None);
}

/// tmux forks itself for a pane. On a busy machine the copy lives for a while.
#[test]
fn copy_of_its_parent_is_not_a_program() {
    let tmux = TmuxServer::new();
    let fork = "import os, pty, time; child, _ = pty.fork(); time.sleep(0 if child else 1000); \
                time.sleep(1000)";
    let pid = pane(&tmux, &format!("python3 -c '{fork}'"));
    // Where python3 is a script, it has other children first.
    let child = wait_until("a child has a terminal of its own", || {
        let child = *children(pid).first()?;
        let stat = Stat::of(child)?;
        (stat.session == child && stat.foreground == Some(child)).then_some(child)
    });
    assert_eq!(foreground(child), None);
    assert_eq!(foreground(pid).map(|program| program.name).as_deref(), Some("python3"));
}

#[test]
fn lone_reader_is_told_from_a_shared_one() {
    let tmux = TmuxServer::new();
    let thread = "import threading, time, sys\nthreading.Thread(target=sys.stdin.readline).start()\n\
                  time.sleep(1000)";
    let script = tmux.home().join("thread.py");
    fs::write(&script, thread).unwrap();
    for (command, reader, is_lone) in [
        ("cat".to_owned(), "cat", true),
        ("bash --norc".to_owned(), "bash", true),
        ("bash -c 'read -s secret'".to_owned(), "bash", true),
        ("node -e 'process.stdin.resume()'".to_owned(), "node", false),
        ("script -qc 'sleep 1000' /dev/null".to_owned(), "script", false),
        (format!("python3 {}", script.display()), "python3", false),
    ] {
        let pid = pane(&tmux, &command);
        let wait = wait_until(&format!("`{command}` reads"), || {
            let wait = input_wait(pid);
            (wait.reader.as_deref()? == reader).then_some(wait)
        });
        assert_eq!(InputWait { is_lone, ..wait.clone() }, wait, "{command}");
    }
}

#[test]
fn read_count_tells_keys_from_events() {
    let count = |bytes, calls| crate::ReadCount { bytes, calls };
    for (now, has_no_key) in [
        (count(100, 10), true),
        (count(116, 12), true),
        (count(100, 12), true),
        (count(101, 11), false),
        (count(108, 18), false),
        (count(50, 5), false),
    ] {
        assert_eq!(now.has_no_key_since(count(100, 10)), has_no_key, "{now:?}");
    }
    for (now, keys, has_read) in [
        (count(100, 10), 1, false),
        (count(101, 11), 1, true),
        (count(101, 11), 2, false),
        // A thread has ended.
        (count(50, 9), 1, true),
    ] {
        assert_eq!(now.has_read_keys_since(count(100, 10), keys), has_read, "{now:?}");
    }
    let pid = std::process::id();
    let before = crate::read_count(pid).unwrap();
    std::fs::read("/proc/self/comm").unwrap();
    assert!(!crate::read_count(pid).unwrap().has_no_key_since(before));
}
