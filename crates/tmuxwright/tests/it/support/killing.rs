//! Killing the program in ways that it cannot see.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use testkit::{Raw, TmuxServer, wait_until};

/// The processes whose arguments name the server's socket: the program's tmux processes and the one
/// that cleans up after it.
pub(crate) fn processes_of(tmux: &TmuxServer) -> Vec<u32> {
    let socket = tmux.socket().to_str().unwrap();
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.path().into());
    let named = entries.filter(|entry: &std::path::PathBuf| arguments(entry).contains(socket));
    let pids = named.filter_map(|entry| entry.file_name()?.to_str()?.parse().ok());
    pids.filter(|pid| *pid != tmux.pid()).collect()
}

fn arguments(process: &Path) -> String {
    let bytes = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Kills the process that is to clean up after the program.
pub(crate) fn kill_successor(tmux: &TmuxServer) {
    let cleans_up = |pid: &u32| {
        let process = format!("/proc/{pid}");
        arguments(Path::new(&process)).contains(" clean-up ")
    };
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
