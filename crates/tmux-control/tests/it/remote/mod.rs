//! tmux servers on another system: over a real sshd, and through commands.

mod clean_up;
mod failures;
mod operations;
mod scripts;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use testkit::{Sshd, TmuxServer};
use tmux_control::{Program, Remote, RemoteOptions, Route, Server, SocketDir};

use crate::program;

/// The directory of a test's control sockets.
#[derive(Debug)]
struct Sockets(PathBuf);

impl SocketDir for Sockets {
    fn socket_dir(&self) -> std::io::Result<PathBuf> {
        Ok(self.0.clone())
    }
}

fn options(tmux: &TmuxServer) -> RemoteOptions {
    RemoteOptions::new(Arc::new(Sockets(tmux.home().to_path_buf())))
}

/// Options with which a loss is noticed within three seconds.
fn quick(tmux: &TmuxServer) -> RemoteOptions {
    let second = Duration::from_secs(1);
    RemoteOptions { keep_alive: second, connect_timeout: 2 * second, ..options(tmux) }
}

fn over_ssh(tmux: &TmuxServer, sshd: &Sshd) -> Remote {
    Remote::new(Route::ssh(&sshd.destination()).unwrap(), options(tmux))
}

/// A route through a command that runs its words here: a stand-in for `docker exec -i box`.
fn command(words: &[&str]) -> Route {
    Route::command(words.iter().map(|&word| word.to_owned()).collect()).unwrap()
}

/// The test's tmux server, by way of `remote`.
fn connect(tmux: &TmuxServer, remote: &Remote) -> Server {
    Server::new(Program { remote: Some(remote.clone()), ..program(tmux) })
}

/// The output of a script, as text.
async fn text(remote: &Remote, script: &str) -> String {
    String::from_utf8(remote.run(script).await.unwrap()).unwrap()
}
