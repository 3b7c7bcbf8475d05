//! Integration tests: the crate against real tmux servers, and its reader against recordings.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail like tests")]

mod attach;
mod events;
mod keys;
mod link;
mod quoting;
mod remote;
mod rows;
mod stream;
mod transcripts;

use std::time::Duration;

use testkit::TmuxServer;
use tmux_control::{Command, PaneId, Program, Server, Socket, Timing};

/// The tmux under test on the test's own socket.
fn program(tmux: &TmuxServer) -> Program {
    Program {
        path: TmuxServer::program(),
        config_file: Some("/dev/null".into()),
        ..Program::new(Socket::Path(tmux.socket().to_path_buf()))
    }
}

fn connect(tmux: &TmuxServer) -> Server {
    Server::new(program(tmux))
}

/// A shell script in place of the tmux program; in it `"$TMUX_PROGRAM" "$@"` runs the real tmux.
fn program_behind(tmux: &TmuxServer, script: &str) -> Program {
    let real = TmuxServer::program();
    let text = format!("#!/bin/sh\nTMUX_PROGRAM='{}'\n{script}\n", real.to_string_lossy());
    std::fs::write(tmux.home().join("text"), text).unwrap();
    // Created by another process: a file that this process had open for writing might still be open
    // in a child that another test is starting, and could not be executed (ETXTBSY).
    tmux.tmux(&["run-shell", "cd ~ && cp text script && chmod +x script"]);
    Program { path: tmux.home().join("script").into(), ..program(tmux) }
}

/// Short time limits, for tests of deadlines and idle clients.
fn impatient() -> Timing {
    Timing {
        deadline: Duration::from_millis(300),
        idle: Duration::from_millis(50),
        back_off: Duration::from_millis(10),
    }
}

/// A query that prints `text`.
fn print(text: impl ToString) -> Command {
    Command::query("display-message").arg("-p").arg(text)
}

/// The only pane of the session `main`.
fn first_pane(tmux: &TmuxServer) -> PaneId {
    tmux.tmux(&["display-message", "-p", "-t", "=main:", "#{pane_id}"]).parse().unwrap()
}

/// The pids of all tmux clients, each with the name of its session.
fn clients(tmux: &TmuxServer) -> Vec<(i32, String)> {
    let list = tmux.tmux(&["list-clients", "-F", "#{client_pid} #{client_session}"]);
    list.lines()
        .map(|line| {
            let (pid, session) = line.split_once(' ').unwrap();
            (pid.parse().unwrap(), session.to_owned())
        })
        .collect()
}
