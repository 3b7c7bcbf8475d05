//! Killing the program in ways that it cannot see.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Raw, TmuxServer, wait_until};

/// The program's tmux processes and the one that cleans up after it. Their arguments name the server's
/// socket, or that of a relay; then the environment tells the test.
pub(crate) fn processes_of(tmux: &TmuxServer) -> Vec<u32> {
    let socket = tmux.socket().to_str().unwrap();
    let home = format!(" HOME={} ", tmux.home().display());
    let is_of_program = |process: &PathBuf| {
        let arguments = read(process, "cmdline");
        let is_relayed = arguments.contains("/relay-") && arguments.contains(" -C ");
        arguments.contains(socket) || (is_relayed && read(process, "environ").contains(&home))
    };
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let named = entries.filter(is_of_program);
    let pids = named.filter_map(|entry| entry.file_name()?.to_str()?.parse().ok());
    pids.filter(|pid| *pid != tmux.pid()).collect()
}

/// The strings in a file of a process.
fn read(process: &Path, file: &str) -> String {
    let bytes = fs::read(process.join(file)).unwrap_or_default();
    format!(" {}", String::from_utf8_lossy(&bytes).replace('\0', " "))
}

/// The arguments of a process, each between blanks; empty if there is no such process.
pub(crate) fn arguments(pid: u32) -> String {
    read(Path::new(&format!("/proc/{pid}")), "cmdline")
}

/// Kills the process that is to clean up after the program.
pub(crate) fn kill_successor(tmux: &TmuxServer) {
    let cleans_up = |pid: &u32| arguments(*pid).contains(" clean-up ");
    let successor = processes_of(tmux).into_iter().find(cleans_up).unwrap();
    kill_process(Pid::from_raw(i32::try_from(successor).unwrap()).unwrap(), Signal::KILL).unwrap();
    wait_until("the successor is dead", || (!cleans_up(&successor)).then_some(()));
}

/// Kills that process, then the program.
pub(crate) async fn kill_with_successor(tmux: &TmuxServer, raw: &mut Raw) {
    kill_successor(tmux);
    raw.signal(Signal::KILL);
    raw.wait().await;
}
