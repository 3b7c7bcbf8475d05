//! Tests that nothing freezes the server: pipes in the place of files, a stopped tmux server.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{TmuxServer, until};

use crate::protocol::{create_own_pane, initialized, session_names};
use crate::{launch, serve};

/// Limit for an exit, which takes two seconds at most. Twice that, for a busy machine.
const EXIT_LIMIT: Duration = Duration::from_secs(4);

/// Limit for a start, which takes milliseconds.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Makes a pipe without a reader or a writer.
fn fifo(tmux: &TmuxServer, name: &str) -> PathBuf {
    let path = tmux.home().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    tmux.tmux(&["run-shell", &format!("mkfifo '{}'", path.display())]);
    path
}

/// Awaits a start, which fails the test if it hangs.
async fn in_time<T>(start: impl Future<Output = T>) -> T {
    tokio::time::timeout(START_LIMIT, start).await.unwrap()
}

#[tokio::test]
async fn fifo_is_refused_in_place_of_a_file() {
    let tmux = TmuxServer::new();
    let path = fifo(&tmux, "fifo");
    let mut raw = initialized(launch(&tmux).args(&["--toolset", "all", "--structured"])).await;
    let call = |tool: &str, arguments| json!({"name": tool, "arguments": arguments});
    raw.request("tools/call", call("set_buffer", json!({"name": "notes", "text": "x"}))).await;
    for (tool, arguments) in [
        ("save_buffer", json!({"name": "notes", "path": path})),
        ("screenshot_pane", json!({"target": "main", "path": path, "format": "svg"})),
        ("pipe_pane", json!({"target": "main", "path": path})),
        ("set_buffer", json!({"name": "notes", "path": path})),
    ] {
        let reply = raw.request("tools/call", call(tool, arguments)).await;
        let text = reply["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("not a regular file"), "{tool}: {text}");
    }
    raw.signal(Signal::TERM);
    assert!(raw.wait().await.success(), "{}", raw.stderr());
    assert_eq!(tmux.tmux(&["display-message", "-p", "-t", "%0", "#{pane_pipe}"]), "0");
}

#[tokio::test]
async fn owner_fifo_does_not_block_the_start() {
    let tmux = TmuxServer::new();
    fifo(&tmux, "tmp/tmuxwright-evil/owner");
    let tmp = tmux.home().join("tmp");
    let mcp = in_time(launch(&tmux).env("TMPDIR", tmp.to_str().unwrap()).mcp()).await;
    let text = mcp.call("run_command", json!({"command": "echo fi''ne"})).await.text();
    assert!(text.contains("fine"), "{text}");
    mcp.close().await;
    assert!(tmp.join("tmuxwright-evil/owner").exists());
    assert_eq!(fs::read_dir(&tmp).unwrap().count(), 1);
}

#[tokio::test]
async fn fifo_in_the_settings_stops_the_start() {
    let tmux = TmuxServer::new();
    let path = fifo(&tmux, "fifo");
    let path = path.to_str().unwrap();
    for args in [
        ["--config", path].as_slice(),
        #[cfg(feature = "http")]
        &["--http", "127.0.0.1:0", "--http-token-file", path],
        &["--audit", path],
    ] {
        let output = in_time(launch(&tmux).args(args).output()).await;
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("it is not a regular file"), "{args:?}: {stderr}");
        assert!(!output.status.success(), "{args:?}");
    }
}

#[tokio::test]
async fn file_beyond_the_limit_is_not_stored() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let path = tmux.home().join("large");
    let file = fs::File::create(&path).unwrap();
    file.set_len(20_000_000_000).unwrap();
    let set = json!({"name": "notes", "path": path});
    let error = mcp.call("set_buffer", set.clone()).await.err("invalid_argument");
    assert!(error.contains("20000000000 bytes") && error.contains("Next: "), "{error}");
    let limit = 100 * 1024 * 1024;
    file.set_len(limit).unwrap();
    assert_eq!(mcp.call("set_buffer", set).await.ok()["bytes"], limit);
    let more = json!({"name": "notes", "text": "x", "append": true});
    let error = mcp.call("set_buffer", more).await.err("invalid_argument");
    assert!(error.contains("104857600"), "{error}");
    assert_eq!(tmux.tmux(&["list-buffers", "-F", "#{buffer_size}"]), limit.to_string());
    mcp.close().await;
}

/// Stops a tmux server; it continues when this is dropped.
struct Stopped(Pid);

impl Stopped {
    fn new(tmux: &TmuxServer) -> Self {
        let pid = Pid::from_raw(i32::try_from(tmux.pid()).unwrap()).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        Self(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

#[tokio::test]
async fn process_exits_while_tmux_is_stopped() {
    // `None` is the end of input.
    for signal in [Some(Signal::TERM), Some(Signal::INT), None] {
        let tmux = TmuxServer::new();
        let log = tmux.home().join("audit.jsonl");
        let args = ["--toolset", "all", "--structured", "--audit", log.to_str().unwrap()];
        let mut raw = initialized(launch(&tmux).args(&args)).await;
        create_own_pane(&mut raw).await;
        let stopped = Stopped::new(&tmux);
        let call = json!({"name": "list_panes", "arguments": {}});
        raw.start("tools/call", call).await;
        let begun = Instant::now();
        match signal {
            Some(signal) => raw.signal(signal),
            None => raw.hang_up(),
        }
        raw.wait().await;
        assert!(begun.elapsed() < EXIT_LIMIT, "{signal:?}: {:?}", begun.elapsed());
        let records = fs::read_to_string(&log).unwrap();
        assert!(records.contains("create_pane"), "{signal:?}: {records}");
        drop(stopped);
        // The next start removes what is left.
        let next = serve(&tmux).await;
        until("the own session is gone", async || (session_names(&tmux) == ["main"]).then_some(()))
            .await;
        next.close().await;
    }
}
