//! The waits of the program under test, as they are seen from outside.

#![expect(clippy::unwrap_used, reason = "helpers fail like tests")]

#[cfg(target_os = "linux")]
use testkit::Launch;
use testkit::{Mcp, TmuxServer, until};

/// Waits until a call of `wait_for` reads the output of this pane. No command may run in the pane.
pub(crate) async fn has_begun(tmux: &TmuxServer, mcp: &Mcp, target: &str) {
    have_begun(tmux, mcp.pid(), target, 1).await;
}

/// The same for this many waits of the process `server`.
#[cfg(target_os = "linux")]
pub(crate) async fn have_begun(tmux: &TmuxServer, server: u32, target: &str, count: usize) {
    if Launch::way().is_some() {
        return stream_has_begun(tmux, target).await;
    }
    let process = tmux.tmux(&["display-message", "-p", "-t", target, "#{pane_pid}"]);
    until(&format!("{count} waits for {target} have begun"), async || {
        (exit_handles(server, &process) >= count).then_some(())
    })
    .await;
}

/// The number of handles with which a server awaits the exit of a process. A wait opens one after it has
/// begun to read the pane's output.
#[cfg(target_os = "linux")]
fn exit_handles(server: u32, process: &str) -> usize {
    let entries = std::fs::read_dir(format!("/proc/{server}/fdinfo")).unwrap();
    // A descriptor can be closed meanwhile.
    let texts = entries.flatten().filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    let names_it = |line: &str| line.strip_prefix("Pid:").is_some_and(|pid| pid.trim() == process);
    texts.filter(|text| text.lines().any(names_it)).count()
}

/// Other systems do not list such handles.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn have_begun(tmux: &TmuxServer, _: u32, target: &str, _: usize) {
    stream_has_begun(tmux, target).await;
}

/// Without handles: the stream client is attached, and tmux has since answered more commands than a wait sends.
async fn stream_has_begun(tmux: &TmuxServer, target: &str) {
    until("a stream client is attached", async || stream_client(tmux, target)).await;
    for _ in 0..20 {
        tmux.tmux(&["list-panes"]);
    }
}

/// The process id of a tmux client that streams output of this pane's session.
pub(crate) fn stream_client(tmux: &TmuxServer, target: &str) -> Option<u32> {
    let session = tmux.tmux(&["display-message", "-p", "-t", target, "#{session_id}"]);
    let format = "#{client_pid} #{client_flags}";
    let clients = tmux.tmux(&["list-clients", "-F", format, "-t", &session]);
    let streams = clients.lines().find(|client| !client.contains("no-output"))?;
    streams.split(' ').next()?.parse().ok()
}
