//! `list_servers`: every tmux server of this user that can be found.

use std::path::PathBuf;

use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Socket;
use tmux_control::discover::{self, Found};

use crate::context::{Cx, Tool};
use crate::contract::{FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

pub(super) struct ListServers;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// More sockets to try.
    #[schemars(with = "Option<Vec<FilePath>>")]
    paths: Option<Vec<FilePath>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Servers {
    /// One entry per server, and per path that was asked for.
    servers: Vec<Server>,
}

#[derive(Serialize, JsonSchema)]
struct Server {
    /// Its socket.
    socket: String,
    /// Its name, as in `tmux -L`.
    name: Option<String>,
    /// Whether it runs.
    alive: bool,
    /// Its process.
    pid: Option<u32>,
    /// Its version.
    version: Option<String>,
    /// How many sessions it has.
    sessions: Option<u32>,
    /// Whether it is the one that these tools drive.
    current: bool,
    /// What is wrong with it.
    problem: Option<String>,
}

impl Output for Servers {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        if self.servers.is_empty() {
            return "no servers".to_owned();
        }
        self.servers.iter().map(Server::row).collect::<Vec<_>>().join("\n")
    }
}

impl Server {
    fn new(socket: PathBuf, current: &Socket, found: Found) -> Self {
        let in_directory = socket.parent() == Some(&Socket::directory());
        let name = socket.file_name().filter(|_| in_directory);
        let current = Socket::Path(socket.clone()).is_same_as(current);
        let mut server = Self {
            name: name.map(|name| name.to_string_lossy().into_owned()),
            socket: socket.to_string_lossy().into_owned(),
            alive: matches!(found, Found::Server { .. } | Found::Mute(_)),
            pid: None,
            version: None,
            sessions: None,
            current,
            problem: None,
        };
        match found {
            Found::Server { pid, version, sessions } => {
                server.pid = Some(pid);
                server.version = Some(version);
                server.sessions = Some(sessions);
            }
            Found::Mute(why) => server.problem = Some(why),
            Found::Stale => server.problem = Some("no server is running there".to_owned()),
            Found::NoSocket => server.problem = Some("there is no socket".to_owned()),
        }
        server
    }

    fn row(&self) -> String {
        let mut row = inline(&self.socket);
        if let (Some(pid), Some(version)) = (self.pid, &self.version) {
            row.push_str(&format!(" · tmux {version} · pid {pid}"));
        }
        if let Some(sessions) = self.sessions {
            row.push_str(&format!(" · {}", count(sessions, "session")));
        }
        if let Some(problem) = &self.problem {
            row.push_str(&format!(" · {}", inline(problem)));
        }
        row + if self.current { " · current" } else { "" }
    }
}

impl Tool for ListServers {
    const META: Meta = Meta {
        name: "list_servers",
        title: "List servers",
        description: "List the tmux servers that run: socket, version, pid, sessions.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Servers;

    async fn call(cx: &Cx, args: Args) -> Result<Servers, ToolError> {
        let asked = args.paths.unwrap_or_default();
        let asked: Vec<PathBuf> =
            asked.iter().map(|path| cx.path_argument(path, "paths")).collect::<Result<_, _>>()?;
        let current = Socket::Path(cx.tmux().socket_path());
        let mut sockets = discover::sockets();
        sockets.extend(
            asked.iter().filter(|path| !sockets.contains(path)).cloned().collect::<Vec<_>>(),
        );
        if !sockets.iter().any(|socket| Socket::Path(socket.clone()).is_same_as(&current)) {
            sockets.push(current.path());
        }
        sockets.retain(|socket| cx.reaches(&Socket::Path(socket.clone())));
        let looks = sockets.into_iter().map(|socket| async {
            let found = cx.tmux().look_behind(&socket).await;
            // Nobody asked for what is not there.
            let wanted =
                matches!(found, Found::Server { .. } | Found::Mute(_)) || asked.contains(&socket);
            wanted.then(|| Server::new(socket, &current, found))
        });
        Ok(Servers { servers: join_all(looks).await.into_iter().flatten().collect() })
    }
}
