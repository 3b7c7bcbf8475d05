//! The run engine: runs commands in shells and records their exact output and exit code.
//!
//! A command reaches only a shell at its prompt (`gate`), through a command file (`delivery`). Its
//! output is the text that the pane prints between two marks that no other program can print (`marks`,
//! `output_filter`, `follow`). Jobs of finished commands are kept for a while (`job`, `job_list`).
//! Shells that the engine starts print a mark at their prompt, too (`launch`). Knows nothing of tools.

pub(crate) mod activity;
mod command_file;
mod cursor_row;
mod delivery;
mod follow;
mod gate;
mod home;
mod interrupt;
mod job;
mod job_feed;
mod job_list;
mod job_output;
mod job_probe;
mod keys_read;
mod launch;
mod left_and_blank;
mod limits;
mod line_place;
mod marks;
mod options;
mod output_filter;
mod pane_records;
mod pane_size;
mod pass_gate;
mod pool;
mod prompt;
mod prompt_after;
mod prompt_check;
mod refusal;
mod remote;
mod repl;
mod shell_exit;
mod start_job;
#[cfg(test)]
mod system_tests;
mod typed_input;
mod typing;
mod viewers;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use process::Processes;
use tmux_control::{PaneId, Server};
use tokio::time::Instant;

use crate::host::{Host, PaneState};
use crate::lock::lock;
use crate::private_dir::PrivateDir;
pub(crate) use gate::ForegroundProgram;
use gate::{PromptingShell, Readiness};
use home::Home;
pub use home::{Obstacle, OtherShell};
pub use interrupt::Interrupted;
pub(crate) use job::JobProgress;
pub use job::{AlternateScreen, AwaitedInput, Job, JobFacts, JobStatus};
use job_list::JobList;
pub(crate) use launch::Launch;
use limits::SETTLE_TIME;
pub use options::{AllowedServers, JobNumbers, RunOptions};
pub(crate) use output_filter::{OutputFilter, OutputPart};
use pane_records::{PaneLease, PaneRecords};
pub use process::ShellKind;
pub(crate) use prompt::{Prompt, same_prompt};
pub use refusal::Refusal;
pub use repl::{DeclaredEntry, DeclaredInterpreter, Interpreters, ReplAnswer, Standing, Unpressed};
pub use start_job::{StartedCall, StartedJob};
use typed_input::TypedInput;
pub(crate) use typed_input::{RecentInput, TypedLine};
pub(crate) use typing::TypingGuard;
use typing::TypingLocks;

/// Runs commands on one tmux server, one at a time in each pane, for one MCP client.
#[derive(Debug)]
pub struct Engine {
    host: Arc<Host>,
    shared: Arc<Shared>,
    jobs: Mutex<JobList>,
    home: Mutex<Home>,
}

/// State that the engines of all MCP clients share.
#[derive(Debug)]
struct Shared {
    options: RunOptions,
    allowed: AllowedServers,
    records: Mutex<PaneRecords>,
    typed_input: TypedInput,
    typing: TypingLocks,
}

impl Engine {
    /// An engine without jobs.
    pub fn new(
        host: Arc<Host>,
        options: RunOptions,
        allowed: AllowedServers,
        numbers: JobNumbers,
    ) -> Self {
        let shared = Shared {
            options,
            allowed,
            records: Mutex::new(PaneRecords::new(numbers)),
            typed_input: TypedInput::default(),
            typing: TypingLocks::default(),
        };
        let shared = Arc::new(shared);
        Self { host, shared, jobs: Mutex::default(), home: Mutex::default() }
    }

    /// An engine without jobs for another MCP client, with the same shared state.
    #[must_use]
    pub fn for_client(&self, host: Arc<Host>) -> Self {
        let shared = Arc::clone(&self.shared);
        Self { host, shared, jobs: Mutex::default(), home: Mutex::default() }
    }

    /// Runs a command in a pane. The job continues when the returned future or value is dropped.
    pub async fn run(
        self: &Arc<Self>,
        pane: PaneState,
        command: String,
    ) -> Result<StartedCall, Refusal> {
        let asked = Instant::now();
        let look = match remote::Relay::in_pane(self, &pane).await {
            Ok(relay) => return remote::run(self, relay, pane, command).await,
            Err(look) => look,
        };
        let shell = match self.running_in(pane.pane).is_some_and(|job| job.is_running()) {
            true => None,
            false => PromptingShell::of(self, &pane, look, asked),
        };
        self.wait_for_abandoned(&pane).await;
        // The row is compared with the prompt that the last command has left. The next lease ends its reading.
        self.wait_for_prompt_read(&pane).await;
        let lease = PaneLease::acquire(self, &pane).await?;
        start_job::start_job(self, lease, pane, command, shell).await
    }

    /// Waits for the end of a command whose shell is at its prompt again, as after `ssh` has lost its connection: the
    /// end is confirmed soon.
    async fn wait_for_abandoned(&self, pane: &PaneState) {
        let Some(job) = self.running_in(pane.pane).filter(|job| job.is_running()) else { return };
        let Readiness::AtPrompt(shell) = gate::readiness(self, pane.pid).await else { return };
        if !self.records().started_by_job(pane, shell.pid) {
            job.wait_for_end_until(Instant::now() + SETTLE_TIME).await;
        }
    }

    /// Runs a command in the home shell of this client, or in another pane of the pool.
    pub async fn run_anywhere(
        self: &Arc<Self>,
        command: String,
        cwd: Option<String>,
    ) -> Result<StartedCall, Refusal> {
        pool::run(self, command, cwd).await
    }

    /// A job of this client by its id, if it is still kept.
    pub fn job(&self, id: &str) -> Option<Arc<Job>> {
        self.jobs().by_id(id)
    }

    /// The ids of the kept jobs, newest first.
    pub fn job_ids(&self) -> Vec<String> {
        self.jobs().ids()
    }

    /// The job that runs in a pane, of any MCP client.
    pub fn running_in(&self, pane: PaneId) -> Option<Arc<Job>> {
        self.records().panes.get(&pane).and_then(|record| record.job()).cloned()
    }

    /// Whether a call is typing at the prompt in a pane, or waits for the answer of an interpreter there.
    pub fn is_typed_into(&self, pane: PaneId) -> bool {
        self.records().has_typist(pane)
    }

    /// The foreground program of a pane, and whether it is a shell at its prompt. `None` if it cannot
    /// be determined.
    pub(crate) async fn probe_foreground(
        &self,
        pane: &PaneState,
    ) -> Option<(ForegroundProgram, bool)> {
        let (program, at_prompt) = gate::probe(self, pane).await?;
        // A shell reads keys also for a command that runs in it, such as `read -e`.
        let runs_command = match self.running_in(pane.pane) {
            Some(_) if self.records().started_by_job(pane, program.process.pid) => {
                self.remote_job(pane.pane).is_some()
            }
            outer => outer.is_some(),
        };
        Some((program, at_prompt && !runs_command))
    }

    /// Names of the programs in the foreground of a pane, without shells that only run a script or the
    /// command for which the pane was created.
    pub(crate) async fn foreground_programs(&self, pane: &PaneState) -> Vec<String> {
        let look = self.processes().inspect(pane.pid).await;
        let group = look.foreground_group().into_iter();
        group.filter(|it| !look.runs_script(it)).map(|it| it.name).collect()
    }

    /// Waits until all output that a pane has printed by now is in its stream. False on timeout.
    async fn catch_up(&self, pane: &PaneState) -> bool {
        pane_size::catch_up(self.tmux(), pane).await
    }

    /// Waits until the prompt below a pane's last command is read, if a command has ended there.
    async fn wait_for_prompt_read(&self, pane: &PaneState) {
        let known = self.records().existing(pane).map(|it| (it.last_end, it.prompt_read.clone()));
        if let Some((Some(_), prompt_read)) = known {
            let read = prompt_read.cancelled();
            let _ = tokio::time::timeout(limits::SHELL_RESPONSE_TIMEOUT, read).await;
        }
    }

    /// Rows of the prompt of a pane's shell; 1 if it is not known.
    pub(crate) async fn prompt_rows(&self, pane: &PaneState) -> u32 {
        self.wait_for_prompt_read(pane).await;
        self.records().existing(pane).and_then(|it| it.prompt.as_ref()).map_or(1, Prompt::rows)
    }

    /// Plans the respawn of a pool pane's shell; `None` for other panes.
    pub(crate) async fn plan_relaunch(&self, pane: &PaneState) -> Result<Option<Launch>, Refusal> {
        if !self.records().existing(pane).is_some_and(|it| it.is_pooled_for(self.client())) {
            return Ok(None);
        }
        Ok(Some(launch::plan(self.host(), None).await?))
    }

    /// Records that a pool pane was respawned with this launch. `pane` holds the new process.
    pub(crate) fn note_relaunched(&self, pane: &PaneState, launch: Launch) {
        self.records().pane(pane).add_to_pool(self.client(), launch);
    }

    /// Records text that a tool is about to type into a pane, where it may then be at the prompt.
    /// [`note_input_end`](Self::note_input_end) is to be called when it is typed.
    pub async fn note_typed(&self, pane: &PaneState, text: &str, enter: bool) {
        // Keys without text are not echoed as such.
        let look = (!text.is_empty()).then(|| self.processes().inspect(pane.pid));
        let look = futures::future::OptionFuture::from(look).await;
        // There will be no echo, and what a program prints of it is output.
        let hidden = look.as_ref().is_some_and(|look| look.hides_input());
        self.shared.typed_input.record(pane.pane, if hidden { "" } else { text }, enter);
        if !enter && look.is_some_and(|look| look.edits_lines()) {
            self.shared.typed_input.hold(pane.pane, text);
        }
        self.forget_awaited_input(pane.pane);
        self.forget_standing(pane.pane);
        self.records().typed(pane);
    }

    /// Records that a tool has typed all its input into a pane. Earlier probes of its program say nothing
    /// about the program any more.
    pub fn note_input_end(&self, pane: PaneId) {
        self.shared.typed_input.record_end(pane);
        self.forget_awaited_input(pane);
    }

    /// Count of the moments at which tools began or ended to type into a pane. A state that was probed at
    /// another count is older than the last input.
    pub(crate) fn inputs(&self, pane: PaneId) -> u64 {
        self.shared.typed_input.inputs(pane)
    }

    /// Waits until that count differs from an earlier one. Cancel-safe.
    pub(crate) async fn input_beyond(&self, pane: PaneId, earlier: u64) {
        self.shared.typed_input.inputs_beyond(pane, earlier).await;
    }

    /// A command that is given input may no longer wait for any.
    fn forget_awaited_input(&self, pane: PaneId) {
        if let Some(job) = self.running_in(pane) {
            job.forget_waiting();
        }
    }

    /// Text that tools typed into a pane recently.
    pub(crate) fn recent_input(&self, pane: PaneId) -> Option<RecentInput> {
        self.shared.typed_input.of_pane(pane)
    }

    /// Removes the records of this client's pool panes, which are closed.
    pub fn forget_pool(&self) {
        let client = self.client();
        self.records().panes.retain(|_, record| !record.is_pooled_for(client));
        *self.home() = Home::default();
    }

    /// Removes the private directory, for all MCP clients.
    pub async fn close(&self) {
        self.private_dir().close().await;
    }

    /// Removes the private directories of processes that died without doing so.
    pub async fn reap(&self) {
        self.private_dir().remove_stale(Host::is_dead).await;
    }

    fn records(&self) -> MutexGuard<'_, PaneRecords> {
        lock(&self.shared.records)
    }

    fn jobs(&self) -> MutexGuard<'_, JobList> {
        lock(&self.jobs)
    }

    fn home(&self) -> MutexGuard<'_, Home> {
        lock(&self.home)
    }

    /// Records the directory of a shell after a command, if it is the home shell. It is asked for if it is not given.
    async fn note_directory(&self, pane: PaneId, shell: u32, directory: Option<PathBuf>) {
        if !self.home().is_in(pane) {
            return;
        }
        let directory = match directory {
            Some(directory) => Some(directory),
            None => self.directory_of(shell).await,
        };
        let mut home = self.home();
        if home.is_in(pane) {
            home.set_directory(directory);
        }
    }

    /// The directory of a process.
    async fn directory_of(&self, pid: u32) -> Option<PathBuf> {
        self.processes().inspect(pid).await.cwd(pid)
    }

    /// The id of a job that belongs to this client.
    fn own_id(&self, job: &Job) -> Option<String> {
        self.is_own_job(job).then(|| job.id.clone())
    }

    /// Whether a job belongs to this client.
    fn is_own_job(&self, job: &Job) -> bool {
        self.job(&job.id).is_some()
    }

    /// The number of the MCP client whose engine this is.
    fn client(&self) -> u32 {
        self.host.client()
    }

    fn host(&self) -> &Host {
        &self.host
    }

    fn tmux(&self) -> &Server {
        self.host.tmux()
    }

    /// The processes of the system on which the tmux server runs.
    fn processes(&self) -> &Processes {
        self.host.processes()
    }

    /// Whether the process with this start time has not exited. Without a start time, any process with this pid counts.
    async fn is_alive(&self, pid: u32, started: Option<&str>) -> bool {
        let now = self.processes().inspect(pid).await.started(pid);
        now.is_some() && (started.is_none() || now.as_deref() == started)
    }

    fn private_dir(&self) -> &PrivateDir {
        self.host.private_dir()
    }

    /// Shell to assume when the name of a program is not recognised.
    fn declared(&self) -> Option<ShellKind> {
        self.shared.options.shell
    }

    /// Interpreters that are known.
    fn interpreters(&self) -> &'static Interpreters {
        self.shared.options.interpreters
    }

    /// Records a pane's prompt, and whether it is certain that no text was typed behind it; unless a lease
    /// of a later generation has been acquired.
    fn remember_prompt(&self, pane: &PaneState, generation: u64, prompt: Prompt, is_proven: bool) {
        let mut records = self.records();
        let record = records.pane(pane);
        if record.generation == generation {
            record.prompt = Some(prompt);
            record.prompt_is_proven = is_proven;
            record.prompt_is_current = true;
        }
    }
}
