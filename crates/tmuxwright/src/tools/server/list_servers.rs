//! `list_servers`: lists the tmux servers that can be reached, and this user's other ones.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::discover::{self, SocketState};
use tmux_control::{Command, Server, Socket, row};
use tokio::time::timeout;

use crate::context::{Cx, ReachableServer, Tool};
use crate::contract::{Code, FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::file_io;
use crate::host::Host;
use crate::results::words::{FactRow, count, field, rows};

/// Sockets probed at once. Each probe starts a tmux client.
const CONCURRENT_PROBES: usize = 8;

/// Time that a server on another system has to answer, its connection included.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(8);

pub(super) struct ListServers;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Further local socket paths to probe.
    #[schemars(with = "Option<Vec<FilePath>>")]
    paths: Option<Vec<FilePath>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ServerList {
    /// One entry per running server, per server that can be reached, and per given path.
    servers: Vec<ServerEntry>,
}

#[derive(Serialize, JsonSchema)]
struct ServerEntry {
    /// Path of the socket.
    socket: String,
    /// Name, as in `tmux -L`.
    name: Option<String>,
    /// Value for the argument `server`, if several servers can be reached and this is one of them.
    server: Option<String>,
    /// System on which it runs, if that is another.
    host: Option<String>,
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
    fn new(candidate: Candidate, found: SocketState) -> Self {
        let Candidate { mut socket, reached } = candidate;
        if let Some(there) = reached.as_ref().filter(|it| it.scope.is_remote()) {
            // Known once its system has answered.
            socket = there.host.tmux().socket_path();
        }
        let host = reached.as_ref().and_then(|it| it.scope.route()).map(ToString::to_string);
        let is_local = host.is_none();
        let in_directory = is_local && socket.parent() == Some(&Socket::directory());
        let name = socket.file_name().filter(|_| in_directory);
        let several = reached.as_ref().filter(|it| it.scope.has_others());
        let mut server = Self {
            name: name.map(|name| name.to_string_lossy().into_owned()),
            server: several.map(|it| it.scope.name().to_string()),
            host,
            socket: socket.to_string_lossy().into_owned(),
            // Of another system no answer says nothing about the server.
            alive: matches!(found, SocketState::Server { .. }) || (is_local && is_running(&found)),
            pid: None,
            version: None,
            sessions: None,
            current: reached.is_some_and(|it| it.scope.is_default()),
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
            .maybe(self.server.as_ref().map(|server| format!("server {}", field(server))))
            .maybe(self.host.as_ref().map(|host| format!("host {}", field(host))))
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
        description: "List tmux servers: socket, name, state, version, pid, sessions.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ServerList;
    const ON_ONE_SERVER: bool = false;

    async fn call(cx: &Cx, args: Args) -> Result<ServerList, ToolError> {
        let asked = args.paths.unwrap_or_default();
        let asked: Vec<PathBuf> =
            asked.iter().map(|path| cx.path_argument(path, "paths")).collect::<Result<_, _>>()?;
        let reached = cx.request.calls.servers();
        let prober = reached.iter().find_map(|it| local_host(it).map(|host| host.tmux().clone()));
        let (given, visible) = (asked.clone(), cx.server_filter());
        let discovers = prober.is_some();
        let candidates =
            file_io::off_runtime(move || candidates(given, reached, discovers, visible)).await;
        let candidates = candidates.map_err(|error| {
            ToolError::new(Code::FileFailed, format!("tmux's sockets cannot be listed: {error}"))
                .hint("leave `paths` out")
        })?;
        let (asked, prober) = (&asked, &prober);
        let probes = candidates.into_iter().map(|candidate| async move {
            let found = candidate.probe(prober.as_ref()).await;
            let chosen = candidate.reached.as_ref().is_some_and(|it| it.scope.has_others());
            // A socket without a server is of interest only if the caller or the config file named it.
            let wanted = is_running(&found) || chosen || asked.contains(&candidate.socket);
            let others = match &candidate.reached {
                Some(it) if it.scope.is_remote() && !is_unreachable(&found) => {
                    others_there(it).await
                }
                _ => Vec::new(),
            };
            let entry = wanted.then(|| ServerEntry::new(candidate, found));
            entry.into_iter().chain(others).collect::<Vec<_>>()
        });
        let probes = stream::iter(probes).buffered(CONCURRENT_PROBES);
        let mut servers: Vec<ServerEntry> = probes.flat_map(stream::iter).collect().await;
        drop_repeated(&mut servers);
        Ok(ServerList { servers })
    }
}

/// A server that may be listed.
struct Candidate {
    socket: PathBuf,
    /// Set if calls can reach it.
    reached: Option<ReachableServer>,
}

row! {
    SessionOfServer {
        pid: u32 = "pid",
        version: String = "version",
    }
}

impl Candidate {
    /// The state of the server. `prober` has the tmux program for servers on this system.
    async fn probe(&self, prober: Option<&Server>) -> SocketState {
        let there = self.reached.as_ref().filter(|it| it.scope.is_remote());
        match (there, prober) {
            (Some(server), _) => match timeout(REMOTE_TIMEOUT, probe_there(server)).await {
                Ok(state) => state,
                Err(_) => SocketState::Unresponsive("its system does not answer".to_owned()),
            },
            (None, Some(prober)) => prober.probe_socket(&self.socket).await,
            (None, None) => SocketState::NoSocket,
        }
    }
}

/// Asks a server on another system for its state.
async fn probe_there(server: &ReachableServer) -> SocketState {
    match server.host.tmux().rows::<SessionOfServer>(Command::query("list-sessions")).await {
        Ok(rows) => match rows.first() {
            Some(SessionOfServer { pid, version }) => SocketState::Server {
                pid: *pid,
                version: version.clone(),
                sessions: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            },
            None => SocketState::Stale,
        },
        Err(error) if error.is_no_server() => SocketState::Stale,
        Err(error) => SocketState::Unresponsive(error.to_string()),
    }
}

/// Whether the system of a server does not answer, so that nothing is known about its other servers.
fn is_unreachable(state: &SocketState) -> bool {
    matches!(state, SocketState::Unresponsive(_))
}

/// The other running servers on the system of a server, as far as its rules show them.
async fn others_there(server: &ReachableServer) -> Vec<ServerEntry> {
    let tmux = server.host.tmux();
    let found = async {
        let mut sockets = tmux.sockets().await.unwrap_or_default();
        let own = tmux.socket_path();
        sockets.retain(|path| *path != own && server.guard.reaches(&Socket::Path(path.clone())));
        let mut entries = Vec::new();
        for socket in sockets {
            let state = tmux.probe_socket(&socket).await;
            if is_running(&state) {
                let candidate = Candidate { socket, reached: None };
                let host = server.scope.route().map(ToString::to_string);
                entries.push(ServerEntry { host, ..ServerEntry::new(candidate, state) });
            }
        }
        entries
    };
    timeout(REMOTE_TIMEOUT, found).await.unwrap_or_default()
}

/// Drops discovered servers that are listed already: several configured ones can be on one system.
fn drop_repeated(servers: &mut Vec<ServerEntry>) {
    let place = |it: &ServerEntry| (it.host.clone(), it.socket.clone());
    let chosen = servers.iter().filter(|it| it.server.is_some());
    let mut seen: HashSet<_> = chosen.map(place).collect();
    servers.retain(|it| it.host.is_none() || it.server.is_some() || seen.insert(place(it)));
}

/// The host of a server on this system.
fn local_host(server: &ReachableServer) -> Option<&Host> {
    Some(&*server.host).filter(|_| !server.scope.is_remote())
}

fn is_running(state: &SocketState) -> bool {
    matches!(state, SocketState::Server { .. } | SocketState::Unresponsive(_))
}

/// The servers to probe that the call may see: all sockets in tmux's directory, the given ones, and the servers that
/// can be reached, those on other systems last.
fn candidates(
    given: Vec<PathBuf>,
    reached: Vec<ReachableServer>,
    discovers: bool,
    visible: impl Fn(&Socket) -> bool,
) -> Vec<Candidate> {
    let mut sockets = if discovers { discover::sockets() } else { Vec::new() };
    for path in given {
        if !sockets.contains(&path) {
            sockets.push(path);
        }
    }
    sockets.retain(|path| visible(&Socket::Path(path.clone())));
    let unreached = |socket| Candidate { socket, reached: None };
    let mut candidates: Vec<Candidate> = sockets.into_iter().map(unreached).collect();
    for server in reached {
        let socket = Socket::Path(server.socket.clone());
        let is_it = |it: &&mut Candidate| {
            it.reached.is_none()
                && !server.scope.is_remote()
                && Socket::Path(it.socket.clone()).is_same_as(&socket)
        };
        match candidates.iter_mut().find(is_it) {
            Some(listed) => listed.reached = Some(server),
            None => {
                let socket = server.socket.clone();
                candidates.push(Candidate { socket, reached: Some(server) });
            }
        }
    }
    candidates.sort_by_key(|it| it.reached.as_ref().is_some_and(|it| it.scope.is_remote()));
    candidates
}
