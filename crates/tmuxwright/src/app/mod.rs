//! The server process: settings, tools, policy, audit log, and the engines of its MCP clients. There is no
//! global state, so that several servers can run in one process.

mod clients;

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::changes::Changes;
use crate::config::Settings;
use crate::context::{DetachedCalls, Engines, ToolEntry};
use crate::host::Host;
use crate::log::Logs;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::resources::Catalog;
use crate::run::{AllowedServers, Engine};
use crate::watch::Watches;
use clients::{ClientRegistration, Clients};

/// The parts that all MCP clients of a server process share.
#[derive(Debug)]
pub struct App {
    /// The settings in force.
    pub settings: Settings,
    /// The rules for all calls.
    pub policy: Arc<Policy>,
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
    engines: Engines,
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
        let policy = Arc::new(settings.policy.clone());
        let registry = Registry::new(tools, Arc::clone(&policy), settings.structured);
        let resources = Catalog::new(&registry);
        let host = Arc::new(Host::new(settings.program(), settings.keep, settings.keeper.clone()));
        let rules = Arc::clone(&policy);
        let allowed = AllowedServers::new(move |socket| rules.reach.check_server(socket).is_ok());
        let runs = Arc::new(Engine::new(Arc::clone(&host), settings.runs, allowed));
        let errors = settings.errors.clone();
        let watches = Watches::new(Arc::clone(&host), Arc::clone(&runs), errors);
        let changes = Changes::new(Arc::clone(&host));
        let (block, typed_lines) = (settings.block, Arc::default());
        let engines = Engines { host, runs, watches, changes, block, typed_lines };
        let audit = Audit::new(settings.audit.clone());
        let logs = Logs::default();
        let detached = DetachedCalls::default();
        let (ending, clients) = (CancellationToken::new(), Arc::default());
        Self {
            settings,
            policy,
            registry,
            resources,
            audit,
            logs,
            detached,
            ending,
            engines,
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
        let engines = self.engines.clone();
        Arc::new(McpClient { app: Arc::clone(self), engines, _registration: None })
    }

    /// A client with engines of its own. Its panes and buffers are removed when it is dropped.
    pub fn new_client(self: &Arc<Self>) -> Arc<McpClient> {
        let (engines, registration) = self.clients.connect(&self.engines);
        Arc::new(McpClient { app: Arc::clone(self), engines, _registration: Some(registration) })
    }

    /// Removes panes, buffers and files that dead processes of this program left behind.
    pub async fn reap(&self) {
        self.engines.runs.reap().await;
        self.engines.host.reap_orphans().await;
    }

    /// Ends all calls, and removes the panes and buffers of all clients.
    pub async fn close(&self) {
        self.close_in_tmux().await;
        self.close_files().await;
    }

    /// The same, for a tmux that may not answer: it has until `end`. Returns whether it did.
    pub async fn close_until(&self, end: Instant) -> bool {
        let closed = timeout_at(end, self.close_in_tmux()).await.is_ok();
        if !closed {
            tracing::warn!("tmux does not answer; panes and buffers of this server are left in it");
        }
        self.close_files().await;
        closed
    }

    async fn close_in_tmux(&self) {
        self.ending.cancel();
        self.detached.close().await;
        self.engines.runs.end_typing().await;
        self.engines.host.tmux().channel_waits_ended().await;
        // While the link is still attached: later it would have to attach to a person's session.
        self.engines.host.tmux().close_streams().await;
        self.clients.close().await;
        self.engines.host.close().await;
    }

    async fn close_files(&self) {
        self.engines.runs.close().await;
        if let Some(audit) = &self.audit {
            audit.close().await;
        }
    }
}

/// One MCP client of a server.
#[derive(Debug)]
pub struct McpClient {
    /// The server process.
    pub app: Arc<App>,
    /// The engines for its calls.
    pub engines: Engines,
    /// Held for its drop, which removes the client's panes and buffers.
    _registration: Option<ClientRegistration>,
}

impl McpClient {
    /// Its number in order of connection; `None` for the process itself.
    pub fn number(&self) -> Option<u32> {
        Some(self.engines.host.client()).filter(|number| *number > 0)
    }
}
