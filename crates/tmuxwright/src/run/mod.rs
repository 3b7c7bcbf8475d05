//! Running commands in shells: what a command printed, exactly, and how it ended.
//!
//! A command is typed into a shell only when that is at its prompt (`gate`), either as it is or
//! through a private file (`carry`), and its output is what the pane printed between two marks that
//! nobody else can print (`marks`, `follow`). Results are kept for a while (`job`). Shells that we
//! start print marks by themselves (`launch`). Knows nothing of tools.

pub(crate) mod activity;
mod block;
mod carry;
mod follow;
mod gate;
mod interrupt;
mod job;
mod kit;
mod launch;
mod look;
mod marks;
mod memory;
mod pool;
mod prompt;
mod refusal;
mod repl;
mod start;
mod trail;
mod typed;

use std::sync::{Arc, Mutex, MutexGuard};

use tmux_control::{PaneId, Server};

use crate::host::{Host, PaneState};
use crate::lock::lock;
pub(crate) use block::PROMPT_ENDS;
pub(crate) use gate::Sight;
pub use interrupt::Interrupted;
pub(crate) use job::Stage;
pub use job::{Alternate, Facts, Job, Status, Waiting};
use kit::Kit;
pub(crate) use launch::Launch;
use memory::{Jobs, Memory};
pub use process::ShellKind;
use prompt::Prompt;
pub use refusal::Refusal;
pub use repl::Answer;
pub use trail::Started;
pub(crate) use trail::{Part, Trail};
use typed::Typed;
pub(crate) use typed::{Recent, TypedLine};

/// How the engine is set up.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many results of finished commands are kept.
    pub results: usize,
    /// What a shell is that has no known name.
    pub shell: Option<ShellKind>,
}

impl Default for Options {
    fn default() -> Self {
        Self { results: 100, shell: None }
    }
}

/// Runs commands on one tmux server, one at a time in each pane, for one client.
#[derive(Debug)]
pub struct Engine {
    host: Arc<Host>,
    shared: Arc<Shared>,
    jobs: Mutex<Jobs>,
}

/// What is the same for all clients: no two of them type into a pane at once.
#[derive(Debug)]
struct Shared {
    kit: Kit,
    options: Options,
    memory: Mutex<Memory>,
    typed: Typed,
}

impl Engine {
    /// An engine that has done nothing yet.
    pub fn new(host: Arc<Host>, options: Options) -> Self {
        let kit = Kit::new(host.token());
        let (memory, typed) = (Mutex::default(), Typed::default());
        let shared = Arc::new(Shared { kit, options, memory, typed });
        Self { host, shared, jobs: Mutex::default() }
    }

    /// The same engine for a further client, which has run nothing yet.
    #[must_use]
    pub fn for_client(&self, host: Arc<Host>) -> Self {
        Self { host, shared: Arc::clone(&self.shared), jobs: Mutex::default() }
    }

    /// Runs a command in this pane. It goes on when nobody waits for it any more.
    pub async fn run(
        self: &Arc<Self>,
        pane: PaneState,
        command: String,
    ) -> Result<Started, Refusal> {
        let lease = memory::Lease::take(self, &pane).await?;
        start::command(self, lease, pane, command).await
    }

    /// Runs a command in a pane of our own: an idle one, or a new one.
    pub async fn run_anywhere(
        self: &Arc<Self>,
        command: String,
        cwd: Option<String>,
    ) -> Result<Started, Refusal> {
        pool::run(self, command, cwd).await
    }

    /// A command of this client by its id, if it is still kept.
    pub fn job(&self, id: &str) -> Option<Arc<Job>> {
        self.jobs().by_id(id)
    }

    /// The ids of the commands that are kept, newest first.
    pub fn job_ids(&self) -> Vec<String> {
        self.jobs().ids()
    }

    /// The command that runs in a pane, whichever client's it is.
    pub fn running_in(&self, pane: PaneId) -> Option<Arc<Job>> {
        self.memory().panes.get(&pane).and_then(|known| known.job()).cloned()
    }

    /// Whether somebody talks to the interpreter in a pane.
    pub fn talks_to(&self, pane: PaneId) -> bool {
        self.memory().talks.contains(&pane)
    }

    /// Who has a pane's terminal, and whether it is a shell at its prompt; `None` if nobody can tell.
    pub(crate) async fn sight(&self, pane: &PaneState) -> Option<(Sight, bool)> {
        let (sight, at_prompt) = gate::look(self.tmux(), pane, self.declared()).await?;
        Some((sight, at_prompt && self.running_in(pane.pane).is_none()))
    }

    /// Waits until all that a pane has printed by now can be read. False if that takes too long.
    async fn catch_up(&self, pane: &PaneState) -> bool {
        let come = self.tmux().catch_up(pane.session, pane.pane);
        tokio::time::timeout(follow::SHELL_TIME, come).await.is_ok()
    }

    /// How many rows the prompt of a pane's shell has, as far as it was seen.
    pub(crate) async fn prompt_rows(&self, pane: &PaneState) -> u32 {
        let known = self.memory().known(pane).map(|known| (known.ended, known.looked.clone()));
        if let Some((Some(_), looked)) = known {
            let _ = tokio::time::timeout(follow::SHELL_TIME, looked.cancelled()).await;
        }
        self.memory().known(pane).and_then(|known| known.prompt.as_ref()).map_or(1, |it| it.rows)
    }

    /// How the shell of a pane that was made for commands is started anew; `None` for other panes.
    pub(crate) async fn relaunch(&self, pane: &PaneState) -> Result<Option<Launch>, Refusal> {
        if !self.memory().known(pane).is_some_and(|known| known.is_pooled_for(self.client())) {
            return Ok(None);
        }
        Ok(Some(launch::plan(self.tmux(), &self.shared.kit, None).await?))
    }

    /// Notes that this was done, and by which process it was replaced.
    pub(crate) fn relaunched(&self, pane: &PaneState, launch: Launch) {
        self.memory().pane(pane).take_into_pool(self.client(), launch);
    }

    /// Notes that this was typed into a pane, where it may now stand at its prompt.
    pub fn typed_into(&self, pane: PaneId, text: &str, enter: bool) {
        self.shared.typed.note(pane, text, enter);
        if let Some(known) = self.memory().panes.get_mut(&pane) {
            known.typed = true;
        }
    }

    /// What was typed into a pane lately.
    pub(crate) fn typed(&self, pane: PaneId) -> Option<Recent> {
        self.shared.typed.of_pane(pane)
    }

    /// Forgets the panes that were made for this client's commands; they are gone.
    pub fn forget_pool(&self) {
        let client = self.client();
        self.memory().panes.retain(|_, known| !known.is_pooled_for(client));
    }

    /// Removes the private files, for all clients.
    pub fn close(&self) {
        self.shared.kit.close();
    }

    /// Removes the private files of processes that died without doing so.
    pub fn reap(&self) {
        kit::reap(Host::is_dead);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.shared.memory)
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        lock(&self.jobs)
    }

    /// Whether this client has run the command.
    fn is_ours(&self, job: &Job) -> bool {
        self.job(&job.id).is_some()
    }

    /// The client whose engine this is.
    fn client(&self) -> u32 {
        self.host.client()
    }

    fn host(&self) -> &Host {
        &self.host
    }

    fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    fn declared(&self) -> Option<ShellKind> {
        self.shared.options.shell
    }

    /// Remembers a pane's prompt, unless it has been used again since this use of it.
    fn learn(&self, pane: &PaneState, uses: u64, prompt: Prompt) {
        let mut memory = self.memory();
        let known = memory.pane(pane);
        if known.uses == uses {
            known.prompt = Some(prompt);
            known.settled = true;
        }
    }
}
