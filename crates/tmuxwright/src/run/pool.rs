//! The pool: panes of the own session for commands without a target. An idle pane is reused, or a
//! new one created.

use std::sync::Arc;

use tmux_control::{Command, PaneId};
use tokio::time::Instant;

use super::gate::{self, ProbePause, Readiness, Shell};
use super::pane_records::{PaneLease, ShellMarks};
use super::start_job::start_job;
use super::{Engine, Refusal, StartedJob, launch};
use crate::host::PaneState;

/// Idle panes that are kept for one client.
const MAX_IDLE_PANES: usize = 16;

/// Runs a command in a pane of the pool.
pub(super) async fn run(
    engine: &Arc<Engine>,
    command: String,
    cwd: Option<String>,
) -> Result<StartedJob, Refusal> {
    let mut dead = Vec::new();
    for pane in idle_panes(engine) {
        let Some((lease, pane)) = try_acquire(engine, pane, cwd.as_deref(), &mut dead).await else {
            continue;
        };
        match start_job(engine, lease, pane, command.clone()).await {
            // A person is using the pane.
            Err(
                Refusal::HalfTyped { .. }
                | Refusal::Continuation { .. }
                | Refusal::Synchronized { .. },
            ) => {}
            other => return other,
        }
    }
    let (lease, pane) = create_pane(engine, cwd).await?;
    // Dead panes are closed last: closing the only pane would destroy the own session and its
    // control client.
    dead.into_iter().for_each(|pane| close_pane(engine, pane));
    start_job(engine, lease, pane, command).await
}

/// The idle panes, last used first. Closes those beyond the limit.
fn idle_panes(engine: &Arc<Engine>) -> Vec<PaneId> {
    let records = engine.records();
    let mut idle: Vec<(u64, PaneId)> = records
        .panes
        .iter()
        .filter(|(_, record)| record.is_pooled_for(engine.client()) && record.is_idle())
        .map(|(pane, record)| (record.generation, *pane))
        .collect();
    drop(records);
    idle.sort_unstable_by(|a, b| b.cmp(a));
    for (_, pane) in idle.split_off(MAX_IDLE_PANES.min(idle.len())) {
        close_pane(engine, pane);
    }
    idle.into_iter().map(|(_, pane)| pane).collect()
}

/// Acquires an idle pane if its shell is at its prompt, in the wanted directory.
async fn try_acquire(
    engine: &Arc<Engine>,
    pane: PaneId,
    cwd: Option<&str>,
    dead: &mut Vec<PaneId>,
) -> Option<(PaneLease, PaneState)> {
    let Ok(state) = engine.host().pane(&pane.to_string()).await else {
        engine.records().panes.remove(&pane);
        return None;
    };
    if state.process_state.has_exited() {
        dead.push(pane);
        return None;
    }
    // During the query another call may have acquired the pane, or a respawn replaced its process.
    let (last_end, starting) = match engine.records().panes.get(&pane) {
        Some(record) if record.is_pooled_for(engine.client()) && record.is_idle() => {
            let starting = matches!(record.marks, ShellMarks::Expected(_));
            (record.last_end, record.last_end.is_none() && starting)
        }
        _ => return None,
    };
    if state.input_off || !state.mode.is_empty() {
        return None;
    }
    let lease = PaneLease::acquire(engine, &state).await.ok()?;
    // A new shell would take as long to start.
    if starting && cwd.is_none() {
        return Some((lease, state));
    }
    let shell = wait_for_prompt(engine, &state, last_end).await?;
    let in_wanted_dir = cwd.is_none_or(|cwd| {
        let wanted = std::fs::canonicalize(cwd).ok();
        wanted.is_some() && process::cwd(shell.pid) == wanted
    });
    in_wanted_dir.then_some((lease, state))
}

/// Waits for the shell of a pane, which needs some time to print its prompt after a command.
async fn wait_for_prompt(
    engine: &Engine,
    pane: &PaneState,
    last_end: Option<Instant>,
) -> Option<Shell> {
    let mut pause = ProbePause::default();
    loop {
        if let Readiness::AtPrompt(shell, _) = gate::readiness(pane.pid, engine.declared()) {
            return Some(shell);
        }
        if last_end.is_none_or(|ended| ended.elapsed() > gate::PROMPT_TIMEOUT) {
            return None;
        }
        pause.wait().await;
    }
}

/// Creates a pane for the pool and acquires it.
async fn create_pane(
    engine: &Arc<Engine>,
    cwd: Option<String>,
) -> Result<(PaneLease, PaneState), Refusal> {
    let launch = launch::plan(engine.tmux(), &engine.shared.private_dir, cwd).await?;
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
