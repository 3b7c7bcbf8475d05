//! The private tmux server of a test: its own socket, its own home, no tmux configuration.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

use crate::home;
use crate::load::Bursts;
use crate::until::{wait_until, within};

/// The default command of panes: a shell that reads no start-up files.
const SHELL: &str = "exec /bin/sh";

/// Limit for one step of ending a server.
const MAX_CLOSING_TIME: Duration = Duration::from_secs(5);

/// A private tmux server. When this is dropped, the server is killed and its files are removed.
#[derive(Debug)]
pub struct TmuxServer {
    dir: TempDir,
    socket: PathBuf,
    /// The last known process id, to kill a server that no longer answers; 0 before the first.
    pid: AtomicU32,
    /// Only in a test under load.
    bursts: Option<Bursts>,
}

impl TmuxServer {
    /// A running server with one session `main` of 80x24, whose shell shows its prompt.
    pub fn new() -> Self {
        let mut server = Self::not_started();
        server.new_session("main");
        server.tmux(&["set-option", "-g", "default-command", SHELL]);
        server.bursts = process(server.pid()).and_then(Bursts::begin);
        server
    }

    /// The same without a tmux process: nothing listens on the socket yet.
    pub fn not_started() -> Self {
        // A socket's path may have at most 103 bytes, so the name is short.
        let dir = tempfile::Builder::new()
            .prefix("tm")
            .tempdir_in("/tmp")
            .expect("a directory under /tmp can be made");
        home::write_files(dir.path());
        let socket = dir.path().join("s");
        Self { dir, socket, pid: AtomicU32::new(0), bursts: None }
    }

    /// The path of the socket, also before the server is started.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The directory of this test: `$HOME` and the start directory of its panes.
    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    /// The tmux to test with: `$TMUXWRIGHT_TMUX`, or `tmux` in `PATH`.
    pub fn program() -> OsString {
        env::var_os("TMUXWRIGHT_TMUX").unwrap_or_else(|| "tmux".into())
    }

    /// Runs a tmux command that must succeed, and returns its output.
    pub fn tmux(&self, args: &[&str]) -> String {
        self.try_tmux(args).unwrap_or_else(|message| panic!("tmux {args:?}: {message}"))
    }

    /// Runs a tmux command. The error is its message on stderr.
    pub fn try_tmux(&self, args: &[&str]) -> Result<String, String> {
        let output = self.command(args).output().expect("tmux can be started");
        answer(&output)
    }

    /// The server's process id.
    pub fn pid(&self) -> u32 {
        let pid = self.tmux(&["display-message", "-p", "#{pid}"]);
        let pid = pid.parse().expect("a process id is a number");
        self.pid.store(pid, Ordering::Relaxed);
        pid
    }

    /// Adds a session of 80x24, waits for its shell's prompt, and returns its pane's id.
    pub fn new_session(&self, name: &str) -> String {
        let window = format!("={name}:");
        let mut args = vec!["new-session", "-d", "-s", name, "-x", "80", "-y", "24"];
        args.extend(["-P", "-F", "#{pane_id}", SHELL]);
        // tmux 3.2a makes every detached session 80x23. `resize-window` also sets `window-size`
        // to manual, which is unset again.
        args.extend([";", "resize-window", "-t", &window, "-x", "80", "-y", "24"]);
        args.extend([";", "set-option", "-wu", "-t", &window, "window-size"]);
        let pane = self.tmux(&args);
        wait_until("the shell shows its prompt", || {
            self.tmux(&["capture-pane", "-p", "-t", &pane]).starts_with('$').then_some(())
        });
        pane
    }

    /// Opens a window in `main` that runs `command`, and returns its pane's id.
    pub fn open(&self, command: &str) -> String {
        self.tmux(&["new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=main:", command])
    }

    /// The same for a shell; waits for its prompt.
    pub fn open_shell(&self, command: &str) -> String {
        let pane = self.open(command);
        wait_until(&format!("{command} shows its prompt"), || {
            self.screen(&pane).ends_with(['$', '#', '%', '>']).then_some(())
        });
        pane
    }

    /// Types text into a pane as a person does, past the checks that hold for agents.
    pub fn types(&self, pane: &str, text: &str) {
        self.tmux(&["send-keys", "-t", pane, "-l", "--", text]);
    }

    /// Presses keys in a pane, by their tmux names.
    pub fn presses(&self, pane: &str, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", pane], keys].concat());
    }

    /// The text of a pane's screen.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane]).trim_end().to_owned()
    }

    /// Types a line and Enter into a pane, as a person does.
    pub fn type_line(&self, pane: &str, line: &str) {
        self.tmux(&["send-keys", "-t", pane, "-l", line]);
        self.tmux(&["send-keys", "-t", pane, "Enter"]);
    }

    /// Kills the server and waits until its process has ended, so that another can be started.
    pub fn kill(&self) {
        let pid = process(self.pid()).expect("a server has a process id");
        self.tmux(&["kill-server"]);
        wait_until("the server has ended", || (!is_alive(pid)).then_some(()));
    }

    /// A `tmux` process for this server, not started yet.
    pub fn command(&self, args: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the tests' own tmux")]
        let mut command = Command::new(Self::program());
        command
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&self.socket)
            .args(args)
            .env_clear()
            .envs(home::environment(self.home()))
            .current_dir(self.home())
            .stdin(Stdio::null());
        command
    }

    /// Runs a command on a server that may never answer.
    fn try_briefly(&self, args: &[&str]) -> Option<String> {
        let mut command = self.command(args);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = KillOnDrop(child.ok()?);
        within(MAX_CLOSING_TIME, || child.0.try_wait().ok().flatten())?;
        let mut printed = String::new();
        std::io::Read::read_to_string(child.0.stdout.as_mut()?, &mut printed).ok()?;
        Some(printed.trim().to_owned())
    }
}

impl Default for TmuxServer {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for TmuxServer {
    /// Kills the server that listens now, which a test may have restarted, and waits for its exit:
    /// afterwards no process writes into the directory.
    fn drop(&mut self) {
        self.bursts = None;
        let listening =
            self.try_briefly(&["display-message", "-p", "#{pid}"]).and_then(|pid| pid.parse().ok());
        let known = self.pid.load(Ordering::Relaxed);
        self.try_briefly(&["kill-server"]);
        for pid in [listening.unwrap_or(0), known] {
            if let Some(pid) = process(pid)
                && within(MAX_CLOSING_TIME, || (!is_alive(pid)).then_some(())).is_none()
            {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// A child process that is killed when this is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn process(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Whether a process runs. A zombie does not.
fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let is_zombie = stat.is_ok_and(|stat| stat.contains(") Z "));
    test_kill_process(pid).is_ok() && !is_zombie
}

fn answer(output: &Output) -> Result<String, String> {
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_server_has_one_ready_shell() {
        let tmux = TmuxServer::new();
        assert_eq!(tmux.tmux(&["capture-pane", "-p"]).trim_end(), "$");
        let size = "#{session_name} #{window_width}x#{window_height} #{pane_current_command}";
        assert_eq!(tmux.tmux(&["display-message", "-p", size]), "main 80x24 sh");
        let home = tmux.tmux(&["show-environment", "-g", "HOME"]);
        assert_eq!(home, format!("HOME={}", tmux.home().display()));
    }

    #[test]
    fn a_dropped_server_leaves_nothing_behind() {
        let tmux = TmuxServer::new();
        let (pid, home) = (tmux.pid(), tmux.home().to_path_buf());
        let pane = tmux.tmux(&["display-message", "-p", "#{pane_pid}"]);
        drop(tmux);
        for pid in [pid, pane.parse().unwrap()] {
            let pid = process(pid).unwrap();
            wait_until("the process has ended", || (!is_alive(pid)).then_some(()));
        }
        assert!(!home.exists(), "the directory is still there");
    }

    #[test]
    fn dropping_a_stopped_server_does_no_harm() {
        drop(TmuxServer::not_started());
        let tmux = TmuxServer::new();
        tmux.kill();
        assert!(tmux.try_tmux(&["list-sessions"]).is_err());
        drop(tmux);
    }

    #[test]
    fn a_server_is_killed_when_its_test_fails() {
        let (sender, pid) = std::sync::mpsc::channel();
        let failed = std::panic::catch_unwind(move || {
            let tmux = TmuxServer::new();
            sender.send(tmux.pid()).unwrap();
            panic!("a failing test");
        });
        assert!(failed.is_err());
        let pid = process(pid.recv().unwrap()).unwrap();
        assert!(!is_alive(pid));
    }
}
