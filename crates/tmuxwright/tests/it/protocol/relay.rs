//! The relay through which control clients attach to tmux servers before 3.7: those crash if they have to
//! notify a client while it attaches.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::{TmuxServer, until, wait_until};

use crate::protocol::{client_count, initialized};
use crate::support::at_least;
use crate::support::killing::{arguments, processes_of};
use crate::{launch, serve};

/// A client that renames a session without a pause, so that tmux notifies all control clients.
struct Renaming {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Renaming {
    fn begin(tmux: &TmuxServer) -> Self {
        let client = tmux
            .command(&["-C", "attach-session", "-t", "$0"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stopped);
        let thread = Some(std::thread::spawn(move || rename_until(&asked, client)));
        Self { stopped, thread }
    }
}

impl Drop for Renaming {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Renames in rounds, each of which awaits the replies of the one before.
fn rename_until(stopped: &AtomicBool, mut client: Child) {
    const ROUND: &str = "rename-session -t $0 one\nrename-session -t $0 two\n";
    let mut input = client.stdin.take().unwrap();
    let mut replies = BufReader::new(client.stdout.take().unwrap()).lines().map_while(Result::ok);
    while !stopped.load(Ordering::Relaxed) && input.write_all(ROUND.as_bytes()).is_ok() {
        for _ in ROUND.lines() {
            if !replies.any(|line| line.starts_with("%end")) {
                break;
            }
        }
    }
    drop(input);
    let _ = client.wait();
}

/// The process that relays clients, if there is one.
fn relay_of(tmux: &TmuxServer) -> Option<u32> {
    processes_of(tmux).into_iter().find(|pid| arguments(*pid).contains(" relay "))
}

/// Each watched session has a control client of its own.
#[tokio::test]
async fn tmux_survives_notifications_while_clients_attach() {
    let tmux = TmuxServer::new();
    let panes: Vec<String> = (0..30).map(|n| tmux.new_session(&format!("s{n}"))).collect();
    let pid = tmux.pid();
    let renaming = Renaming::begin(&tmux);
    for _ in 0..2 {
        let mcp = serve(&tmux).await;
        for pane in &panes {
            let wait = json!({"target": pane, "until": ["text:never"], "timeout": 0.01});
            let waited = mcp.call("wait_for", wait).await.ok();
            assert_eq!(waited["event"], "timeout", "{waited}");
        }
        mcp.close().await;
    }
    drop(renaming);
    assert_eq!(tmux.pid(), pid, "the tmux server is another one");
}

/// tmux waits for its clients, which must see its end also if this program is stopped with its agent.
#[tokio::test]
async fn stopped_program_does_not_keep_tmux_running() {
    let tmux = TmuxServer::new();
    let mut raw = initialized(launch(&tmux)).await;
    raw.request("tools/call", json!({"name": "list_panes", "arguments": {}})).await;
    assert_eq!(client_count(&tmux), 1);
    let server = Pid::from_raw(i32::try_from(tmux.pid()).unwrap()).unwrap();
    raw.signal(Signal::STOP);
    tmux.tmux(&["kill-server"]);
    wait_until("tmux has ended", || {
        rustix::process::test_kill_process(server).is_err().then_some(())
    });
    raw.signal(Signal::CONT);
    raw.signal(Signal::TERM);
    raw.wait().await;
}

#[tokio::test]
async fn calls_work_after_the_relay_was_killed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for _ in 0..3 {
        mcp.call("list_panes", json!({})).await.ok();
        mcp.call("run_command", json!({"command": "echo one"})).await.ok();
        let relay = relay_of(&tmux);
        assert_eq!(relay.is_none(), at_least(&tmux, "3.7"), "newer servers need no relay");
        let Some(relay) = relay else { continue };
        kill_process(Pid::from_raw(i32::try_from(relay).unwrap()).unwrap(), Signal::KILL).unwrap();
        until("the clients are gone", async || (client_count(&tmux) == 0).then_some(())).await;
    }
    mcp.close().await;
}

#[tokio::test]
async fn clients_attach_without_a_private_directory() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).env("TMPDIR", "/nonexistent").mcp().await;
    mcp.call("list_panes", json!({})).await.text();
    assert_eq!((client_count(&tmux), relay_of(&tmux)), (1, None));
    mcp.close().await;
}

/// A program that runs elsewhere cannot reach the relay's socket.
#[tokio::test]
async fn clients_attach_past_an_unreachable_relay() {
    let tmux = TmuxServer::new();
    let script = tmux.home().join("wrapper");
    let real = TmuxServer::program();
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *relay-*) exit 1;; esac\nexec '{}' \"$@\"\n",
        real.to_string_lossy()
    );
    std::fs::write(tmux.home().join("text"), text).unwrap();
    // Created by another process: this one may have the file open in a child of another test.
    tmux.tmux(&["run-shell", "cd ~ && cp text wrapper && chmod +x wrapper"]);
    let mcp = launch(&tmux).args(&["--tmux", &script.to_string_lossy()]).mcp().await;
    mcp.call("list_panes", json!({})).await.text();
    assert_eq!(client_count(&tmux), 1);
    mcp.close().await;
}
