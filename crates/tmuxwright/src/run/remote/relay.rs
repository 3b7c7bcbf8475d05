//! The shell elsewhere that a pane shows, and the local process through which it is reached.

use process::{Foreground, Inspection, Processes};
use tmux_control::keys::TmuxKey;
use tmux_control::{PaneId, Server};
use tokio::time::Instant;

use super::nested_tmux;
use crate::host::PaneState;
use crate::input_probe::{is_question, is_relay};
use crate::run::gate::{self, ProbePause, Shell};
use crate::run::{Engine, Refusal, pane_size};

/// Depth to which tmux clients within panes are followed.
const MAX_NESTED: usize = 4;

/// The pane in which a shell has its terminal: the pane of the call, or one of a tmux server whose client runs
/// in that pane.
#[derive(Debug, Clone)]
pub(super) struct ShellTerminal {
    pub(super) tmux: Server,
    pub(super) processes: Processes,
    pub(super) pane: PaneState,
}

impl ShellTerminal {
    /// Waits until all output that the pane has printed by now is in its stream. False on timeout.
    pub(super) async fn catch_up(&self) -> bool {
        pane_size::catch_up(&self.tmux, &self.pane).await
    }

    /// Presses C-c, which ends a loader line or a script that is still being read.
    pub(super) async fn press_interrupt(&self) -> Result<(), tmux_control::Error> {
        self.tmux.run(TmuxKey::Named("C-c".to_owned()).press(self.pane.pane)).await?;
        Ok(())
    }
}

/// The local process through which a shell elsewhere is reached: `ssh`, or the shell of another user.
#[derive(Debug, Clone)]
pub(in crate::run) struct Relay {
    pub(super) pid: u32,
    started: Option<String>,
    /// Name of its program, and its command line.
    pub(super) name: String,
    pub(super) program: String,
    /// Whether the process passes keys on to another terminal.
    pub(super) passes_keys: bool,
    pub(super) terminal: ShellTerminal,
}

/// Identity of a relay, by which its records are known: the pane, the process and its start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RelayId {
    pane: PaneId,
    pid: u32,
    started: Option<String>,
}

impl RelayId {
    /// Whether the process has not exited.
    pub(super) async fn is_alive(&self, processes: &Processes) -> bool {
        let started = processes.inspect(self.pid).await.started(self.pid);
        started.is_some() && started == self.started
    }

    /// Whether the relay has this process id.
    pub(super) fn has_pid(&self, pid: u32) -> bool {
        self.pid == pid
    }
}

impl Relay {
    /// The relay in the foreground of a pane, if a command cannot reach its shell through a command file: the
    /// shell is behind a program such as ssh, of another user, in another root, in another tmux, or a command
    /// of ours has started it and still runs.
    ///
    /// A shell that has just ended a command may have a process of its own in the foreground for a moment. It is
    /// waited for.
    /// The error is the inspection that has found none.
    pub(in crate::run) async fn in_pane(
        engine: &Engine,
        pane: &PaneState,
    ) -> Result<Self, Inspection> {
        let settling = engine.settling_relay(pane.pane).await;
        let mut pause = ProbePause::default();
        loop {
            let found = Self::find(engine, pane).await;
            match &settling {
                Some((id, until))
                    if found.as_ref().ok().map(Self::id).as_ref() != Some(id)
                        && Instant::now() < *until =>
                {
                    if !id.is_alive(engine.processes()).await {
                        return found;
                    }
                    pause.wait().await;
                }
                _ => return found,
            }
        }
    }

    async fn find(engine: &Engine, pane: &PaneState) -> Result<Self, Inspection> {
        let look = engine.processes().inspect(pane.pid).await;
        Self::found_by(engine, pane, look.clone()).await.ok_or(look)
    }

    async fn found_by(engine: &Engine, pane: &PaneState, mut look: Inspection) -> Option<Self> {
        let processes = engine.processes();
        let mut foreground = look.foreground()?;
        let mut terminal = ShellTerminal {
            tmux: engine.tmux().clone(),
            processes: processes.clone(),
            pane: pane.clone(),
        };
        let mut is_nested = false;
        for _ in 0..MAX_NESTED {
            if foreground.name != nested_tmux::CLIENT {
                break;
            }
            let Some(inner) = nested_tmux::terminal_of(engine, &foreground).await else { break };
            is_nested = true;
            look = processes.inspect(inner.pane.pid).await;
            foreground = look.foreground()?;
            terminal = inner;
        }
        if !is_relay(&foreground.name) && look.shell(&foreground).is_none() {
            foreground = Self::started_by_leader(&look)?;
        }
        let passes_keys = is_relay(&foreground.name);
        if !passes_keys {
            let kind = look.shell(&foreground)?;
            let shell = Shell { kind, pid: foreground.pid };
            let is_inner = is_nested || engine.records().started_by_job(pane, foreground.pid);
            if !is_inner && gate::require_shared_files(&look, pane.pane, shell).is_ok() {
                return None;
            }
        }
        let program = foreground.argv.join(" ");
        let Foreground { pid, name, started, .. } = foreground;
        Some(Self { pid, started, name, program, passes_keys, terminal })
    }

    /// The relay that a script or a program such as `timeout` has started in its own process group, if it reads the
    /// terminal. One that sends data for the leader does not, such as the ssh of rsync.
    fn started_by_leader(look: &Inspection) -> Option<Foreground> {
        let reader = look.input_wait().reader.filter(|name| is_relay(name))?;
        let mut readers = look.foreground_group().into_iter().filter(|it| it.name == reader);
        let relay = readers.next()?;
        readers.next().is_none().then_some(relay)
    }

    pub(super) fn id(&self) -> RelayId {
        RelayId { pane: self.terminal.pane.pane, pid: self.pid, started: self.started.clone() }
    }

    /// Whether keys of the terminal reach the relay: its process lives, and is in the foreground.
    pub(super) async fn has_terminal(&self) -> bool {
        let processes = &self.terminal.processes;
        let group = processes.inspect(self.terminal.pane.pid).await.foreground_group();
        let is_relay = |it: &Foreground| it.pid == self.pid && it.started == self.started;
        if group.iter().any(is_relay) {
            return true;
        }
        // A shell may give the terminal to the program that reads our lines.
        let Some(leader) = group.first().filter(|_| !self.passes_keys) else { return false };
        self.id().is_alive(processes).await
            && processes.ancestors(leader.pid).await.contains(&self.pid)
    }

    /// Whether a program of this machine that was started by the loader line with this key is in the foreground of the
    /// terminal.
    pub(super) async fn shows_loader(&self, key: &str) -> bool {
        let terminal = &self.terminal;
        let group = terminal.processes.inspect(terminal.pane.pid).await.foreground_group();
        group.iter().any(|it| it.argv.iter().any(|argument| argument.contains(key)))
    }

    /// The refusal of a pane that does not show the empty prompt of a shell, but this row.
    pub(super) fn without_prompt(&self, pane: PaneId, row: &str) -> Refusal {
        match self.passes_keys {
            true => {
                let (program, pid) = (self.program.clone(), self.pid);
                // Any program behind it may read without a question.
                let reads = is_question(row).then_some(true);
                Refusal::Program { pane, program, pid, reads }
            }
            false => Refusal::OutOfReach { pane },
        }
    }
}
