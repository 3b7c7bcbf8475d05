//! The tmux servers that calls can reach, each with its policy and with engines that are made when it is first used:
//! a configured server that no call names costs nothing and delays nothing.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tmux_control::Socket;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::changes::Changes;
use crate::config::{DEFAULT_SERVER, ServerSettings, Settings};
use crate::context::{Engines, ServerScope};
use crate::contract::{ToolError, nearest, shorten};
use crate::host::Host;
use crate::policy::Policy;
use crate::run::{AllowedServers, Engine, JobNumbers};
use crate::watch::Watches;

/// How long the end of a connection may take, which needs no answer of the other system.
const DISCONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// All tmux servers that calls can reach, the default one first.
#[derive(Debug)]
pub struct Servers {
    all: Vec<Arc<AppServer>>,
    names: Vec<String>,
}

/// A tmux server that calls can reach.
#[derive(Debug)]
pub struct AppServer {
    /// Its name, and its place among the others.
    pub scope: ServerScope,
    /// The rules for calls on it.
    pub policy: Arc<Policy>,
    place: usize,
    server: ServerSettings,
    settings: Settings,
    numbers: JobNumbers,
    /// The engines of the process, once the server was used.
    engines: OnceLock<Engines>,
}

/// The engines of one MCP client, one set for each server that it has used.
#[derive(Debug)]
pub(super) struct Views {
    /// Number of the client; 0 for the process itself.
    pub(super) number: u32,
    engines: Vec<OnceLock<Engines>>,
}

impl Servers {
    /// The servers of these settings.
    pub(super) fn new(settings: &Settings) -> Self {
        let mut reachable = settings.reachable_servers();
        if reachable.is_empty() {
            // Settings that were not checked; the policy refuses what it must.
            reachable.push(settings.default_server());
        }
        let names: Vec<String> = reachable.iter().map(|server| server.name.clone()).collect();
        let shared: Arc<[Arc<str>]> = names.iter().map(|name| Arc::from(name.as_str())).collect();
        let (numbers, has_others) = (JobNumbers::default(), names.len() > 1);
        let all = reachable.into_iter().enumerate().map(|(place, server)| {
            let (route, name) = (server.route.clone(), has_others.then(|| server.name.clone()));
            let scope = ServerScope::new(Arc::clone(&shared), place, route.clone());
            let policy = settings.policy.on_server(name, server.ceiling, route);
            Arc::new(AppServer {
                scope,
                policy: Arc::new(policy),
                place,
                server,
                settings: settings.clone(),
                numbers: numbers.clone(),
                engines: OnceLock::new(),
            })
        });
        Self { all: all.collect(), names }
    }

    /// All servers, the default one first.
    pub fn all(&self) -> &[Arc<AppServer>] {
        &self.all
    }

    /// The names, if several servers can be reached; else none.
    pub fn names(&self) -> &[String] {
        if self.are_several() { &self.names } else { &[] }
    }

    /// Whether several servers can be reached, so that calls choose one.
    pub fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The server with this name, socket name or socket path; without one the default server.
    pub fn find(&self, name: Option<&str>) -> Result<&Arc<AppServer>, ToolError> {
        self.find_for("server", name)
    }

    /// The same for an argument of another name, which the error names.
    pub fn find_for(
        &self,
        argument: &str,
        name: Option<&str>,
    ) -> Result<&Arc<AppServer>, ToolError> {
        let Some(name) = name.filter(|name| *name != DEFAULT_SERVER) else {
            return self.all.first().ok_or_else(|| ToolError::internal("there is no server"));
        };
        let by_name = self.all.iter().find(|it| **it.scope.name() == *name);
        if let Some(found) = by_name.or_else(|| self.at_socket(name)) {
            return Ok(found);
        }
        let shown: String = name.chars().take(100).collect();
        let error =
            ToolError::invalid_argument(format!("`{argument}`: there is no server `{shown}`"));
        let known = shorten(&self.names);
        Err(match nearest(name, self.names.iter().map(String::as_str)) {
            Some(near) => error.hint(format!("did you mean `{near}`? the servers are: {known}")),
            None => error.hint(format!("the servers are: {known}; list_servers shows them")),
        })
    }

    /// The local server at a socket. Links are not resolved: a file system that hangs would delay other calls.
    fn at_socket(&self, text: &str) -> Option<&Arc<AppServer>> {
        let path = Socket::parse(text).ok()?.path();
        self.all.iter().find(|it| !it.scope.is_remote() && it.socket().path() == path)
    }

    /// The policy by which tools are offered: a tool is, if any server permits it.
    pub(super) fn offering_policy(&self, policy: &Policy) -> Policy {
        let highest = self.all.iter().map(|server| server.policy.ceiling).max();
        Policy { ceiling: highest.unwrap_or(policy.ceiling), ..policy.clone() }
    }
}

impl AppServer {
    /// Its socket.
    pub fn socket(&self) -> Socket {
        self.server.place().socket
    }

    /// The engines of the process on it, which are made with the first use.
    pub(super) fn engines(&self) -> &Engines {
        self.engines.get_or_init(|| {
            let engines = self.new_engines();
            if !self.scope.is_default() {
                reap_later(&engines);
            }
            engines
        })
    }

    /// The engines of the process, if the server was used.
    pub(super) fn used(&self) -> Option<&Engines> {
        self.engines.get()
    }

    fn new_engines(&self) -> Engines {
        let settings = &self.settings;
        let program = settings.program_of(&self.server);
        let host = match self.server.route.clone() {
            None => Host::new(program, settings.keep, settings.keeper.clone()),
            Some(route) => Host::remote(program, route, settings.keep),
        };
        let host = Arc::new(host);
        let rules = Arc::clone(&self.policy);
        let allowed = AllowedServers::new(move |socket| rules.reach.admits_socket(socket));
        let numbers = self.numbers.clone();
        let runs = Arc::new(Engine::new(Arc::clone(&host), settings.runs, allowed, numbers));
        let watches = Watches::new(Arc::clone(&host), Arc::clone(&runs), settings.errors.clone());
        let changes = Changes::new(Arc::clone(&host));
        let (block, typed_lines) = (settings.block, Arc::default());
        let server = Arc::new(self.scope.clone());
        Engines { server, host, runs, watches, changes, block, typed_lines }
    }

    /// Removes what this process made on the server, also for the MCP clients with these views. Returns whether tmux
    /// answered in time.
    pub(super) async fn close_until(&self, clients: &[Arc<Views>], end: Option<Instant>) -> bool {
        let Some(engines) = self.used() else { return true };
        let work = async {
            engines.runs.end_typing().await;
            engines.host.tmux().channel_waits_ended().await;
            // While the link is still attached: later it would have to attach to a person's session.
            engines.host.tmux().close_streams().await;
            let views = clients.iter().filter_map(|views| views.used(self));
            futures::future::join_all(views.map(close)).await;
            engines.host.close().await;
            if self.scope.is_remote() {
                engines.runs.close().await;
            }
        };
        let Some(end) = end else {
            work.await;
            return true;
        };
        let closed = timeout_at(end, work).await.is_ok();
        if !closed {
            let name = self.scope.name();
            tracing::warn!(
                "tmux does not answer on server {name}; panes and buffers are left in it"
            );
        }
        closed
    }
}

impl AppServer {
    /// Removes the files of this process on this system, and ends the connection to another one.
    pub(super) async fn close_files(&self) {
        let Some(engines) = self.used() else { return };
        if !self.scope.is_remote() {
            engines.runs.close().await;
        }
        if timeout(DISCONNECT_TIMEOUT, engines.host.disconnect()).await.is_err() {
            tracing::debug!("disconnecting from server {} takes too long", self.scope.name());
        }
    }
}

impl Views {
    /// The views of an MCP client that has used no server yet.
    pub(super) fn new(number: u32, servers: &Servers) -> Self {
        Self { number, engines: servers.all.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The engines of the client on a server, which are made with the first use. They share the connection and the
    /// knowledge of panes with those of the process.
    pub(super) fn engines<'a>(&'a self, server: &'a AppServer) -> &'a Engines {
        let process = server.engines();
        let own = self.engines.get(server.place).filter(|_| self.number > 0);
        own.map_or(process, |own| own.get_or_init(|| process.for_client(self.number)))
    }

    /// The engines of the client on a server, if it was used.
    pub(super) fn used<'a>(&'a self, server: &'a AppServer) -> Option<&'a Engines> {
        match self.number {
            0 => server.used(),
            _ => self.engines.get(server.place)?.get(),
        }
    }

    /// Removes the panes and buffers of the client on all servers.
    pub(super) async fn close(&self) {
        futures::future::join_all(self.engines.iter().filter_map(OnceLock::get).map(close)).await;
    }
}

async fn close(engines: &Engines) {
    engines.host.close().await;
    engines.runs.forget_pool();
}

/// Removes what dead processes left on a server, without delaying the call that is the first to use it.
fn reap_later(engines: &Engines) {
    let Ok(runtime) = Handle::try_current() else { return };
    let Engines { host, runs, server, .. } = engines.clone();
    runtime.spawn(async move {
        host.leave_clean_up().await;
        // The files on this system were removed at the start.
        if server.is_remote() {
            runs.reap().await;
        }
        host.reap_orphans().await;
    });
}
