//! Panes of our own for commands that name none: an idle one is taken, or a new one is made.

use std::sync::Arc;

use tmux_control::{Command, PaneId};
use tokio::time::Instant;

use super::gate::{self, Front, Pause, Shell};
use super::memory::{Lease, Marks};
use super::{Engine, Refusal, Started, launch, start};
use crate::host::PaneState;

/// How many idle panes are kept.
const IDLE: usize = 16;

pub(super) async fn run(
    engine: &Arc<Engine>,
    command: String,
    cwd: Option<String>,
) -> Result<Started, Refusal> {
    let mut dead = Vec::new();
    for pane in idle(engine) {
        let Some((lease, pane)) = usable(engine, pane, cwd.as_deref(), &mut dead).await else {
            continue;
        };
        match start::command(engine, lease, pane, command.clone()).await {
            // A person is at work there.
            Err(
                Refusal::HalfTyped { .. }
                | Refusal::Continuation { .. }
                | Refusal::Synchronized { .. },
            ) => {}
            other => return other,
        }
    }
    let (lease, pane) = open(engine, cwd).await?;
    // Not before, since the last pane takes our session and the client in it along.
    dead.into_iter().for_each(|pane| close(engine, pane));
    start::command(engine, lease, pane, command).await
}

/// The idle panes, last used first; those that are too many are closed.
fn idle(engine: &Arc<Engine>) -> Vec<PaneId> {
    let memory = engine.memory();
    let mut idle: Vec<(u64, PaneId)> = memory
        .panes
        .iter()
        .filter(|(_, known)| known.is_pooled_for(engine.client()) && known.is_idle())
        .map(|(pane, known)| (known.uses, *pane))
        .collect();
    drop(memory);
    idle.sort_unstable_by(|a, b| b.cmp(a));
    for (_, pane) in idle.split_off(IDLE.min(idle.len())) {
        close(engine, pane);
    }
    idle.into_iter().map(|(_, pane)| pane).collect()
}

/// Takes a pane if its shell is at its prompt, in the directory that is wanted.
async fn usable(
    engine: &Arc<Engine>,
    pane: PaneId,
    cwd: Option<&str>,
    dead: &mut Vec<PaneId>,
) -> Option<(Lease, PaneState)> {
    let Ok(state) = engine.host().pane(&pane.to_string()).await else {
        engine.memory().panes.remove(&pane);
        return None;
    };
    if state.process_state.has_exited() {
        dead.push(pane);
        return None;
    }
    // Asking took a moment, in which it may have been taken, or given to another process.
    let (ended, starting) = match engine.memory().panes.get(&pane) {
        Some(known) if known.is_pooled_for(engine.client()) && known.is_idle() => {
            (known.ended, known.ended.is_none() && matches!(known.marks, Marks::Expected(_)))
        }
        _ => return None,
    };
    if state.input_off || !state.mode.is_empty() {
        return None;
    }
    let lease = Lease::take(engine, &state).await.ok()?;
    // Another one would take as long to start.
    if starting && cwd.is_none() {
        return Some((lease, state));
    }
    let shell = back_at_prompt(engine, &state, ended).await?;
    let there = cwd.is_none_or(|cwd| {
        let wanted = std::fs::canonicalize(cwd).ok();
        wanted.is_some() && process::cwd(shell.pid) == wanted
    });
    there.then_some((lease, state))
}

/// The shell of a pane, which may take a moment to its prompt after a command.
async fn back_at_prompt(
    engine: &Engine,
    pane: &PaneState,
    ended: Option<Instant>,
) -> Option<Shell> {
    let mut pause = Pause::default();
    loop {
        if let Front::Prompt(shell, _) = gate::front(pane.pid, engine.declared()) {
            return Some(shell);
        }
        if ended.is_none_or(|ended| ended.elapsed() > gate::PROMPT_TIME) {
            return None;
        }
        pause.take().await;
    }
}

/// Makes a pane.
async fn open(engine: &Arc<Engine>, cwd: Option<String>) -> Result<(Lease, PaneState), Refusal> {
    let launch = launch::plan(engine.tmux(), &engine.shared.kit, cwd).await?;
    let created = engine.host().new_pane(launch.wish.clone()).await?;
    let pane = engine.host().pane(&created.pane.to_string()).await?;
    let lease = Lease::take(engine, &pane).await?;
    engine.memory().pane(&pane).take_into_pool(engine.client(), launch);
    Ok((lease, pane))
}

/// Forgets a pane and has tmux close it.
fn close(engine: &Arc<Engine>, pane: PaneId) {
    engine.memory().panes.remove(&pane);
    let tmux = engine.tmux().clone();
    tokio::spawn(async move {
        if let Err(error) = tmux.run(Command::action("kill-pane").option("-t", pane)).await {
            tracing::debug!("closing {pane}: {error}");
        }
    });
}
