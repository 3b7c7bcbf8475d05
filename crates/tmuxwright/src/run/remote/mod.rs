//! Commands in shells whose processes or files this machine does not share: behind ssh, docker, sudo or
//! script, of another user, in another root; and in shells that a running command has started.
//!
//! Nothing is known there but the screen and the stream. So a line is typed only at a row that looks like an
//! empty prompt (`prompt_row`, `prompt`), the shell is recognised by its answer to that line (`loader`), the
//! script follows in-band (`start`), and the end is known by its mark or by the end of the relay (`follow`).
//! Behind a tmux client, keys and stream are those of the pane that the client shows (`nested_tmux`).

mod follow;
mod interrupt;
mod loader;
mod nested_tmux;
mod prompt;
mod prompt_row;
mod relay;
mod start;
mod status_query;

use std::sync::Arc;

use tmux_control::PaneId;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::cursor_row::CursorRow;
use super::job::JobStatus;
use super::limits::SETTLE_TIME;
use super::pane_records::{PaneLease, TypingLease};
use super::{Engine, Job, Refusal, StartedCall, TypingGuard};
use crate::host::PaneState;
pub(super) use interrupt::RemoteInterrupt;
use process::ShellKind;
use prompt::RemotePrompt;
use prompt_row::KnownPrompt;
pub(super) use relay::Relay;
use relay::RelayId;

/// Relays that draw the screen of the terminal within them: its marks do not reach the pane.
const REDRAWING: &[&str] = &["mosh-client", "screen", nested_tmux::CLIENT, "zellij"];

/// The record of the shell behind a relay.
#[derive(Debug)]
pub(super) struct RemoteRecord {
    relay: RelayId,
    /// The shell that ran the last command.
    shell: Option<ShellKind>,
    /// Key of the loader lines. A history without a rule for blanks, as that of busybox, keeps a repeated line
    /// once.
    loader: Option<String>,
    /// Whether the shell may have read a loader line without the script behind it.
    has_earlier_line: bool,
    /// Whether its line editor shows a long line in one row, and scrolls in it.
    scrolls_sideways: bool,
    /// The prompt before the last command.
    prompt: Option<PromptRecord>,
    /// The last row of the output of that command, if it has no end: the prompt follows in the same row.
    unfinished: String,
    /// Status of the last command, and its end unless a further one has begun.
    last_status: i32,
    last_end: Option<Instant>,
    /// The row below its output, unless a further one has begun.
    end_place: Option<EndPlace>,
    /// The commands that run there: each one after the first runs in a shell that the one before has started.
    jobs: Vec<Arc<Job>>,
}

/// The row in which the cursor was when a command had ended: there its shell shows its prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EndPlace {
    /// Number of the row, from the first one in the history of the pane.
    row: u32,
    /// Number of keys that tools had typed by then.
    inputs: u64,
}

impl EndPlace {
    fn new(cursor: &CursorRow, inputs: u64) -> Self {
        Self { row: cursor.history + cursor.row, inputs }
    }
}

/// A prompt behind a relay.
#[derive(Debug, Clone)]
struct PromptRecord {
    row: String,
    /// Whether its shell edits the line itself.
    has_editor: bool,
}

impl RemoteRecord {
    fn new(relay: RelayId) -> Self {
        Self {
            relay,
            shell: None,
            loader: None,
            has_earlier_line: false,
            scrolls_sideways: false,
            prompt: None,
            unfinished: String::new(),
            last_status: 0,
            last_end: None,
            end_place: None,
            jobs: Vec::new(),
        }
    }

    /// Records a prompt that was found empty. Output without an end may precede it in its row.
    fn set_prompt(&mut self, row: &str, has_editor: bool) {
        let row = prompt_row::behind_output(row, &self.unfinished).to_owned();
        self.prompt = Some(PromptRecord { row, has_editor });
    }

    /// The status that a command there finds in `$?`. A shell that a command has just started has run none.
    fn status_before(&self) -> i32 {
        let is_new = !self.jobs.is_empty() && self.last_end.is_none();
        if is_new { 0 } else { self.last_status }
    }
}

impl Engine {
    /// Changes the record of a relay.
    fn change_remote<T>(
        &self,
        pane: PaneId,
        relay: &Relay,
        change: impl FnOnce(&mut RemoteRecord) -> T,
    ) -> T {
        let id = relay.id();
        let mut records = self.records();
        let of_pane = records.remote.entry(pane).or_default();
        match of_pane.iter_mut().find(|record| record.relay == id) {
            Some(record) => change(record),
            None => {
                let mut record = RemoteRecord::new(id);
                let changed = change(&mut record);
                of_pane.push(record);
                changed
            }
        }
    }

    /// Drops the records of relays that have exited.
    async fn forget_dead_relays(&self) {
        let known: Vec<RelayId> = {
            let records = self.records();
            records.remote.values().flatten().map(|record| record.relay.clone()).collect()
        };
        let mut dead = Vec::new();
        for relay in known {
            if !relay.is_alive(self.processes()).await {
                dead.push(relay);
            }
        }
        self.records().remote.retain(|_, of_pane| {
            of_pane.retain(|record| !dead.contains(&record.relay));
            !of_pane.is_empty()
        });
    }

    /// Reads the record of a relay, if there is one.
    fn read_remote<T>(
        &self,
        pane: PaneId,
        relay: &Relay,
        read: impl FnOnce(&RemoteRecord) -> T,
    ) -> Option<T> {
        let (id, records) = (relay.id(), self.records());
        records.remote.get(&pane)?.iter().find(|record| record.relay == id).map(read)
    }

    /// The prompt that the last command behind a relay has left.
    fn remote_known_prompt(&self, pane: PaneId, relay: &Relay) -> Option<KnownPrompt> {
        let known = self.read_remote(pane, relay, |record| {
            let PromptRecord { row, has_editor } = record.prompt.clone()?;
            Some(KnownPrompt { row, has_editor, unfinished: record.unfinished.clone() })
        });
        known.flatten()
    }

    /// The relay whose shell has just ended a command, and until when the shell may take to be back.
    async fn settling_relay(&self, pane: PaneId) -> Option<(RelayId, Instant)> {
        let now = Instant::now();
        let mut recent: Vec<(Instant, RelayId)> = {
            let records = self.records();
            let ended = records.remote.get(&pane)?.iter().filter_map(|record| {
                let until = record.last_end? + SETTLE_TIME;
                (now < until).then(|| (until, record.relay.clone()))
            });
            ended.collect()
        };
        recent.sort_by_key(|(until, _)| *until);
        while let Some((until, relay)) = recent.pop() {
            if relay.is_alive(self.processes()).await {
                return Some((relay, until));
            }
        }
        None
    }

    /// The innermost command that runs behind the relays in a pane.
    pub(super) fn remote_job(&self, pane: PaneId) -> Option<Arc<Job>> {
        let records = self.records();
        let jobs = records.remote.get(&pane)?.iter().rev().filter_map(|record| record.jobs.last());
        jobs.into_iter().find(|job| job.is_running()).cloned()
    }

    /// The shell behind a relay with this process in a pane, if it has run a command.
    pub(super) async fn remote_shell(&self, pane: PaneId, pid: u32) -> Option<ShellKind> {
        let known: Vec<(RelayId, Option<ShellKind>)> = {
            let records = self.records();
            let of_pid = records.remote.get(&pane)?.iter().filter(|it| it.relay.has_pid(pid));
            of_pid.map(|record| (record.relay.clone(), record.shell)).collect()
        };
        for (relay, shell) in known {
            if relay.is_alive(self.processes()).await {
                return shell;
            }
        }
        None
    }

    /// Records the end of a command behind a relay.
    fn remote_job_ended(&self, pane: PaneId, relay: &Relay, job: &Job, status: &JobStatus) {
        self.change_remote(pane, relay, |record| {
            record.jobs.retain(|it| it.id != job.id);
            record.unfinished = job.last_row();
            record.last_end = Some(Instant::now());
            if let JobStatus::Exited(code) = *status {
                (record.last_status, record.has_earlier_line) = (code, false);
            }
        });
    }
}

/// The right to run a command behind a relay. Released when dropped.
struct RemoteLease {
    /// `None` if a command of ours runs in the pane, such as `ssh host`: it goes on.
    pane: Option<PaneLease>,
    /// Held until the command has begun: it may start an interpreter, or a further shell.
    starting: Option<TypingLease>,
    /// Held just as long: a key would end the program that reads the script.
    typing: Option<TypingGuard>,
}

impl RemoteLease {
    async fn acquire(
        engine: &Arc<Engine>,
        pane: &PaneState,
        relay: &Relay,
    ) -> Result<Self, Refusal> {
        let typing =
            async || TypingLease::acquire(engine, pane.pane, &CancellationToken::new()).await;
        match PaneLease::acquire(engine, pane).await {
            Ok(lease) => {
                Ok(Self { pane: Some(lease), starting: Some(typing().await?), typing: None })
            }
            Err(busy @ Refusal::Busy { .. }) => {
                let prompt = RemotePrompt { engine, pane: pane.pane, relay };
                if let Some(job) = prompt.busy_job().await? {
                    let (id, awaited) = (job.id.clone(), job.facts().waiting);
                    // The inner command is busy, not the one that has started the relay.
                    let is_outer = engine.running_in(pane.pane).is_some_and(|it| it.id == id);
                    return Err(match is_outer {
                        true => busy,
                        false => Refusal::Busy { pane: pane.pane, id, program: None, awaited },
                    });
                }
                Ok(Self { pane: None, starting: Some(typing().await?), typing: None })
            }
            Err(other) => Err(other),
        }
    }
}

impl RemoteLease {
    /// Lets other calls type: the command has begun.
    fn command_has_begun(&mut self) {
        (self.starting, self.typing) = (None, None);
    }
}

/// Runs a command in the shell behind a relay, in a task of its own: once typing has begun, the job is
/// completed even if the caller is cancelled.
pub(super) async fn run(
    engine: &Arc<Engine>,
    relay: Relay,
    pane: PaneState,
    command: String,
) -> Result<StartedCall, Refusal> {
    let id = pane.pane;
    if pane.synchronized || relay.terminal.pane.synchronized {
        return Err(Refusal::Synchronized { pane: id });
    }
    if !relay.terminal.pane.mode.is_empty() {
        return Err(Refusal::InnerMode { pane: id });
    }
    if REDRAWING.contains(&relay.name.as_str()) {
        return Err(Refusal::Redrawn { pane: id, program: relay.program });
    }
    let lease = RemoteLease::acquire(engine, &pane, &relay).await?;
    let (sender, started) = oneshot::channel();
    let start = start::RemoteStart { engine: Arc::clone(engine), lease, relay, pane, command };
    tokio::spawn(start.run(sender).in_current_span());
    started.await.unwrap_or(Err(Refusal::Contended { pane: id }))
}
