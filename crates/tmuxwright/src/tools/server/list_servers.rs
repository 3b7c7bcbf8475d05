//! `list_servers`: lists this user's tmux servers.

use std::path::PathBuf;

use futures::stream::{self, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Socket;
use tmux_control::discover::{self, SocketState};

use crate::context::{Cx, Tool};
use crate::contract::{Code, FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::file_io;
use crate::results::words::{FactRow, count, field, rows};

/// Sockets probed at once. Each probe starts a tmux client.
const CONCURRENT_PROBES: usize = 8;

pub(super) struct ListServers;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Further socket paths to probe.
    #[schemars(with = "Option<Vec<FilePath>>")]
    paths: Option<Vec<FilePath>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ServerList {
    /// One entry per running server, and per given path.
    servers: Vec<ServerEntry>,
}

#[derive(Serialize, JsonSchema)]
struct ServerEntry {
    /// Path of the socket.
    socket: String,
    /// Name, as in `tmux -L`.
    name: Option<String>,
    /// Whether the server runs.
    alive: bool,
    /// Process id.
    pid: Option<u32>,
    /// tmux version.
    version: Option<String>,
    /// Number of sessions.
    sessions: Option<u32>,
    /// Whether it is the server that these tools use.
    current: bool,
    /// Why there is no answer from the socket.
    problem: Option<String>,
}

impl Output for ServerList {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        rows(&self.servers, ServerEntry::row, "no servers")
    }
}

impl ServerEntry {
    fn new(socket: PathBuf, current: bool, found: SocketState) -> Self {
        let in_directory = socket.parent() == Some(&Socket::directory());
        let name = socket.file_name().filter(|_| in_directory);
        let mut server = Self {
            name: name.map(|name| name.to_string_lossy().into_owned()),
            socket: socket.to_string_lossy().into_owned(),
            alive: matches!(found, SocketState::Server { .. } | SocketState::Unresponsive(_)),
            pid: None,
            version: None,
            sessions: None,
            current,
            problem: None,
        };
        match found {
            SocketState::Server { pid, version, sessions } => {
                server.pid = Some(pid);
                server.version = Some(version);
                server.sessions = Some(sessions);
            }
            SocketState::Unresponsive(why) => server.problem = Some(why),
            SocketState::Stale => server.problem = Some("no server is running there".to_owned()),
            SocketState::NoSocket => server.problem = Some("there is no socket".to_owned()),
        }
        server
    }

    fn row(&self) -> String {
        FactRow::new(field(&self.socket))
            .maybe(self.name.as_ref().map(|name| format!("name {}", field(name))))
            .maybe(self.version.as_ref().map(|version| format!("tmux {}", field(version))))
            .maybe(self.pid.map(|pid| format!("pid {pid}")))
            .maybe(self.sessions.map(|sessions| count(sessions, "session")))
            .maybe(self.problem.as_ref().map(|problem| format!("problem {}", field(problem))))
            .flag(self.alive, "alive")
            .flag(self.current, "current")
            .into()
    }
}

impl Tool for ListServers {
    const META: Meta = Meta {
        name: "list_servers",
        title: "List servers",
        description: "List running tmux servers: socket, name, version, pid, sessions.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ServerList;

    async fn call(cx: &Cx, args: Args) -> Result<ServerList, ToolError> {
        let asked = args.paths.unwrap_or_default();
        let asked: Vec<PathBuf> =
            asked.iter().map(|path| cx.path_argument(path, "paths")).collect::<Result<_, _>>()?;
        let (given, driven) = (asked.clone(), cx.tmux().socket_path());
        let visible = cx.server_filter();
        let sockets = file_io::off_runtime(move || candidates(given, driven, visible)).await;
        let sockets = sockets.map_err(|error| {
            ToolError::new(Code::FileFailed, format!("tmux's sockets cannot be listed: {error}"))
                .hint("leave `paths` out")
        })?;
        let asked = &asked;
        let probes = sockets.into_iter().map(|(socket, current)| async move {
            let found = cx.tmux().probe_socket(&socket).await;
            // A socket without a server is of interest only if the caller named it.
            let wanted = matches!(found, SocketState::Server { .. } | SocketState::Unresponsive(_))
                || asked.contains(&socket);
            wanted.then(|| ServerEntry::new(socket, current, found))
        });
        let probes = stream::iter(probes).buffered(CONCURRENT_PROBES);
        let servers = probes.filter_map(|entry| async { entry }).collect().await;
        Ok(ServerList { servers })
    }
}

/// The sockets to probe that the call may see, each with whether it is the one these tools use: all in
/// tmux's directory, the given ones, and `driven`.
fn candidates(
    given: Vec<PathBuf>,
    driven: PathBuf,
    visible: impl Fn(&Socket) -> bool,
) -> Vec<(PathBuf, bool)> {
    let current = Socket::Path(driven.clone());
    let is_current = |path: &PathBuf| Socket::Path(path.clone()).is_same_as(&current);
    let mut sockets = discover::sockets();
    for path in given {
        if !sockets.contains(&path) {
            sockets.push(path);
        }
    }
    if !sockets.iter().any(is_current) {
        sockets.push(driven);
    }
    sockets.retain(|path| visible(&Socket::Path(path.clone())));
    sockets.into_iter().map(|path| (path.clone(), is_current(&path))).collect()
}
