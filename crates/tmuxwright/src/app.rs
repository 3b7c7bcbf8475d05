//! What lives as long as the server: settings, tools, policy and tmux servers. No global state, so
//! that several can live in one process.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::audit::Audit;
use crate::changes::Changes;
use crate::client::{Client, Clients};
use crate::config::Settings;
use crate::host::Host;
use crate::log::Logs;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::resources::Catalog;
use crate::run::Engine;
use crate::tool::{Entry, Surroundings};
use crate::watch::Watches;

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
    /// The tmux server it drives, and what runs commands there, for the process itself.
    around: Surroundings,
    pub(crate) clients: Clients,
}

impl App {
    /// Puts the parts together. Starts nothing; needs a Tokio runtime.
    pub fn new(settings: Settings) -> Self {
        Self::with_tools(settings, crate::tools::all())
    }

    /// The same with another list of tools.
    pub fn with_tools(settings: Settings, tools: Vec<Entry>) -> Self {
        let policy = Arc::new(settings.policy.clone());
        let registry = Registry::new(tools, Arc::clone(&policy), settings.structured);
        let resources = Catalog::new(&registry);
        let host = Arc::new(Host::new(settings.program(), settings.keep));
        let runs = Arc::new(Engine::new(Arc::clone(&host), settings.runs));
        let errors = settings.errors.clone();
        let watches = Watches::new(Arc::clone(&host), Arc::clone(&runs), errors);
        let changes = Changes::new(Arc::clone(&host));
        let (block, lines) = (settings.block, Arc::default());
        let around = Surroundings { host, runs, watches, changes, block, lines };
        let audit = Audit::new(settings.audit.clone());
        let logs = Logs::default();
        let (ending, clients) = (CancellationToken::new(), Clients::default());
        Self { settings, policy, registry, resources, audit, logs, ending, around, clients }
    }

    /// The same, with clients hearing what comes in there.
    #[must_use]
    pub fn with_logs(self, logs: Logs) -> Self {
        Self { logs, ..self }
    }

    /// The process itself as a client: the only one on stdio, and whoever does not introduce itself.
    /// What it made stays until the end.
    pub fn client(self: &Arc<Self>) -> Arc<Client> {
        Arc::new(Client { app: Arc::clone(self), around: self.around.clone() })
    }

    /// A further client. What it made goes with it.
    pub fn new_client(self: &Arc<Self>) -> Arc<Client> {
        let around = self.clients.enter(&self.around);
        Arc::new(Client { app: Arc::clone(self), around })
    }

    /// Removes what servers like this one left behind when they died.
    pub async fn reap(&self) {
        self.around.runs.reap();
        self.around.host.reap_orphans().await;
    }

    /// Ends all calls, and removes what is ours and our clients'.
    pub async fn close(&self) {
        self.ending.cancel();
        self.around.host.tmux().nobody_waits().await;
        self.clients.close().await;
        self.around.host.close().await;
        self.around.runs.close();
        if let Some(audit) = &self.audit {
            audit.close().await;
        }
    }
}
