//! The prompt that follows a job: read from the stream, so that text a person types there later can be
//! distinguished from it.

use futures::FutureExt;
use tmux_control::PaneId;
use tmux_control::keys::TmuxKey;
use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::Engine;
use super::cursor_row::CursorRow;
use super::follow::JobFollower;
use super::gate::{self, ProbePause, Readiness};
use super::limits::SHELL_RESPONSE_TIMEOUT;
use super::prompt::Prompt;

/// Rows of the tallest prompt.
const MAX_PROMPT_ROWS: usize = 5;

/// Characters of which a terminal's replies consist, without the escape characters that begin them.
const REPLY_CHARACTERS: &str = "0123456789;:?>=$/[]^rgbacnRtuy\\";

impl JobFollower {
    /// Reads the shell's prompt after the command and records it. `unfinished` is the last output line
    /// if it has no end.
    pub(super) async fn read_prompt(self, unfinished: &str) {
        let Self { engine, job, lease, pane, shell, mut stream, state, echo, prompt, .. } = self;
        let queried = job.queried_terminal();
        let generation = lease.generation();
        // Releases the pane for the next command, unless keys have to be pressed below.
        let kept = queried.then_some(lease);
        let mut after = echo.blank(MAX_PROMPT_ROWS);
        // The prompt follows an unfinished line in the same row.
        after.feed(unfinished.as_bytes(), &mut |_| {});
        after.feed(&state.after_end, &mut |_| {});
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        // A later command reads the prompt at its own end.
        while engine.records().pane(&pane).generation == generation {
            // Once the shell reads, its prompt is printed, and a person has not typed there yet.
            let reads =
                matches!(gate::readiness(pane.pid, engine.declared()), Readiness::AtPrompt(..))
                    && engine.catch_up(&pane).await;
            while let Some(chunk) = stream.next().now_or_never() {
                let Chunk::Bytes { bytes, .. } = chunk else { return };
                after.feed(&bytes, &mut |_| {});
            }
            if reads {
                break;
            }
            if begun.elapsed() > SHELL_RESPONSE_TIMEOUT {
                return;
            }
            pause.wait().await;
        }
        let mut now = Prompt::below_output(&after.pending(), after.before_cursor(), &prompt.row);
        if queried && let Some(rest) = take_back_reply(&engine, pane.pane, &prompt.row).await {
            now = Prompt { row: rest, rows: prompt.rows };
        }
        let is_first = prompt.rows.is_none() && now.rows() > 1;
        if is_first && process::other_session_processes(shell.pid).is_none_or(|it| !it.is_empty()) {
            // Perhaps not rows of the prompt, but output of a process in the background.
            now.rows = None;
        }
        engine.remember_prompt(&pane, generation, now.after(&prompt));
        drop(kept);
    }
}

/// Takes back the reply of a terminal to a query of the last program, which is now typed at the prompt
/// as if by a person. Returns the row without it, if there was one. Anything else behind the known prompt
/// is a person's.
async fn take_back_reply(engine: &Engine, pane: PaneId, known: &str) -> Option<String> {
    let reply_at = |cursor: &CursorRow| {
        let reply = cursor.before.strip_prefix(known).filter(|_| !known.is_empty())?;
        let is_reply = !reply.is_empty() && reply.chars().all(|c| REPLY_CHARACTERS.contains(c));
        is_reply.then(|| reply.chars().count())
    };
    let cursor = CursorRow::read(engine.tmux(), pane).await.ok()?;
    let length = reply_at(&cursor)?;
    let erase = TmuxKey::Named("BSpace".to_owned()).press(pane);
    engine.tmux().sequence(vec![erase; length]).await.ok()?;
    let begun = Instant::now();
    let mut pause = ProbePause::default();
    while begun.elapsed() < SHELL_RESPONSE_TIMEOUT {
        let now = CursorRow::read(engine.tmux(), pane).await.ok()?;
        if now.before == known {
            return Some(now.before);
        }
        pause.wait().await;
    }
    None
}
