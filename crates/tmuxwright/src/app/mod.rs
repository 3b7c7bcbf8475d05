//! The server process: settings, tools, policy, audit log, and the engines of its MCP clients. There is no
//! global state, so that several servers can run in one process.

mod clients;
mod servers;

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::config::Settings;
use crate::context::{DetachedCalls, Engines, ToolEntry};
use crate::log::Logs;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::resources::Catalog;
use clients::{ClientRegistration, Clients};
use servers::Views;
pub use servers::{AppServer, Servers};

/// The parts that all MCP clients of a server process share.
#[derive(Debug)]
pub struct App {
    /// The settings in force.
    pub settings: Settings,
    /// The rules by which tools are offered; each server has its own for calls.
    pub policy: Arc<Policy>,
    /// The tmux servers that calls can reach.
    pub servers: Servers,
    /// The offered tools.
    pub registry: Registry,
    /// The offered resources.
    pub resources: Catalog,
    /// The audit log, if one is kept.
    pub audit: Option<Audit>,
    /// Log events, for clients that subscribed with `logging/setLevel`.
    pub logs: Logs,
    /// Calls that can wait for a person's answer while no request is open.
    pub detached: DetachedCalls,
    /// Cancelled when the server shuts down; it ends all calls.
    pub ending: CancellationToken,
    /// The engines for clients that never send `initialize`, and for the client on stdio.
    views: Arc<Views>,
    /// The clients with engines of their own; each holds its registration.
    clients: Arc<Clients>,
}

impl App {
    /// A server with all tools. Starts nothing; needs a Tokio runtime.
    pub fn new(settings: Settings) -> Self {
        Self::with_tools(settings, crate::tools::all())
    }

    /// A server with another list of tools.
    pub fn with_tools(settings: Settings, tools: Vec<ToolEntry>) -> Self {
        let servers = Servers::new(&settings);
        let policy = Arc::new(servers.offering_policy(&settings.policy));
        let registry = Registry::new(tools, Arc::clone(&policy), settings.structured)
            .with_servers(servers.names());
        let resources = Catalog::new(&registry, servers.are_several());
        let views = Arc::new(Views::new(0, &servers));
        let audit = Audit::new(settings.audit.clone());
        let logs = Logs::default();
        let detached = DetachedCalls::default();
        let (ending, clients) = (CancellationToken::new(), Arc::default());
        Self {
            settings,
            policy,
            servers,
            registry,
            resources,
            audit,
            logs,
            detached,
            ending,
            views,
            clients,
        }
    }

    /// Replaces the source of log events.
    #[must_use]
    pub fn with_logs(self, logs: Logs) -> Self {
        Self { logs, ..self }
    }

    /// The client for the process itself: the only one on stdio, and every client that never sends
    /// `initialize`. Its panes and buffers stay until the process ends.
    pub fn client(self: &Arc<Self>) -> Arc<McpClient> {
        let views = Arc::clone(&self.views);
        Arc::new(McpClient { app: Arc::clone(self), views, _registration: None })
    }

    /// A client with engines of its own. Its panes and buffers are removed when it is dropped.
    pub fn new_client(self: &Arc<Self>) -> Arc<McpClient> {
        let (views, registration) = self.clients.connect(&self.servers);
        Arc::new(McpClient { app: Arc::clone(self), views, _registration: Some(registration) })
    }

    /// Removes panes, buffers and files that dead processes of this program left behind on the default server. On
    /// another one that happens when it is first used.
    pub async fn reap(&self) {
        if let Some(engines) = self.servers.all().first().map(|server| server.engines()) {
            engines.host.leave_clean_up().await;
            engines.runs.reap().await;
            engines.host.reap_orphans().await;
        }
    }

    /// Ends all calls, and removes the panes and buffers of all clients.
    pub async fn close(&self) {
        self.close_servers(None).await;
        self.close_files().await;
    }

    /// The same, for tmux servers that may not answer: they have until `end`. Returns whether all did.
    pub async fn close_until(&self, end: Instant) -> bool {
        let closed = self.close_servers(Some(end)).await;
        self.close_files().await;
        closed
    }

    /// Closes all servers at once, so that one that does not answer delays no other.
    async fn close_servers(&self, end: Option<Instant>) -> bool {
        self.ending.cancel();
        before(end, self.detached.close()).await;
        let clients = self.clients.take();
        let servers = self.servers.all().iter();
        let servers = servers.map(|server| server.close_until(&clients, end));
        let (servers, cleaned_up) = tokio::join!(
            futures::future::join_all(servers),
            before(end, self.clients.cleaned_up())
        );
        cleaned_up && servers.into_iter().all(|closed| closed)
    }

    /// Removes files and ends connections to other systems, at once for all servers.
    async fn close_files(&self) {
        let files = self.servers.all().iter().map(|server| server.close_files());
        let audit = async {
            if let Some(audit) = &self.audit {
                audit.close().await;
            }
        };
        tokio::join!(futures::future::join_all(files), audit);
    }
}

/// Waits for work, at most until `end`. Returns whether it was done.
async fn before(end: Option<Instant>, work: impl Future<Output = ()>) -> bool {
    match end {
        Some(end) => timeout_at(end, work).await.is_ok(),
        None => {
            work.await;
            true
        }
    }
}

/// One MCP client of a server.
#[derive(Debug)]
pub struct McpClient {
    /// The server process.
    pub app: Arc<App>,
    /// The engines for its calls, for each tmux server.
    views: Arc<Views>,
    /// Held for its drop, which removes the client's panes and buffers.
    _registration: Option<ClientRegistration>,
}

impl McpClient {
    /// Its number in order of connection; `None` for the process itself.
    pub fn number(&self) -> Option<u32> {
        Some(self.views.number).filter(|number| *number > 0)
    }

    /// The engines for its calls on a tmux server.
    pub fn engines<'a>(&'a self, server: &'a AppServer) -> &'a Engines {
        self.views.engines(server)
    }

    /// The name of the server that runs or ran a command of this client, if it is another one than `server`.
    pub fn server_of_command(&self, id: &str, server: &AppServer) -> Option<Arc<str>> {
        let has_it = |other: &AppServer| {
            self.views.used(other).is_some_and(|engines| engines.runs.job(id).is_some())
        };
        if has_it(server) {
            return None;
        }
        let other = self.app.servers.all().iter().find(|other| has_it(other))?;
        Some(Arc::clone(other.scope.name()))
    }
}
