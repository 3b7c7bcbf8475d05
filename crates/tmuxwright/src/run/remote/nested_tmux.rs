//! A tmux client that runs in a pane: which pane of its own server it shows.
//!
//! The client draws a screen, so the output of a program cannot be read from the pane around it. Its server can
//! be asked, and has the output itself.

use std::path::PathBuf;

use process::Foreground;
use tmux_control::discover::sockets;
use tmux_control::{Command, PaneId, Row, Server, Socket, row};

use super::relay::ShellTerminal;
use crate::run::Engine;

/// Name of the program of a tmux client.
pub(super) const CLIENT: &str = "tmux";

row! {
    ClientFacts {
        pid: u32 = "client_pid",
        pane: Option<PaneId> = "pane_id",
    }
}

/// The pane that a tmux client shows. `None` if its server is not found: one of another user, or with a socket in a
/// directory of its own.
pub(super) async fn terminal_of(engine: &Engine, client: &Foreground) -> Option<ShellTerminal> {
    for path in candidates(&client.argv) {
        let known = engine.records().nested_servers.get(&path).cloned();
        let tmux = known.unwrap_or_else(|| engine.tmux().beside(Socket::Path(path.clone())));
        // No control client attaches to a server that may not be the one.
        let query = [Command::query("list-clients").option("-F", ClientFacts::format())];
        let Ok(replies) = tmux.spawned(&query).await else {
            engine.records().nested_servers.remove(&path);
            continue;
        };
        let text: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
        let Ok(clients) = ClientFacts::parse_all("list-clients", &text) else { continue };
        let shown = clients.into_iter().find(|it| it.pid == client.pid).and_then(|it| it.pane);
        if let Some(shown) = shown {
            engine.records().nested_servers.insert(path, Server::clone(&tmux));
            let pane = tmux.row(&shown.to_string()).await.ok()?;
            return Some(ShellTerminal { tmux, pane });
        }
    }
    None
}

/// Sockets to which a client with these arguments may be connected.
fn candidates(argv: &[String]) -> Vec<PathBuf> {
    let mut arguments = argv.iter().skip(1);
    while let Some(argument) = arguments.next().filter(|it| it.starts_with('-')) {
        let mut value = |letter: &str| {
            let attached = argument.strip_prefix(letter)?;
            if attached.is_empty() { arguments.next().cloned() } else { Some(attached.to_owned()) }
        };
        if let Some(path) = value("-S") {
            return vec![path.into()];
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
        let of = |line: &str| candidates(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let named = vec![Socket::Name("work".to_owned()).path()];
        for (line, expected) in [
            ("tmux -L work attach", &named),
            ("tmux -u -Lwork attach", &named),
            ("tmux -f /dev/null -L work new -s x", &named),
            ("tmux -S /tmp/s attach -t -Lx", &vec![PathBuf::from("/tmp/s")]),
            ("tmux -S/tmp/s", &vec![PathBuf::from("/tmp/s")]),
        ] {
            assert_eq!(&of(line), expected, "{line}");
        }
        assert_eq!(of("tmux attach -S x"), sockets());
    }
}
