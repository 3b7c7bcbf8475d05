//! The tmux servers that calls can reach: the default one, and those of `[servers.NAME]` in the config file. The
//! keys of such a table are declared once, in [`SERVER_KEYS`]; the check for unknown keys and docs/config.md follow
//! from the list.

use std::ffi::OsString;

use strum::VariantNames as _;
use tmux_control::{Route, Socket};

use super::value::{choice, socket};
use super::{SettingKind, Settings};
use crate::contract::nearest;
use crate::host::Host;
use crate::policy::{Ceiling, ServerPlace};

/// The table of the config file that holds them.
pub const SERVERS_TABLE: &str = "servers";

/// The name of the server of `--socket`, `--ssh` or `--via`.
pub const DEFAULT_SERVER: &str = "default";

/// Limit of a name, which stands in every answer.
const MAX_NAME_BYTES: usize = 40;

/// A tmux server that calls can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// Its name, as the argument `server` takes it.
    pub name: String,
    /// Its socket, if one was named.
    pub socket: Option<Socket>,
    /// The tmux program on its system, if one was named.
    pub tmux: Option<OsString>,
    /// The way to its system; `None` for this one.
    pub route: Option<Route>,
    /// The highest tier on it, if that differs from the tier of all servers.
    pub ceiling: Option<Ceiling>,
}

impl ServerSettings {
    /// The place of the server, by which rules know it.
    pub fn place(&self) -> ServerPlace {
        let socket = self.socket.clone().unwrap_or(Socket::Default);
        ServerPlace { name: self.name.clone(), socket, route: self.route.clone() }
    }
}

/// The declaration of a key of a server.
pub struct ServerKey {
    /// Key below `servers.NAME`.
    pub key: &'static str,
    /// Kind of value.
    pub kind: SettingKind,
    /// Default, in words for people.
    pub default: &'static str,
    /// Help text, without a full stop at the end.
    pub help: &'static str,
    set: fn(&mut DeclaredServer, &str) -> Result<(), String>,
}

/// All keys of a server, in the order of the documentation.
pub const SERVER_KEYS: &[ServerKey] = &[
    ServerKey {
        key: "socket",
        kind: SettingKind::Text("PATH|NAME"),
        default: "tmux's default there",
        help: "Its socket: a path, a name as for `tmux -L`, or `auto:DIR` for the socket of a project",
        set: |it, v| socket(v).map(|v| it.server.socket = Some(v)),
    },
    ServerKey {
        key: "tmux",
        kind: SettingKind::Text("PATH"),
        default: "`tmux` of this server; with `ssh` or `via`, tmux in PATH there",
        help: "tmux program on its system",
        set: |it, v| {
            it.server.tmux = Some(v.into());
            Ok(())
        },
    },
    ServerKey {
        key: "ssh",
        kind: SettingKind::Text("[OPTIONS] DEST"),
        default: "none",
        help: "Host on which it runs, as for `ssh`",
        set: |it, v| Route::ssh(v).map(|v| it.ssh = Some(v)),
    },
    ServerKey {
        key: "via",
        kind: SettingKind::List("WORD"),
        default: "none",
        help: "Command that runs a program where the server runs, such as `[\"docker\", \"exec\", \"-i\", \"box\"]`",
        set: |it, v| words(v).and_then(Route::command).map(|v| it.via = Some(v)),
    },
    ServerKey {
        key: "tier",
        kind: SettingKind::Choice(Ceiling::VARIANTS),
        default: "that of `--tier`",
        help: "Highest tier of calls on it, in place of `--tier`",
        set: |it, v| choice(v).map(|v| it.server.ceiling = Some(v)),
    },
];

/// A server as far as its keys are set.
#[derive(Debug, Default)]
pub(super) struct DeclaredServer {
    server: ServerSettings,
    ssh: Option<Route>,
    via: Option<Route>,
}

impl DeclaredServer {
    /// The server, once every key is set.
    fn finish(self) -> Result<ServerSettings, String> {
        let Self { server, ssh, via } = self;
        let table = format!("[{SERVERS_TABLE}.{}]", server.name);
        let route = match (ssh, via) {
            (Some(_), Some(_)) => {
                return Err(format!(
                    "`{table}`: `ssh` and `via` exclude each other; leave one out"
                ));
            }
            (ssh, via) => ssh.or(via),
        };
        if route.is_none() && server.socket.is_none() {
            return Err(format!("`{table}` names no server; set `socket`, `ssh` or `via`"));
        }
        Ok(ServerSettings { route, ..server })
    }
}

/// The servers that the config file declares, in its order.
#[derive(Debug, Default)]
pub(super) struct ServerTable(Vec<DeclaredServer>);

impl ServerTable {
    /// Sets a key of the config file. False if it does not belong to a server.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let Some((name, declared)) = find(key) else { return Ok(false) };
        check_name(name)?;
        let at = self.0.iter().position(|it| it.server.name == name).unwrap_or_else(|| {
            let server = ServerSettings { name: name.to_owned(), ..ServerSettings::default() };
            self.0.push(DeclaredServer { server, ..DeclaredServer::default() });
            self.0.len() - 1
        });
        if let Some(server) = self.0.get_mut(at) {
            (declared.set)(server, value)?;
        }
        Ok(true)
    }

    /// All servers, once every key is set.
    pub(super) fn finish(self) -> Result<Vec<ServerSettings>, String> {
        self.0.into_iter().map(DeclaredServer::finish).collect()
    }
}

impl Settings {
    /// The tmux servers that calls can reach, the default one first. The server of `--socket` is left out if the
    /// policy excludes it and the person did not name it.
    pub fn reachable_servers(&self) -> Vec<ServerSettings> {
        let reach = &self.policy.reach;
        let mut servers: Vec<ServerSettings> = Vec::new();
        let default = self.default_server();
        if reach.admits(&default.place()) {
            servers.push(default);
        }
        for configured in self.servers.iter().filter(|server| reach.admits(&server.place())) {
            // The default server under the name that the person gave it.
            match servers.first_mut().filter(|it| it.place().is_same_as(&configured.place())) {
                Some(default) => *default = configured.clone(),
                None => servers.push(configured.clone()),
            }
        }
        for (word, socket) in reach.sockets() {
            let name = match word {
                // The socket of that name is not the server of this name.
                DEFAULT_SERVER => socket.to_string(),
                word => word.to_owned(),
            };
            let socket = Some(socket.clone());
            let server = ServerSettings { name, socket, ..ServerSettings::default() };
            if !servers.iter().any(|known| known.place().is_same_as(&server.place())) {
                servers.push(server);
            }
        }
        servers
    }

    /// The server of `--socket`, `--ssh` or `--via`.
    pub fn default_server(&self) -> ServerSettings {
        let route = self.ssh.clone().or_else(|| self.via.clone());
        let socket = match &route {
            None => Some(self.socket.clone().unwrap_or_else(Host::default_socket)),
            Some(_) => self.socket.clone(),
        };
        let (name, tmux) = (DEFAULT_SERVER.to_owned(), Some(self.tmux.clone()));
        ServerSettings { name, socket, tmux, route, ceiling: None }
    }

    /// Refuses servers that contradict each other or the policy.
    pub(super) fn check_servers(&self) -> Result<(), String> {
        if self.ssh.is_some() && self.via.is_some() {
            return Err(
                "`ssh` and `via` exclude each other; leave one out, or set it to the empty text"
                    .to_owned(),
            );
        }
        let mut earlier: Vec<ServerPlace> = Vec::new();
        for place in self.servers.iter().map(ServerSettings::place) {
            if let Some(same) = earlier.iter().find(|other| other.is_same_as(&place)) {
                return Err(format!(
                    "`[{SERVERS_TABLE}.{}]` and `[{SERVERS_TABLE}.{}]` are the same server; leave one out",
                    same.name, place.name
                ));
            }
            earlier.push(place);
        }
        let is_named = self.socket.is_some() || self.ssh.is_some() || self.via.is_some();
        let default = self.default_server().place();
        if !self.policy.reach.admits(&default) && (is_named || self.reachable_servers().is_empty())
        {
            let server = match &default.route {
                None => format!("the tmux server {}", default.socket),
                Some(route) => format!("the tmux server on {route}"),
            };
            return Err(format!("{server} is not in policy.allowed_servers"));
        }
        Ok(())
    }
}

/// The name and the key of a dotted key of the config file.
fn find(key: &str) -> Option<(&str, &'static ServerKey)> {
    let (name, key) = split(key)?;
    Some((name, SERVER_KEYS.iter().find(|declared| declared.key == key)?))
}

fn split(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(SERVERS_TABLE)?.strip_prefix('.')?.rsplit_once('.')
}

/// The kind of value of a key of the config file, if it belongs to a server.
pub(super) fn kind(key: &str) -> Option<SettingKind> {
    find(key).map(|(_, declared)| declared.kind)
}

/// The error for a key of this table that is not declared; `None` for keys of others.
pub(super) fn unknown(key: &str) -> Option<String> {
    let below = key.strip_prefix(SERVERS_TABLE)?;
    let keys = || SERVER_KEYS.iter().map(|declared| declared.key);
    let valid = || {
        format!(
            "the keys of `[{SERVERS_TABLE}.NAME]` are {}",
            keys().collect::<Vec<_>>().join(", ")
        )
    };
    let missing = format!("there is no config key `{key}`");
    Some(match split(key) {
        Some((name, last)) => match nearest(last, keys()) {
            Some(near) => format!("{missing}; did you mean `{SERVERS_TABLE}.{name}.{near}`?"),
            None => format!("{missing}; {}", valid()),
        },
        None if below.is_empty() || below.starts_with('.') => format!("{missing}; {}", valid()),
        None => return None,
    })
}

fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_plain) {
        return Err(format!(
            "`{name}` is not a name of a server; it may hold letters, digits, `-`, `_` and `.`, at most \
             {MAX_NAME_BYTES} of them"
        ));
    }
    if name == DEFAULT_SERVER {
        return Err(format!(
            "`{name}` is the server of --socket, --ssh or --via; choose another name"
        ));
    }
    Ok(())
}

/// The words of a list, which come one per line. A whole command in one word would be the name of a program.
fn words(lines: &str) -> Result<Vec<String>, String> {
    match lines.lines().next() {
        Some(program) if program.contains(' ') => Err(format!(
            "`{program}` is not a program; give a list of words, such as [\"docker\", \"exec\", \"-i\", \"box\"]"
        )),
        _ => Ok(lines.lines().map(str::to_owned).collect()),
    }
}
