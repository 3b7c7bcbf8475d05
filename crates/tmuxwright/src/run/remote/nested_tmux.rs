//! A tmux client that runs in a pane: which pane of its own server it shows.
//!
//! The client draws a screen, so the output of a program cannot be read from the pane around it. Its server can
//! be asked, and has the output itself.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use process::Foreground;
use tmux_control::discover::sockets;
use tmux_control::{Command, Error, PaneId, Row, Server, Socket, row};
use tokio::task::JoinSet;

use super::relay::ShellTerminal;
use crate::file_io;
use crate::run::Engine;

/// Name of the program of a tmux client.
pub(super) const CLIENT: &str = "tmux";

row! {
    ClientFacts {
        pid: u32 = "client_pid",
        pane: Option<PaneId> = "pane_id",
    }
}

/// The pane that a tmux client shows. `None` on another system, whose sockets are not searched; if its server is not
/// found, as one with a socket in a directory of its own; if it belongs to another user; and if it is the server of this
/// engine, or one that calls may not see: a pane there has to be the target itself, so that the rules are asked about it.
pub(super) async fn terminal_of(engine: &Engine, client: &Foreground) -> Option<ShellTerminal> {
    if !engine.host().system().is_local() {
        return None;
    }
    let (argv, pid) = (client.argv.clone(), client.pid);
    let (allowed, ours) =
        (engine.shared.allowed.clone(), Socket::Path(engine.tmux().socket_path()));
    let known: Vec<PathBuf> = engine.records().nested_servers.keys().cloned().collect();
    let directory = engine.directory_of(pid).await.unwrap_or_default();
    // The file system of a path in the arguments may not answer.
    let find = move || {
        let mut paths = candidates(&argv, &directory);
        paths.retain(|path| {
            let socket = Socket::Path(path.clone());
            is_own(path) && !socket.is_same_as(&ours) && allowed.include(&socket)
        });
        let gone: Vec<PathBuf> = known.into_iter().filter(|path| !path.exists()).collect();
        (paths, gone)
    };
    let (paths, gone) = file_io::off_runtime(find).await.ok()?;
    engine.records().nested_servers.retain(|path, _| !gone.contains(path));
    let mut asked = JoinSet::new();
    for path in paths {
        let known = engine.records().nested_servers.get(&path).cloned();
        let tmux = known.unwrap_or_else(|| engine.tmux().beside(Socket::Path(path.clone())));
        asked.spawn(async move { (path, pane_shown_by(&tmux, pid).await, tmux) });
    }
    while let Some(done) = asked.join_next().await {
        match done {
            Ok((path, Ok(Some(shown)), tmux)) => {
                engine.records().nested_servers.insert(path, tmux.clone());
                let pane = tmux.row(&shown.to_string()).await.ok()?;
                return Some(ShellTerminal { tmux, processes: engine.processes().clone(), pane });
            }
            Ok((path, Err(_), _)) => {
                engine.records().nested_servers.remove(&path);
            }
            Ok((_, Ok(None), _)) | Err(_) => {}
        }
    }
    None
}

/// The pane that the client with this process shows, if it is one of the server.
async fn pane_shown_by(tmux: &Server, pid: u32) -> Result<Option<PaneId>, Error> {
    // No control client attaches to a server that may not be the one.
    let query = [Command::query("list-clients").option("-F", ClientFacts::format())];
    let replies = tmux.spawned(&query).await?;
    let text: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    let clients = ClientFacts::parse_all("list-clients", &text)?;
    Ok(clients.into_iter().find(|it| it.pid == pid).and_then(|it| it.pane))
}

/// Whether a socket belongs to the user of this process. A server of another user would learn the environment.
fn is_own(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.uid() == rustix::process::getuid().as_raw())
}

/// Sockets to which a client with these arguments, in this directory, may be connected.
fn candidates(argv: &[String], directory: &Path) -> Vec<PathBuf> {
    let mut arguments = argv.iter().skip(1);
    while let Some(argument) = arguments.next().filter(|it| it.starts_with('-')) {
        let mut value = |letter: &str| {
            let attached = argument.strip_prefix(letter)?;
            if attached.is_empty() { arguments.next().cloned() } else { Some(attached.to_owned()) }
        };
        if let Some(path) = value("-S") {
            return vec![directory.join(path)];
        }
        if let Some(name) = value("-L") {
            return vec![Socket::Name(name).path()];
        }
        // Options with a value of another kind.
        let _ = value("-f").or_else(|| value("-c")).or_else(|| value("-T"));
    }
    sockets()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_arguments_name_the_socket() {
        let of = |line: &str| {
            let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
            candidates(&argv, Path::new("/home/me"))
        };
        let named = vec![Socket::Name("work".to_owned()).path()];
        for (line, expected) in [
            ("tmux -L work attach", &named),
            ("tmux -u -Lwork attach", &named),
            ("tmux -f /dev/null -L work new -s x", &named),
            ("tmux -S /tmp/s attach -t -Lx", &vec![PathBuf::from("/tmp/s")]),
            ("tmux -S/tmp/s", &vec![PathBuf::from("/tmp/s")]),
            ("tmux -S s new", &vec![PathBuf::from("/home/me/s")]),
        ] {
            assert_eq!(&of(line), expected, "{line}");
        }
        assert_eq!(of("tmux attach -S x"), sockets());
    }
}
