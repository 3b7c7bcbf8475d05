//! Records of the panes in which commands were run, and leases on panes.
//!
//! Shared by all MCP clients, so that no two of them type into a pane at once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;

use process::Inspection;
use tmux_control::{PaneId, Server};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Engine;
use super::gate::{PromptingShell, Shell};
use super::job::Job;
use super::launch::{Handover, Launch};
use super::limits::{FRESH_PROMPT_TIME, LEASE_INTERVAL, PROMPT_TIMEOUT};
use super::options::JobNumbers;
use super::prompt::Prompt;
use super::refusal::Refusal;
use super::remote::RemoteRecord;
use super::repl::LastStanding;
use crate::host::PaneState;

/// All records, with the counters for jobs and leases.
#[derive(Debug, Default)]
pub(super) struct PaneRecords {
    last_generation: u64,
    numbers: JobNumbers,
    pub(super) panes: HashMap<PaneId, PaneRecord>,
    /// Panes into which a call types, each with a token that is cancelled when the call is about to end.
    typists: HashMap<PaneId, CancellationToken>,
    /// Where calls left the interpreters in panes.
    pub(super) standings: HashMap<PaneId, LastStanding>,
    /// Shells behind relays such as ssh: in each pane, in the order of their first command.
    pub(super) remote: HashMap<PaneId, Vec<RemoteRecord>>,
    /// The servers of tmux clients that run in panes, by socket.
    pub(super) nested_servers: HashMap<PathBuf, Server>,
}

/// The record of one pane.
#[derive(Debug)]
pub(super) struct PaneRecord {
    /// First process of the pane. Another process makes the record void.
    pid: u32,
    pub(super) marks: ShellMarks,
    in_use: Option<PaneUse>,
    /// The prompt as the shell printed it after a command, before a person could type there.
    pub(super) prompt: Option<Prompt>,
    /// Whether `prompt` was read after the last command.
    pub(super) prompt_is_current: bool,
    /// Whether it is certain that the row of the prompt holds no typed text.
    pub(super) prompt_is_proven: bool,
    /// Cancelled when the task that reads the prompt after a command ends.
    pub(super) prompt_read: CancellationToken,
    /// The shell as an inspection of another system found it at its prompt after the last command. Each inspection
    /// there is a round trip.
    pub(super) at_prompt: Option<(Shell, Inspection)>,
    /// When the last command was typed.
    pub(super) last_start: Option<Instant>,
    /// When the last command ended.
    pub(super) last_end: Option<Instant>,
    /// Whether a tool has typed into the pane since the last command was: its program may have left keys
    /// unread, which the shell then takes.
    pub(super) typed_since: bool,
    /// Activity of the pane's session at the last moment when nobody looked at the pane.
    pub(super) unwatched: Option<u64>,
    /// Whether the output of the last command ended with a line end. If so, the terminal has echoed
    /// no text typed ahead.
    pub(super) ended_with_newline: bool,
    /// Whether the shell has not begun a command that was typed.
    pub(super) is_unusable: bool,
    /// Whether the shell is known to leave a typed line in its place when it accepts the line. One with a
    /// transient prompt moves it.
    pub(super) line_stays: bool,
    /// The status that the last command left in the shell.
    pub(super) last_status: i32,
    /// Generation counter over all panes: writes of an earlier lease holder are ignored.
    pub(super) generation: u64,
    /// The MCP client for whose commands without a target the pane was created.
    pub(super) pool_client: Option<u32>,
    /// Name of the file to which the shell writes its directory when it exits.
    pub(super) exit_file: Option<String>,
}

/// Whether a shell prints end marks at its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ShellMarks {
    /// It does not.
    None,
    /// It was started with our script; whether it has read the script is not checked yet.
    Expected(Handover),
    /// It does, also with this key if it has one.
    Confirmed(Option<String>),
}

/// The use that a lease makes of its pane.
#[derive(Debug)]
enum PaneUse {
    /// A command is being started. It has an id once its line is about to be typed.
    Starting(Option<String>),
    /// A command runs, in the shell with this process id.
    Running(Arc<Job>, u32),
}

impl PaneRecords {
    /// No records. Jobs get these numbers.
    pub(super) fn new(numbers: JobNumbers) -> Self {
        Self { numbers, ..Self::default() }
    }

    /// A job id that was not used before.
    pub(super) fn new_id(&mut self) -> String {
        format!("c{}", self.numbers.next())
    }

    /// The record of a pane. Begins a new one if another process is in the pane now.
    pub(super) fn pane(&mut self, pane: &PaneState) -> &mut PaneRecord {
        let record = self.panes.entry(pane.pane).or_insert_with(|| PaneRecord::new(pane.pid));
        if record.pid != pane.pid {
            *record = PaneRecord::new(pane.pid);
        }
        record
    }

    /// The record of a pane, if one exists for the process that is in the pane now.
    pub(super) fn existing(&self, pane: &PaneState) -> Option<&PaneRecord> {
        self.panes.get(&pane.pane).filter(|record| record.pid == pane.pid)
    }

    /// Records that an inspection of another system has found the shell at its prompt after a command; unless a lease
    /// of a later generation has been acquired.
    pub(super) fn note_at_prompt(
        &mut self,
        pane: &PaneState,
        generation: u64,
        found: (Shell, Inspection),
    ) {
        let record = self.pane(pane);
        if record.generation == generation {
            record.at_prompt = Some(found);
        }
    }

    /// The shell that was found at its prompt after the last command, if that ended just before this call asked and no
    /// tool has typed since. A key of a person is noticed when the command is typed.
    pub(super) fn at_prompt(&self, pane: &PaneState, asked: Instant) -> Option<PromptingShell> {
        let record = self.existing(pane).filter(|record| !record.typed_since)?;
        let since_end = asked.saturating_duration_since(record.last_end?);
        let (shell, look) = record.at_prompt.clone().filter(|_| since_end < FRESH_PROMPT_TIME)?;
        Some(PromptingShell { shell, look, asked })
    }

    /// Records the id of the command that is about to be typed into a pane.
    pub(super) fn job_starts(&mut self, pane: PaneId, id: &str) {
        if let Some(record) = self.panes.get_mut(&pane)
            && let Some(PaneUse::Starting(starting)) = &mut record.in_use
        {
            *starting = Some(id.to_owned());
            record.typed_since = false;
            record.at_prompt = None;
        }
    }

    /// Records that a tool types into a pane. `pane` may be older than a respawn, whose record counts.
    pub(super) fn typed(&mut self, pane: &PaneState) {
        let record = self.panes.entry(pane.pane).or_insert_with(|| PaneRecord::new(pane.pid));
        record.typed_since = true;
        record.at_prompt = None;
    }

    /// Records that the command was not typed after all, since the pane has changed.
    pub(super) fn job_not_typed(&mut self, pane: PaneId) {
        if let Some(record) = self.panes.get_mut(&pane) {
            record.typed_since = true;
        }
    }

    /// Records that a job runs in its pane, in this shell.
    pub(super) fn job_started(&mut self, job: &Arc<Job>, shell: u32) {
        if let Some(record) = self.panes.get_mut(&job.pane) {
            record.in_use = Some(PaneUse::Running(Arc::clone(job), shell));
            record.last_start = Some(Instant::now());
        }
    }

    /// Whether a call types into a pane.
    pub(super) fn has_typist(&self, pane: PaneId) -> bool {
        self.typists.contains_key(&pane)
    }

    /// Whether a job runs in a pane, in another shell than this one: then the job has started this one.
    pub(super) fn started_by_job(&self, pane: &PaneState, shell: u32) -> bool {
        let in_use = self.existing(pane).and_then(|record| record.in_use.as_ref());
        matches!(in_use, Some(PaneUse::Running(job, own)) if *own != shell && job.is_running())
    }
}

impl PaneRecord {
    /// Records the end of a command. The prompt counts as being read until the returned guard is
    /// dropped.
    pub(super) fn command_ended(&mut self, status: i32, ended_with_newline: bool) -> DropGuard {
        self.ended_with_newline = ended_with_newline;
        self.last_end = Some(Instant::now());
        self.prompt_is_current = false;
        self.last_status = status;
        self.prompt_read = CancellationToken::new();
        self.prompt_read.clone().drop_guard()
    }

    pub(super) fn new(pid: u32) -> Self {
        Self {
            pid,
            marks: ShellMarks::None,
            in_use: None,
            prompt: None,
            prompt_is_current: false,
            prompt_is_proven: false,
            prompt_read: CancellationToken::new(),
            at_prompt: None,
            last_start: None,
            last_end: None,
            typed_since: false,
            unwatched: None,
            ended_with_newline: false,
            is_unusable: false,
            line_stays: false,
            last_status: 0,
            generation: 0,
            pool_client: None,
            exit_file: None,
        }
    }

    /// Records that the pane was created for an MCP client's commands without a target.
    pub(super) fn add_to_pool(&mut self, client: u32, launch: Launch) {
        self.pool_client = Some(client);
        self.exit_file = launch.handover.as_ref().map(Handover::exit_file);
        self.marks = launch.handover.map_or(ShellMarks::None, ShellMarks::Expected);
    }

    /// Whether the pane was created for this client's commands without a target.
    pub(super) fn is_pooled_for(&self, client: u32) -> bool {
        self.pool_client == Some(client)
    }

    /// Whether no command runs in the pane. The prompt after the last one may still be being read.
    pub(super) fn is_idle(&self) -> bool {
        match &self.in_use {
            None => true,
            Some(PaneUse::Starting(_)) => false,
            Some(PaneUse::Running(job, _)) => !job.is_running(),
        }
    }

    /// The id of the command that runs in the pane, or is about to.
    pub(super) fn job_id(&self) -> Option<&str> {
        match self.in_use.as_ref()? {
            PaneUse::Starting(id) => id.as_deref(),
            PaneUse::Running(job, _) => Some(&job.id),
        }
    }

    /// The job that runs in the pane.
    pub(super) fn job(&self) -> Option<&Arc<Job>> {
        match &self.in_use {
            Some(PaneUse::Running(job, _)) => Some(job),
            _ => None,
        }
    }
}

/// The exclusive right to run a command in a pane. Released when dropped.
pub(super) struct PaneLease {
    engine: Arc<Engine>,
    pane: PaneId,
    generation: u64,
}

impl PaneLease {
    /// Acquires the pane, waiting for a holder whose command has already ended.
    pub(super) async fn acquire(engine: &Arc<Engine>, pane: &PaneState) -> Result<Self, Refusal> {
        loop {
            match Self::try_acquire(engine, pane) {
                Err(Refusal::Busy { .. } | Refusal::Taken { .. })
                    if engine.records().pane(pane).is_idle() =>
                {
                    tokio::time::sleep(LEASE_INTERVAL).await;
                }
                Err(Refusal::Busy { pane: id, id: job, awaited, .. }) => {
                    let look = engine.processes().inspect(pane.pid).await;
                    let program = look.foreground().map(|program| program.name);
                    return Err(Refusal::Busy { pane: id, id: job, program, awaited });
                }
                other => return other,
            }
        }
    }

    fn try_acquire(engine: &Arc<Engine>, pane: &PaneState) -> Result<Self, Refusal> {
        let mut records = engine.records();
        records.last_generation += 1;
        let generation = records.last_generation;
        let record = records.pane(pane);
        match &record.in_use {
            Some(PaneUse::Running(job, _)) if engine.is_own_job(job) => {
                let awaited = job.facts().waiting;
                let id = job.id.clone();
                return Err(Refusal::Busy { pane: pane.pane, id, program: None, awaited });
            }
            Some(PaneUse::Running(..)) => return Err(Refusal::Taken { pane: pane.pane }),
            Some(PaneUse::Starting(_)) => return Err(Refusal::Contended { pane: pane.pane }),
            None => record.in_use = Some(PaneUse::Starting(None)),
        }
        record.generation = generation;
        Ok(Self { engine: Arc::clone(engine), pane: pane.pane, generation })
    }

    /// The generation of this lease.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }
}

impl Drop for PaneLease {
    fn drop(&mut self) {
        if let Some(record) = self.engine.records().panes.get_mut(&self.pane)
            && record.generation == self.generation
        {
            record.in_use = None;
        }
    }
}

/// The exclusive right to type at the prompt in a pane: a command, a query for its status, or the input of an
/// interpreter with the wait for its answer. Released when dropped.
#[derive(Debug)]
pub(super) struct TypingLease {
    engine: Arc<Engine>,
    pane: PaneId,
}

impl TypingLease {
    /// Acquires the right, or refuses if another call has it. A holder whose token is cancelled is waited for: it
    /// types its line to the end only. `ends` is the token of the new holder.
    pub(super) async fn acquire(
        engine: &Arc<Engine>,
        pane: PaneId,
        ends: &CancellationToken,
    ) -> Result<Self, Refusal> {
        let until = Instant::now() + PROMPT_TIMEOUT;
        loop {
            match engine.records().typists.entry(pane) {
                Entry::Vacant(vacant) => {
                    vacant.insert(ends.clone());
                    return Ok(Self { engine: Arc::clone(engine), pane });
                }
                Entry::Occupied(held) if !held.get().is_cancelled() || Instant::now() > until => {
                    return Err(Refusal::Contended { pane });
                }
                Entry::Occupied(_) => {}
            }
            tokio::time::sleep(LEASE_INTERVAL).await;
        }
    }
}

impl Drop for TypingLease {
    fn drop(&mut self) {
        self.engine.records().typists.remove(&self.pane);
    }
}
