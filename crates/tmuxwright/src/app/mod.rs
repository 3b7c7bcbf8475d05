//! One server process: settings, tools, policy, audit, and the engines behind its calls. There is no
//! global state, so that several servers can live in one process.

mod clients;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::changes::Changes;
use crate::config::Settings;
use crate::context::{Engines, ToolEntry};
use crate::host::Host;
use crate::log::Logs;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::resources::Catalog;
use crate::run::Engine;
use crate::watch::Watches;
use clients::{ClientRegistration, Clients};

/// The server's parts.
#[derive(Debug)]
pub struct App {
    /// The settings in force.
    pub settings: Settings,
    /// What may be done.
    pub policy: Arc<Policy>,
    /// The tools it offers.
    pub registry: Registry,
    /// What can be read under an address.
    pub resources: Catalog,
    /// The record of what it does, if one is kept.
    pub audit: Option<Audit>,
    /// What is logged, for clients that ask for it.
    pub logs: Logs,
    /// Tripped when the server ends: no call goes on then.
    pub ending: CancellationToken,
    /// The engines of the process itself.
    engines: Engines,
    /// The clients beside the process; each holds its registration.
    clients: Arc<Clients>,
}

impl App {
    /// Puts the parts together. Starts nothing; needs a Tokio runtime.
    pub fn new(settings: Settings) -> Self {
        Self::with_tools(settings, crate::tools::all())
    }

    /// The same with another list of tools.
    pub fn with_tools(settings: Settings, tools: Vec<ToolEntry>) -> Self {
        let policy = Arc::new(settings.policy.clone());
        let registry = Registry::new(tools, Arc::clone(&policy), settings.structured);
        let resources = Catalog::new(&registry);
        let host = Arc::new(Host::new(settings.program(), settings.keep));
        let runs = Arc::new(Engine::new(Arc::clone(&host), settings.runs));
        let errors = settings.errors.clone();
        let watches = Watches::new(Arc::clone(&host), Arc::clone(&runs), errors);
        let changes = Changes::new(Arc::clone(&host));
        let (block, typed_lines) = (settings.block, Arc::default());
        let engines = Engines { host, runs, watches, changes, block, typed_lines };
        let audit = Audit::new(settings.audit.clone());
        let logs = Logs::default();
        let (ending, clients) = (CancellationToken::new(), Arc::default());
        Self { settings, policy, registry, resources, audit, logs, ending, engines, clients }
    }

    /// The same, with clients hearing what comes in there.
    #[must_use]
    pub fn with_logs(self, logs: Logs) -> Self {
        Self { logs, ..self }
    }

    /// The process itself as a client: the only one on stdio, and every client that never sends
    /// `initialize`. What it made stays until the process ends.
    pub fn client(self: &Arc<Self>) -> Arc<McpClient> {
        let engines = self.engines.clone();
        Arc::new(McpClient { app: Arc::clone(self), engines, _registration: None })
    }

    /// A further client. What it made goes with it.
    pub fn new_client(self: &Arc<Self>) -> Arc<McpClient> {
        let (engines, registration) = self.clients.enter(&self.engines);
        Arc::new(McpClient { app: Arc::clone(self), engines, _registration: Some(registration) })
    }

    /// Removes what servers like this one left behind when they died.
    pub async fn reap(&self) {
        self.engines.runs.reap();
        self.engines.host.reap_orphans().await;
    }

    /// Ends all calls, and removes what is ours and our clients'.
    pub async fn close(&self) {
        self.ending.cancel();
        self.engines.host.tmux().nobody_waits().await;
        self.clients.close().await;
        self.engines.host.close().await;
        self.engines.runs.close();
        if let Some(audit) = &self.audit {
            audit.close().await;
        }
    }
}

/// One MCP client of a server.
#[derive(Debug)]
pub struct McpClient {
    /// The server.
    pub app: Arc<App>,
    /// The engines behind its calls.
    pub engines: Engines,
    /// Held for its drop, which removes what the client made.
    _registration: Option<ClientRegistration>,
}

impl McpClient {
    /// Its number, in the order of arrival; `None` for the process itself.
    pub fn number(&self) -> Option<u32> {
        Some(self.engines.host.client()).filter(|number| *number > 0)
    }
}
