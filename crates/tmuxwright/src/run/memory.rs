//! What the engine remembers: a client's commands, and the panes that any ran in.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tmux_control::PaneId;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Engine;
use super::job::Job;
use super::launch::Launch;
use super::prompt::Prompt;
use super::refusal::Refusal;
use crate::host::PaneState;

#[derive(Debug, Default)]
pub(super) struct Memory {
    uses: u64,
    commands: u64,
    pub(super) panes: HashMap<PaneId, Known>,
    /// Panes whose interpreter somebody is talking to.
    pub(super) talks: HashSet<PaneId>,
}

/// What is known of a pane in which commands were run.
#[derive(Debug)]
pub(super) struct Known {
    /// Its first process; another one makes it another pane.
    pid: u32,
    pub(super) marks: Marks,
    busy: Option<Busy>,
    /// The prompt as it was after a command, before anybody could type there.
    pub(super) prompt: Option<Prompt>,
    /// Whether it was seen after the last command.
    pub(super) settled: bool,
    /// Cancelled once nobody looks for it any more.
    pub(super) looked: CancellationToken,
    /// When the last command ended.
    pub(super) ended: Option<Instant>,
    /// Whether something was typed there since.
    pub(super) typed: bool,
    /// Whether its output ended with a line: then nobody typed ahead.
    pub(super) clean: bool,
    /// The status it left in the shell.
    pub(super) status: i32,
    /// Which command it was, counted over all panes: tells an old user's word from a new one's.
    pub(super) uses: u64,
    /// The client for whose commands without a target it was made.
    pub(super) pooled: Option<u32>,
}

/// Whether a shell prints marks by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marks {
    /// It does not.
    None,
    /// It was told to, with this key; nobody has looked yet whether it does.
    Expected(String),
    /// It does, with this key.
    Known(String),
}

#[derive(Debug)]
enum Busy {
    Starting,
    With(Arc<Job>),
}

impl Memory {
    /// An id that no command had before.
    pub(super) fn new_id(&mut self) -> String {
        self.commands += 1;
        format!("c{}", self.commands)
    }

    /// The pane's entry; a new one if another process is in it now.
    pub(super) fn pane(&mut self, pane: &PaneState) -> &mut Known {
        let known = self.panes.entry(pane.pane).or_insert_with(|| Known::new(pane.pid));
        if known.pid != pane.pid {
            *known = Known::new(pane.pid);
        }
        known
    }

    /// What is known of the process that is in a pane now.
    pub(super) fn known(&self, pane: &PaneState) -> Option<&Known> {
        self.panes.get(&pane.pane).filter(|known| known.pid == pane.pid)
    }

    /// Notes that a command runs in its pane.
    pub(super) fn begun(&mut self, job: &Arc<Job>) {
        if let Some(known) = self.panes.get_mut(&job.pane) {
            known.busy = Some(Busy::With(Arc::clone(job)));
        }
    }
}

/// The commands of one client.
#[derive(Debug, Default)]
pub(super) struct Jobs(VecDeque<Arc<Job>>);

impl Jobs {
    pub(super) fn by_id(&self, id: &str) -> Option<Arc<Job>> {
        self.0.iter().find(|job| job.id == id).cloned()
    }

    /// Keeps a job, and of the finished ones only so many of the newest.
    pub(super) fn keep(&mut self, job: Arc<Job>, finished: usize) {
        self.0.push_back(job);
        self.forget_oldest(finished);
    }

    /// Of the finished jobs, keeps only so many of the newest.
    pub(super) fn forget_oldest(&mut self, finished: usize) {
        let mut over = self.0.iter().filter(|job| !job.is_running()).count();
        self.0.retain(|job| {
            let drop = over > finished && !job.is_running();
            over -= usize::from(drop);
            !drop
        });
    }

    /// The ids of the commands that are kept, newest first.
    pub(super) fn ids(&self) -> Vec<String> {
        self.0.iter().rev().map(|job| job.id.clone()).collect()
    }
}

impl Known {
    /// Notes that a command has ended and left this status. While what is returned lives, somebody
    /// looks for the prompt.
    pub(super) fn end(&mut self, status: i32, clean: bool) -> DropGuard {
        self.clean = clean;
        self.ended = Some(Instant::now());
        self.typed = false;
        self.settled = false;
        self.status = status;
        self.looked = CancellationToken::new();
        self.looked.clone().drop_guard()
    }

    pub(super) fn new(pid: u32) -> Self {
        Self {
            pid,
            marks: Marks::None,
            busy: None,
            prompt: None,
            settled: false,
            looked: CancellationToken::new(),
            ended: None,
            typed: false,
            clean: false,
            status: 0,
            uses: 0,
            pooled: None,
        }
    }

    /// Notes that it was made for a client's commands without a target.
    pub(super) fn take_into_pool(&mut self, client: u32, launch: Launch) {
        self.pooled = Some(client);
        self.marks = launch.key.map_or(Marks::None, Marks::Expected);
    }

    /// Whether it was made for this client's commands.
    pub(super) fn is_pooled_for(&self, client: u32) -> bool {
        self.pooled == Some(client)
    }

    /// Whether no command runs there. The shell may just be put in order after one.
    pub(super) fn is_idle(&self) -> bool {
        match &self.busy {
            None => true,
            Some(Busy::Starting) => false,
            Some(Busy::With(job)) => !job.is_running(),
        }
    }

    /// The command that runs there.
    pub(super) fn job(&self) -> Option<&Arc<Job>> {
        match &self.busy {
            Some(Busy::With(job)) => Some(job),
            _ => None,
        }
    }
}

/// The right to type into a pane. Given back when dropped.
pub(super) struct Lease {
    engine: Arc<Engine>,
    pane: PaneId,
    uses: u64,
}

impl Lease {
    /// Takes the pane if nobody has it, or only a command that has ended.
    pub(super) async fn take(engine: &Arc<Engine>, pane: &PaneState) -> Result<Self, Refusal> {
        loop {
            match Self::try_take(engine, pane) {
                Err(Refusal::Busy { .. } | Refusal::Taken { .. })
                    if engine.memory().pane(pane).is_idle() =>
                {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                other => return other,
            }
        }
    }

    fn try_take(engine: &Arc<Engine>, pane: &PaneState) -> Result<Self, Refusal> {
        let mut memory = engine.memory();
        memory.uses += 1;
        let uses = memory.uses;
        let known = memory.pane(pane);
        match &known.busy {
            Some(Busy::With(job)) if engine.is_ours(job) => {
                return Err(Refusal::Busy { pane: pane.pane, id: job.id.clone() });
            }
            Some(Busy::With(_)) => return Err(Refusal::Taken { pane: pane.pane }),
            Some(Busy::Starting) => return Err(Refusal::Contended { pane: pane.pane }),
            None => known.busy = Some(Busy::Starting),
        }
        known.uses = uses;
        Ok(Self { engine: Arc::clone(engine), pane: pane.pane, uses })
    }

    /// Which use of the pane this is.
    pub(super) fn uses(&self) -> u64 {
        self.uses
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(known) = self.engine.memory().panes.get_mut(&self.pane)
            && known.uses == self.uses
        {
            known.busy = None;
        }
    }
}

/// A talk with the interpreter in a pane. Ends when dropped.
pub(super) struct Talk<'a> {
    engine: &'a Engine,
    pane: PaneId,
}

impl<'a> Talk<'a> {
    /// Begins to talk if nobody else does.
    pub(super) fn begin(engine: &'a Engine, pane: PaneId) -> Result<Self, Refusal> {
        if engine.memory().talks.insert(pane) {
            return Ok(Self { engine, pane });
        }
        Err(Refusal::Contended { pane })
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        self.engine.memory().talks.remove(&self.pane);
    }
}
