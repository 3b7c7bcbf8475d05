//! The pool: panes of the own session for commands without a target. Each command runs in the home shell
//! of its MCP client (`home`); where that is not possible, in another idle shell or a new one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tmux_control::{Command, PaneId};
use tokio::time::Instant;

use super::gate::{self, ProbePause, PromptingShell, Readiness};
use super::home::{HomeClaim, HomeShell, Obstacle};
use super::limits::{ANSWERED_TIMEOUT, PROMPT_TIMEOUT};
use super::pane_records::{PaneLease, PaneRecord, ShellMarks};
use super::start_job::start_job;
use super::viewers::Viewers;
use super::{Engine, Job, Refusal, StartedCall, launch};
use crate::host::PaneState;
use process::InputState;

/// Idle panes that are kept for one client.
const MAX_IDLE_PANES: usize = 16;

/// Runs a command in the home shell if it can take one and is in the wanted directory, else in another
/// shell of the pool.
pub(super) async fn run(
    engine: &Arc<Engine>,
    command: String,
    cwd: Option<String>,
) -> Result<StartedCall, Refusal> {
    let mut start = PoolStart { engine, command, dead: Vec::new() };
    let started = match cwd {
        Some(cwd) => start.in_directory(PathBuf::from(cwd)).await,
        None => start.anywhere().await,
    };
    // Dead panes are closed last: closing the only pane would destroy the own session and its
    // control client.
    start.dead.into_iter().for_each(|pane| close_pane(engine, pane));
    started
}

/// A pane of the pool with its shell, which is `None` while it starts.
type AcquiredPane = (PaneLease, PaneState, Option<PromptingShell>);

/// A command without a target that is being started.
struct PoolStart<'a> {
    engine: &'a Arc<Engine>,
    command: String,
    /// Panes of the pool whose shell has exited.
    dead: Vec<PaneId>,
}

impl PoolStart<'_> {
    /// Starts the command in the home shell, wherever that is.
    async fn anywhere(&mut self) -> Result<StartedCall, Refusal> {
        let (home, directory) = {
            let home = self.engine.home();
            (home.shell(), home.directory().map(Path::to_owned))
        };
        let Some(claim) = HomeClaim::acquire(self.engine) else {
            let obstacle = home.map(|home| (home.pane, Obstacle::Parallel(None)));
            return self.elsewhere(directory, obstacle).await;
        };
        let Some(home) = home else {
            return self.in_new_home(claim, directory).await;
        };
        let obstacle = match self.in_home(&claim, home).await? {
            Ok(started) => return Ok(started),
            Err(obstacle) => obstacle,
        };
        if !obstacle.ends_home() {
            drop(claim);
            return self.elsewhere(directory, Some((home.pane, obstacle))).await;
        }
        // A command that still runs there may have changed the directory.
        let left = self.engine.directory_of(home.pid).await;
        self.engine.home().set_directory(left);
        let directory = self.engine.home().directory().map(Path::to_owned);
        let mut started = self.in_new_home(claim, directory).await?;
        started.note(true, Some((home.pane, obstacle)));
        Ok(started)
    }

    /// Starts the command in a directory: in the home shell if that is there.
    async fn in_directory(&mut self, cwd: PathBuf) -> Result<StartedCall, Refusal> {
        let wanted = self.engine.host().system().real_directory(&cwd).await;
        let home = self.engine.home().shell();
        if let Some(home) = home
            && wanted.is_some()
            && self.engine.directory_of(home.pid).await == wanted
            && let Some(claim) = HomeClaim::acquire(self.engine)
            && let Ok(started) = self.in_home(&claim, home).await?
        {
            return Ok(started);
        }
        self.elsewhere(Some(cwd), None).await
    }

    /// Starts the command in the home shell, or says why that is not possible.
    async fn in_home(
        &mut self,
        claim: &HomeClaim,
        home: HomeShell,
    ) -> Result<Result<StartedCall, Obstacle>, Refusal> {
        let (lease, pane, shell) = match self.acquire(home.pane).await? {
            Ok(acquired) => acquired,
            Err(obstacle) => return Ok(Err(obstacle)),
        };
        // A person may have changed the directory since the last command.
        let directory = shell.as_ref().and_then(PromptingShell::directory);
        self.engine.home().set_directory(directory);
        let state = pane.clone();
        match start_job(self.engine, lease, pane, self.command.clone(), shell).await {
            Ok(started) => {
                claim.set(HomeShell { pid: started.job.shell, ..home });
                Ok(Ok(started))
            }
            // A shell whose line editor takes keys as commands, where nobody has pressed one.
            Err(Refusal::KeysAreCommands { .. } | Refusal::Dialog { .. })
                if Viewers::read(self.engine.tmux(), &state).await?.is_empty() =>
            {
                Ok(Err(Obstacle::Unusable))
            }
            Err(refusal) => person_at_prompt(refusal).map(Err),
        }
    }

    /// Starts the command in a new shell, which becomes the home shell.
    async fn in_new_home(
        &self,
        claim: HomeClaim,
        directory: Option<PathBuf>,
    ) -> Result<StartedCall, Refusal> {
        let (lease, pane) = create_pane(self.engine, directory).await?;
        let id = pane.pane;
        claim.set(HomeShell { pane: id, pid: pane.pid });
        let started = start_job(self.engine, lease, pane, self.command.clone(), None).await?;
        claim.set(HomeShell { pane: id, pid: started.job.shell });
        Ok(started)
    }

    /// Starts the command in a shell that is not the home shell: an idle one in this directory, or a new
    /// one.
    async fn elsewhere(
        &mut self,
        directory: Option<PathBuf>,
        mut obstacle: Option<(PaneId, Obstacle)>,
    ) -> Result<StartedCall, Refusal> {
        if let Some((home, Obstacle::Parallel(id @ None))) = &mut obstacle {
            let records = self.engine.records();
            *id = records.panes.get(home).and_then(PaneRecord::job_id).map(str::to_owned);
        }
        let wanted = match directory.as_deref() {
            Some(directory) => self.engine.host().system().real_directory(directory).await,
            None => None,
        };
        if wanted.is_some() {
            for pane in idle_panes(self.engine) {
                let Ok((lease, pane, Some(shell))) = self.acquire(pane).await? else { continue };
                if shell.directory() != wanted {
                    continue;
                }
                match start_job(self.engine, lease, pane, self.command.clone(), Some(shell)).await {
                    Ok(mut started) => {
                        started.note(false, obstacle);
                        return Ok(started);
                    }
                    Err(refusal) => person_at_prompt(refusal).map(|_| ())?,
                }
            }
        }
        let (lease, pane) = create_pane(self.engine, directory).await?;
        let mut started = start_job(self.engine, lease, pane, self.command.clone(), None).await?;
        started.note(true, obstacle);
        Ok(started)
    }

    /// Acquires a pane of the pool whose shell is at its prompt. The shell is `None` while it starts: a
    /// new one would take as long.
    async fn acquire(&mut self, pane: PaneId) -> Result<Result<AcquiredPane, Obstacle>, Refusal> {
        let asked = Instant::now();
        self.wait_if_answered(pane).await;
        match self.engine.host().pane(&pane.to_string()).await {
            Ok(state) => Ok(self.acquire_pane(pane, state, asked).await),
            Err(error) if error.is_not_found() || error.is_no_server() => {
                self.engine.records().panes.remove(&pane);
                Ok(Err(Obstacle::Gone))
            }
            // A tmux that does not answer may have the pane.
            Err(error) => Err(error.into()),
        }
    }

    async fn acquire_pane(
        &mut self,
        pane: PaneId,
        state: PaneState,
        asked: Instant,
    ) -> Result<AcquiredPane, Obstacle> {
        let engine = self.engine;
        if state.process_state.has_exited() {
            self.dead.push(pane);
            self.note_exit_directory(pane).await;
            return Err(Obstacle::Exited);
        }
        // During the query another call may have acquired the pane, or a respawn replaced its process.
        let (last_end, starting) = match engine.records().existing(&state) {
            Some(record) if !record.is_pooled_for(engine.client()) => return Err(Obstacle::Gone),
            None => return Err(Obstacle::Gone),
            Some(record) if !record.is_idle() => return Err(busy(engine, record.job())),
            Some(record) if record.is_unusable => return Err(Obstacle::Unusable),
            Some(record) => {
                let starting = matches!(record.marks, ShellMarks::Expected(_));
                (record.last_end, record.last_end.is_none() && starting)
            }
        };
        if state.input_off {
            return Err(Obstacle::InUse("takes no input"));
        }
        if !state.mode.is_empty() {
            return Err(Obstacle::InUse("is in copy mode"));
        }
        let lease = PaneLease::acquire(engine, &state).await;
        let lease = lease.map_err(|_| Obstacle::Parallel(None))?;
        if starting {
            return Ok((lease, state, None));
        }
        let seen = engine.records().at_prompt(&state, asked);
        let shell = match seen {
            Some(shell) => shell,
            None => wait_for_prompt(engine, &state, last_end).await.map_err(Obstacle::Program)?,
        };
        Ok((lease, state, Some(shell)))
    }

    /// Waits for the end of a command whose call has returned and that was answered since: a client that
    /// does not wait for the end itself would lose its shell.
    async fn wait_if_answered(&self, pane: PaneId) {
        let job = {
            let records = self.engine.records();
            let record = records.panes.get(&pane).filter(|record| record.typed_since);
            record.and_then(PaneRecord::job).filter(|job| job.is_left()).cloned()
        };
        if let Some(job) = job {
            job.wait_for_end_until(Instant::now() + ANSWERED_TIMEOUT).await;
        }
    }

    /// Records the directory in which the home shell has exited, if this pane was its.
    async fn note_exit_directory(&self, pane: PaneId) {
        let file = self.engine.records().panes.get(&pane).and_then(|it| it.exit_file.clone());
        let directory = match file {
            Some(file) => self.engine.private_dir().take_path(&file).await,
            None => None,
        };
        let mut home = self.engine.home();
        if home.is_in(pane) {
            home.set_directory(directory);
        }
    }
}

/// Why a pane whose record is not idle cannot take a command.
fn busy(engine: &Engine, job: Option<&Arc<Job>>) -> Obstacle {
    match job {
        Some(job) => match engine.own_id(job) {
            Some(id) if job.is_left() => Obstacle::StillRuns(id),
            id => Obstacle::Parallel(id),
        },
        None => Obstacle::Parallel(None),
    }
}

/// The obstacle, if a person is using the prompt at which a command was refused.
fn person_at_prompt(refusal: Refusal) -> Result<Obstacle, Refusal> {
    match refusal {
        Refusal::HalfTyped { .. } => Ok(Obstacle::InUse("has text at its prompt")),
        Refusal::Continuation { .. } => Ok(Obstacle::InUse("has an unfinished command")),
        Refusal::Synchronized { .. } => Ok(Obstacle::InUse("is synchronized with other panes")),
        Refusal::PersonActive { .. } => Ok(Obstacle::InUse("is in use: a person is pressing keys")),
        Refusal::Dialog { .. } | Refusal::KeysAreCommands { .. } => {
            Ok(Obstacle::InUse("has a line editor that takes keys as commands"))
        }
        other => Err(other),
    }
}

/// The idle panes beside the home shell, last used first. Closes those beyond the limit.
fn idle_panes(engine: &Arc<Engine>) -> Vec<PaneId> {
    let home = engine.home().shell().map(|home| home.pane);
    let records = engine.records();
    let mut idle: Vec<(u64, PaneId)> = records
        .panes
        .iter()
        .filter(|(_, record)| record.is_pooled_for(engine.client()) && record.is_idle())
        .filter(|(pane, _)| Some(**pane) != home)
        .map(|(pane, record)| (record.generation, *pane))
        .collect();
    drop(records);
    idle.sort_unstable_by(|a, b| b.cmp(a));
    for (_, pane) in idle.split_off(MAX_IDLE_PANES.min(idle.len())) {
        close_pane(engine, pane);
    }
    idle.into_iter().map(|(_, pane)| pane).collect()
}

/// Waits for the shell of a pane, which needs some time to print its prompt after a command, and more on a
/// busy machine. The error is the name of the program that has the terminal instead.
async fn wait_for_prompt(
    engine: &Engine,
    pane: &PaneState,
    last_end: Option<Instant>,
) -> Result<PromptingShell, String> {
    let begun = Instant::now();
    let mut pause = ProbePause::default();
    loop {
        // A probe may miss a shell that is just being woken, so only another program counts at once.
        let look = engine.processes().inspect(pane.pid).await;
        let (program, since) = match gate::readiness_by(engine, pane.pid, &look) {
            Readiness::AtPrompt(shell) => return Ok(PromptingShell { shell, look, asked: begun }),
            Readiness::BusyShell(shell, InputState::None | InputState::Unknown) => {
                (shell.name, Some(begun))
            }
            Readiness::BusyShell(program, _) | Readiness::Program(program, _) => {
                (program.name, last_end)
            }
            Readiness::Unknown => ("an unknown program".to_owned(), Some(begun)),
        };
        if since.is_none_or(|since| since.elapsed() > PROMPT_TIMEOUT) {
            return Err(program);
        }
        pause.wait().await;
    }
}

/// Creates a pane for the pool and acquires it.
async fn create_pane(
    engine: &Arc<Engine>,
    directory: Option<PathBuf>,
) -> Result<(PaneLease, PaneState), Refusal> {
    // tmux takes text only, and starts elsewhere if there is no such directory.
    let cwd = match directory {
        Some(it) if engine.host().system().has_directory(&it).await => {
            it.to_str().map(str::to_owned)
        }
        _ => None,
    };
    let launch = launch::plan(engine.host(), cwd).await?;
    let created = engine.host().new_pane(launch.new_pane.clone()).await?;
    let pane = engine.host().pane(&created.pane.to_string()).await?;
    let lease = PaneLease::acquire(engine, &pane).await?;
    engine.records().pane(&pane).add_to_pool(engine.client(), launch);
    Ok((lease, pane))
}

/// Removes the record of a pane and kills the pane in the background.
fn close_pane(engine: &Arc<Engine>, pane: PaneId) {
    engine.records().panes.remove(&pane);
    let tmux = engine.tmux().clone();
    tokio::spawn(async move {
        if let Err(error) = tmux.run(Command::action("kill-pane").option("-t", pane)).await {
            tracing::debug!("closing {pane}: {error}");
        }
    });
}
