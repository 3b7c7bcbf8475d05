//! tmux servers on another system: over a real sshd, and through commands.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use testkit::{Sshd, TmuxServer, until};
use tmux_control::{
    Command, Error, Program, Remote, RemoteOptions, RemoteState, Route, Server, SocketDir,
};

use crate::{clients, print, program};

/// The directory of a test's control sockets.
#[derive(Debug)]
pub(crate) struct Sockets(pub(crate) PathBuf);

impl SocketDir for Sockets {
    fn socket_dir(&self) -> std::io::Result<PathBuf> {
        Ok(self.0.clone())
    }
}

/// Options with short times, for tests of losses.
pub(crate) fn options(tmux: &TmuxServer) -> RemoteOptions {
    RemoteOptions::new(Arc::new(Sockets(tmux.home().to_path_buf())))
}

pub(crate) fn over_ssh(tmux: &TmuxServer, sshd: &Sshd) -> Remote {
    Remote::new(Route::ssh(&sshd.destination()).unwrap(), options(tmux))
}

/// Through a command that runs its words here: a stand-in for `docker exec -i box`.
pub(crate) fn through(tmux: &TmuxServer, words: &[&str]) -> Remote {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    Remote::new(Route::command(words).unwrap(), options(tmux))
}

/// The test's tmux server, by way of `remote`.
pub(crate) fn connect_through(tmux: &TmuxServer, remote: &Remote) -> Server {
    Server::new(Program { remote: Some(remote.clone()), ..program(tmux) })
}

async fn text(remote: &Remote, script: &str) -> String {
    String::from_utf8(remote.run(script).await.unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_in_every_posix_shell() {
    let tmux = TmuxServer::new();
    for shell in [&["dash"][..], &["bash", "--posix"], &["busybox", "sh"], &["bash"]] {
        // The route's command gets `sh -c BODY`; this runs BODY in another shell.
        let words = [&["sh", "-c", r#"shift; exec "$@""#, "x"], &["sh"][..]].concat();
        let exec = format!("shift; exec {} \"$@\"", shell.join(" "));
        let words = [words[0], words[1], &exec, words[3]];
        let remote = through(&tmux, &words);
        assert_eq!(
            text(&remote, "f() { echo \"$1\"; }; f 'it'\"'\"'s'").await,
            "it's\n",
            "{shell:?}"
        );
        assert_eq!(text(&remote, "f again; printf 'no end'").await, "again\nno end", "{shell:?}");
        assert_eq!(text(&remote, "cat; echo lost >&2; false").await, "", "{shell:?}");
        let bytes: String = ('\u{1}'..='\u{17f}').filter(|letter| *letter != '\'').collect();
        assert_eq!(text(&remote, &format!("printf %s '{bytes}'")).await, bytes, "{shell:?}");
        let long = "x \\ $y\n'quoted' \"text\"\n".repeat(5000);
        let quoted = long.replace('\'', r"'\''");
        let begun = Instant::now();
        assert_eq!(text(&remote, &format!("printf %s '{quoted}'")).await, long, "{shell:?}");
        println!("{shell:?}: {} bytes in {:?}", long.len(), begun.elapsed());
        let begun = Instant::now();
        for _ in 0..100 {
            assert_eq!(text(&remote, "echo 1").await, "1\n");
        }
        println!("{shell:?}: {:?} per script", begun.elapsed() / 100);
        remote.close().await;
        assert_eq!(remote.state(), RemoteState::NotConnected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_and_streams_work_over_ssh() {
    let tmux = TmuxServer::new();
    let sshd = Sshd::start();
    let remote = over_ssh(&tmux, &sshd);
    assert_eq!(remote.state(), RemoteState::NotConnected);
    let server = connect_through(&tmux, &remote);
    assert_eq!(server.run(print("works")).await.unwrap().text(), "works\n");
    assert!(matches!(remote.state(), RemoteState::Connected { .. }));
    assert_eq!(clients(&tmux).len(), 1);
    let begun = Instant::now();
    for _ in 0..100 {
        server.run(print("works")).await.unwrap();
    }
    println!("{:?} per command", begun.elapsed() / 100);
    let begun = Instant::now();
    server.spawned(&[print("spawned")]).await.unwrap();
    println!("{:?} per spawned command", begun.elapsed());
    let facts = remote.facts().await.unwrap();
    assert_eq!(facts.uid, Some(rustix::process::getuid().as_raw()));
    println!("{facts:?}");
    remote.close().await;
    assert!(matches!(server.run(print("x")).await, Err(Error::Unreachable { .. })));
    until("the client has left", async || clients(&tmux).is_empty().then_some(())).await;
    let _ = (Command::query("x"), Duration::ZERO);
}
