//! The prompt that follows a job: read from the stream, so that text a person types there later can be
//! distinguished from it.

use tmux_control::keys::TmuxKey;
use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::Engine;
use super::cursor_row::CursorRow;
use super::follow::JobFollower;
use super::gate::{self, ProbePause, Readiness, Shell};
use super::limits::SHELL_RESPONSE_TIMEOUT;
use super::pane_size::SizedItem;
use super::prompt::{Prompt, same_prompt};
use super::prompt_check::{PromptCheck, line_editor_dialog};
use super::viewers::Viewers;
use crate::host::PaneState;

/// Rows of the tallest prompt.
const MAX_PROMPT_ROWS: usize = 5;

/// Characters of which a terminal's replies consist, without the escape characters that begin them.
const REPLY_CHARACTERS: &str = "0123456789;:?>=$/[]^rgbacnRtuy\\";

impl JobFollower {
    /// Reads the shell's prompt after the command and records it. `unfinished` is the last output line
    /// if it has no end.
    pub(super) async fn read_prompt(self, unfinished: &str) {
        let Self { engine, job, lease, pane, shell, mut stream, state, feed, prompt, .. } = self;
        let queried = job.queried_terminal();
        let generation = lease.generation();
        // Releases the pane for the next command, unless keys have to be pressed below.
        let kept = queried.then_some(lease);
        let mut after = feed.echo.blank(MAX_PROMPT_ROWS);
        // The prompt follows an unfinished line in the same row.
        after.feed(unfinished.as_bytes(), &mut |_| {});
        // More rows than any prompt has: a process in the background prints.
        let mut is_more = false;
        after.feed(&state.after_end, &mut |_| is_more = true);
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        let mut look = state.look_at_end;
        // The reply to a query reaches the terminal before the first catch-up ends, its echo before the
        // second one does.
        let mut catch_ups = if queried { 2 } else { 1 };
        // A later command reads the prompt at its own end.
        while engine.records().pane(&pane).generation == generation {
            // Once the shell reads, its prompt is printed, and a person has not typed there yet.
            let seen = match look.take() {
                Some(look) => look,
                None => engine.processes().inspect(pane.pid).await,
            };
            let reads = match gate::readiness_by(&engine, pane.pid, &seen) {
                Readiness::AtPrompt(found) => {
                    if !engine.host().system().is_local() {
                        engine.records().note_at_prompt(&pane, generation, (found, seen));
                    }
                    engine.catch_up(&pane).await
                }
                // It has exited, and prints no prompt any more.
                Readiness::Unknown if seen.started(shell.pid).is_none() => return,
                _ => false,
            };
            while let Some(item) = stream.next_arrived().await {
                let mut more = |_: &str| is_more = true;
                match item {
                    SizedItem::Chunk(Chunk::Bytes { bytes, .. }) => after.feed(&bytes, &mut more),
                    SizedItem::Size(width, _) => after.resize(width, MAX_PROMPT_ROWS, &mut more),
                    SizedItem::Chunk(_) => return,
                }
            }
            catch_ups -= u32::from(reads);
            if catch_ups == 0 {
                break;
            }
            if begun.elapsed() > SHELL_RESPONSE_TIMEOUT {
                return;
            }
            pause.wait().await;
        }
        let mut now = Prompt::below_output(&after.pending(), after.before_cursor(), &prompt.row);
        let since = state.typed_at;
        if queried
            && let Some(rest) = take_back_reply(&engine, &pane, shell, &prompt.row, since).await
        {
            now = Prompt { row: rest, rows: prompt.rows };
        }
        let is_first = prompt.rows.is_none() && now.rows() > 1;
        let others = match is_first && !is_more {
            true => engine.processes().other_session_processes(shell.pid).await,
            false => Some(Vec::new()),
        };
        if is_more || others.is_none_or(|it| !it.is_empty()) {
            now.rows = None;
        }
        // A person may have typed there already and looked elsewhere since, or opened a search.
        let is_same = same_prompt(&now.row, &prompt.row);
        let is_prompt = is_same
            || Viewers::read(engine.tmux(), &pane)
                .await
                .is_ok_and(|viewers| !viewers.session_typed_within(since.elapsed()));
        if is_prompt && line_editor_dialog(&now.row).is_none() {
            // Keys of a person who has detached since, or of a program, leave no trace in tmux.
            let is_proven = is_same && engine.records().pane(&pane).prompt_is_proven;
            engine.remember_prompt(&pane, generation, now.after(&prompt), is_proven);
        }
        drop(kept);
    }
}

/// The people who look at a pane, if none of them can have pressed a key since this moment. tmux counts a
/// key before it passes the key on, so a key whose echo was read counts.
async fn viewers_without_key(engine: &Engine, pane: &PaneState, since: Instant) -> Option<Viewers> {
    let viewers = Viewers::read(engine.tmux(), pane).await.ok()?;
    (!viewers.typed_within(since.elapsed())).then_some(viewers)
}

/// Takes back the reply of a terminal to a query of the last program, which is now typed at the prompt
/// as if by a person. Returns the row without it, if there was one. Anything else behind the known prompt
/// is a person's, and all of it may be if a person has pressed a key `since` the command began. Before the
/// prompt the row may hold the end of the output.
async fn take_back_reply(
    engine: &Engine,
    pane: &PaneState,
    shell: Shell,
    known: &str,
    since: Instant,
) -> Option<String> {
    let viewers = viewers_without_key(engine, pane, since).await?;
    let cursor = CursorRow::read(engine.tmux(), pane.pane).await.ok()?;
    let line = cursor.line();
    let is_reply = |c: char| REPLY_CHARACTERS.contains(c);
    let reply = match line.rfind(known).filter(|_| !known.is_empty()) {
        Some(at) => line.get(at + known.len()..)?,
        // The prompt has changed. Its last characters may look like a reply too, but cannot be erased.
        None => line.get(line.trim_end_matches(is_reply).len()..)?,
    };
    if reply.is_empty() {
        // In line mode the terminal has echoed the reply during the command, and still holds it. A key
        // of a person that came meanwhile would be discarded with it.
        viewers_without_key(engine, pane, since).await?;
        if let Err(error) = engine.processes().discard_unread_line(pane.pid).await {
            tracing::debug!(%error, pane = %pane.pane, "replies of the terminal stay in its input");
        }
        return None;
    }
    if !reply.chars().all(is_reply) {
        return None;
    }
    let erase = TmuxKey::Named("BSpace".to_owned()).press(pane.pane);
    let count = reply.chars().count();
    let erase = vec![erase; count];
    let condition = viewers.unchanged_at(&cursor);
    let check = PromptCheck { engine, pane, shell, viewers: &viewers, pooled: false };
    let before = check.read_before().await;
    if !engine.tmux().type_if(&pane.pane.into(), &condition, erase).await.ok()? {
        return None;
    }
    check.wait_for_reaction(before, count).await.ok()?;
    Some(CursorRow::read(engine.tmux(), pane.pane).await.ok()?.before)
}
