//! A process around the first program of a terminal. It outlives the program until what the program
//! printed last was read.
//!
//! The owner of a terminal may close it as soon as its first process exits, and discard output that it
//! has not read yet; tmux does. With a keeper, the first process exits later. For the program little
//! changes: it has the foreground, and hears of a hangup.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{
    Pid, Signal, WaitOptions, getpgrp, kill_process, kill_process_group, waitpid,
};
use rustix::termios::tcsetpgrp;
use tokio::signal::unix::{SignalKind, signal};

use super::rustix_pid;

/// The program waits until it has the foreground: before, it may not read from the terminal.
const START: &str = r#"kill -STOP $$; exec "$0" "$@""#;

/// Runs a program in the foreground of the terminal on stdin, and waits for its end. Returns its exit
/// code: its status, or 128 plus the number of the signal that ended it.
///
/// The first process of a terminal must ignore SIGTTOU to take the foreground back; under tmux it does.
pub async fn keep<A: AsRef<OsStr>>(program: impl IntoIterator<Item = A>) -> io::Result<i32> {
    // Handlers rather than ignoring, which the program would inherit.
    let mut changed = signal(SignalKind::child())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let _keys = [Signal::INT, Signal::QUIT, Signal::TSTP]
        .map(|key| signal(SignalKind::from_raw(key.as_raw())));
    #[expect(clippy::disallowed_methods, reason = "it is to be run in this terminal")]
    let child =
        Command::new("/bin/sh").args(["-c", START]).args(program).process_group(0).spawn()?;
    let child = rustix_pid(child.id()).ok_or(io::ErrorKind::InvalidData)?;
    let mut begun = false;
    loop {
        match change_of(child)? {
            Some(Change::Stopped(Signal::STOP)) if !begun => {
                begun = true;
                let _ = tcsetpgrp(io::stdin(), child);
                let _ = kill_process_group(child, Signal::CONT);
            }
            // By a key. Nobody else would continue it, and without a keeper it could not be stopped so.
            Some(Change::Stopped(Signal::TSTP)) => drop(kill_process_group(child, Signal::CONT)),
            Some(Change::Stopped(_)) => {}
            Some(Change::Ended(code)) => {
                let _ = tcsetpgrp(io::stdin(), getpgrp());
                return Ok(code);
            }
            None => tokio::select! {
                _ = changed.recv() => {}
                // The system tells only the first process of a terminal, and continues it if it is stopped.
                _ = hangup.recv() => {
                    let _ = kill_process(child, Signal::HUP);
                    let _ = kill_process(child, Signal::CONT);
                }
                _ = terminate.recv() => drop(kill_process(child, Signal::TERM)),
            },
        }
    }
}

/// A change of a child's state.
enum Change {
    Stopped(Signal),
    Ended(i32),
}

fn change_of(child: Pid) -> io::Result<Option<Change>> {
    let changed = waitpid(Some(child), WaitOptions::NOHANG | WaitOptions::UNTRACED)?;
    Ok(changed.and_then(|(_, status)| {
        if let Some(signal) = status.stopping_signal() {
            return Signal::from_named_raw(signal).map(Change::Stopped);
        }
        let by_signal = status.terminating_signal().map(|signal| 128 + signal);
        status.exit_status().or(by_signal).map(Change::Ended)
    }))
}
