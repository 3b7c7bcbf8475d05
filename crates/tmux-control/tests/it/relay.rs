//! Control clients that attach while tmux sends notifications, which crashed servers before 3.7.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use testkit::TmuxServer;
use tmux_control::{Program, Server};

use crate::{connect, first_pane, print, program};

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

#[tokio::test(flavor = "multi_thread")]
async fn server_survives_notifications_while_clients_attach() {
    let tmux = TmuxServer::new();
    let pid = tmux.pid();
    let pane = first_pane(&tmux);
    let renaming = Renaming::begin(&tmux);
    for round in 0..100 {
        let server = connect(&tmux);
        let reply = server.run(print("attached")).await;
        assert_eq!(reply.map(|reply| reply.text()).unwrap(), "attached\n", "{round}");
        let stream = server.stream(pane).await;
        assert!(stream.is_ok(), "{round}: {stream:?}");
    }
    drop(renaming);
    assert_eq!(tmux.pid(), pid, "the server is another one");
}

/// The files of a relay are for the moment of attaching.
#[tokio::test(flavor = "multi_thread")]
async fn relay_leaves_no_files() {
    let tmux = TmuxServer::new();
    let server = connect(&tmux);
    server.run(print("attached")).await.unwrap();
    let files = std::fs::read_dir(tmux.home()).unwrap().flatten().map(|file| file.file_name());
    let left: Vec<_> = files.filter(|name| name.to_string_lossy().contains("relay")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A client attaches without a relay if there is no directory for it.
#[tokio::test(flavor = "multi_thread")]
async fn client_attaches_without_a_directory() {
    let tmux = TmuxServer::new();
    let gone = Arc::new(crate::Home(tmux.home().join("gone")));
    for relay_dir in [None, Some(gone as Arc<dyn tmux_control::SocketDir>)] {
        let server = Server::new(Program { relay_dir, ..program(&tmux) });
        assert_eq!(server.run(print("attached")).await.unwrap().text(), "attached\n");
    }
}
