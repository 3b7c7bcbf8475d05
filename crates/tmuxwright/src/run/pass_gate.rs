//! The checks before a command is typed: a shell is at its prompt, and nothing is typed there.

use std::time::Duration;

use process::Inspection;
use tmux_control::stream::PaneStream;
use tokio::time::Instant;

use super::cursor_row::CursorRow;
use super::gate::{self, ProbePause, PromptingShell, Shell};
use super::limits::{FRESH_PROMPT_TIME, POOL_START_TIMEOUT, SETTLE_TIME, SHELL_START_TIMEOUT};
use super::pane_records::ShellMarks;
use super::pane_size::{self, PlacedStream};
use super::prompt::Prompt;
use super::prompt_check::{self, Checked, PromptCheck, PromptLook};
use super::start_job::JobStart;
use super::viewers::{self, Viewers};
use super::{Refusal, TypingGuard};
use terminal::screen::Screen;

/// Facts that the gate has established.
pub(super) struct GatePassed {
    pub(super) shell: Shell,
    /// The inspection that found it.
    pub(super) look: Inspection,
    pub(super) stream: PaneStream,
    /// Screen that shows the stream from its beginning on.
    pub(super) echo: Screen,
    pub(super) marks: ShellMarks,
    pub(super) prompt: Prompt,
    /// `None` if the command is typed as it is at a prompt that is known to be empty.
    pub(super) cursor: Option<CursorRow>,
    /// The people who look at the pane, if a blank was typed.
    pub(super) blank_typed: Option<Viewers>,
    /// A format that must be true for the pane when the command is typed.
    pub(super) condition: String,
    /// Held until the command is typed.
    pub(super) _typing: TypingGuard,
}

/// A prompt with nothing typed behind it.
struct EmptyPrompt {
    cursor: CursorRow,
    /// The row behind a blank, if one was typed to try the line editor.
    behind_blank: Option<CursorRow>,
    typing: TypingGuard,
}

impl JobStart {
    /// Checks that a shell is at its prompt with nothing typed.
    pub(super) async fn pass_gate(
        &self,
        first_try: bool,
        until: Instant,
    ) -> Result<Checked<GatePassed>, Refusal> {
        let Self { engine, pane, .. } = self;
        if pane.synchronized {
            return Err(Refusal::Synchronized { pane: pane.pane });
        }
        let (marks, prompt, last_end, last_start, typed_since, is_current, pooled, clean) = {
            let mut records = engine.records();
            let record = records.pane(pane);
            let (last_start, is_current) = (record.last_start, record.prompt_is_current);
            let typed_since = record.typed_since;
            let pooled = record.pool_client.is_some();
            let clean = record.ended_with_newline && pooled;
            let (marks, prompt) = (record.marks.clone(), record.prompt.clone());
            (marks, prompt, record.last_end, last_start, typed_since, is_current, pooled, clean)
        };
        let first_command = matches!(marks, ShellMarks::Expected(_));
        let PromptingShell { shell, look, asked } =
            self.wait_for_shell(first_try, first_command, last_end).await?;
        let marks = self.confirm_marks(marks).await;
        let PlacedStream { stream, place, activity } =
            pane_size::stream_with_place(engine.tmux(), pane).await?;
        let echo = Screen::for_output(&place);
        let is_local = engine.host().system().is_local();
        // The checks of another system take round trips.
        let asked = if is_local { Instant::now() } else { asked };
        let since_end = last_end.map_or(Duration::MAX, |end| asked.saturating_duration_since(end));
        let just_started = first_command && !typed_since;
        let at_once = !typed_since && since_end < FRESH_PROMPT_TIME;
        let just_ended = at_once && !is_current;
        let as_it_is = self.shell_key(shell.kind, &marks).is_some();
        // Text that a person has typed ahead, while the shell started or the last command ran, is at the
        // prompt now.
        let since_start = match last_start {
            Some(typed) => typed.elapsed(),
            None => look.age().unwrap_or(Duration::MAX),
        };
        let unwatched = engine.records().pane(pane).unwatched;
        // The clock there may differ, but the activity can be compared with itself.
        let is_same = unwatched == Some(activity);
        let may_type = if is_local { just_ended } else { at_once && is_same };
        let quiet_time = if is_local { since_start } else { Duration::MAX };
        let passed = |look, prompt, cursor, blank_typed, condition, typing| GatePassed {
            shell,
            look,
            stream,
            echo,
            marks,
            prompt,
            cursor,
            blank_typed,
            condition,
            _typing: typing,
        };
        if as_it_is && first_try && (just_started || (may_type && clean)) {
            let prompt = prompt.unwrap_or_default();
            if first_command {
                self.note_unwatched(&Viewers::read(engine.tmux(), pane).await?, activity);
            }
            let unwatched = engine.records().pane(pane).unwatched;
            let condition = viewers::no_key_within(quiet_time, unwatched);
            let typing = engine.typing(pane.pane).await?;
            return Ok(Checked::Done(passed(look, prompt, None, None, condition, typing)));
        }
        gate::require_shared_files(&look, pane.pane, shell)?;
        let viewers = Viewers::read(engine.tmux(), pane).await?;
        self.note_unwatched(&viewers, activity);
        let check = PromptCheck { engine, pane, shell, viewers: &viewers, pooled };
        // A shell of ours without a line editor prints no new prompt below the output of a process in
        // the background. It is at its prompt since its last command: nothing was typed since.
        let unattended = !typed_since && last_end.is_some();
        let still_there = unattended && !check.has_line_editor().await;
        let is_new = just_started || just_ended || still_there;
        // Elsewhere another program may have typed, and a key that it presses through tmux leaves no trace.
        // The activity of the session tells of people who have detached since.
        let is_quiet = unwatched == Some(activity) || !viewers::is_within(activity, since_start);
        let fresh = pooled && is_new && is_quiet && !viewers.session_typed_within(since_start);
        let known = prompt.as_ref().map(|known| known.row.as_str());
        let Checked::Done(EmptyPrompt { cursor, behind_blank, typing }) =
            self.empty_prompt(&check, known, fresh, until).await?
        else {
            return Ok(Checked::Disturbed);
        };
        let condition = check.condition(behind_blank.as_ref().unwrap_or(&cursor));
        let known = prompt.unwrap_or_default();
        let prompt = Prompt { row: cursor.line(), rows: None }.after(&known);
        let blank_typed = behind_blank.is_some().then_some(viewers);
        Ok(Checked::Done(passed(look, prompt, Some(cursor), blank_typed, condition, typing)))
    }

    /// Remembers the activity of the session at a moment when nobody looked at the pane.
    fn note_unwatched(&self, viewers: &Viewers, activity: u64) {
        self.engine.records().pane(&self.pane).unwatched = viewers.is_empty().then_some(activity);
    }

    /// Whether a tool has typed text since the last command that the terminal holds, and may not show at
    /// the prompt of a shell without a line editor.
    fn has_held_input(&self) -> bool {
        let typed_since = self.engine.records().pane(&self.pane).typed_since;
        typed_since && self.engine.shared.typed_input.is_held(self.pane.pane)
    }

    /// Time since the pane's first process started.
    async fn age(&self) -> Option<Duration> {
        self.engine.processes().inspect(self.pane.pid).await.age()
    }

    /// Waits for the shell's prompt.
    async fn wait_for_shell(
        &self,
        first_try: bool,
        first_command: bool,
        last_end: Option<Instant>,
    ) -> Result<PromptingShell, Refusal> {
        let Self { engine, pane, .. } = self;
        // Here a further look is more certain, and costs nothing.
        if let Some(shell) = &self.shell
            && first_try
            && !engine.host().system().is_local()
        {
            return Ok(shell.clone());
        }
        // A shell that has run a command is no longer starting.
        let starting = match last_end {
            _ if first_command => POOL_START_TIMEOUT,
            Some(_) => Duration::ZERO,
            None => {
                let limit = SHELL_START_TIMEOUT;
                limit.saturating_sub(self.age().await.unwrap_or(limit))
            }
        };
        let settling =
            SETTLE_TIME.saturating_sub(last_end.map_or(SETTLE_TIME, |ended| ended.elapsed()));
        let shell = gate::shell_at_prompt(engine, pane, starting, settling).await;
        shell.map_err(|refusal| match refusal {
            Refusal::ShellBusy { pane, shell, .. } if first_command => {
                Refusal::Starting { pane, shell, seconds: POOL_START_TIMEOUT.as_secs() }
            }
            other => other,
        })
    }

    /// The cursor's row. On another system, a shell that waits for a program of its prompt may look like one that waits
    /// for keys, so a blank row is read again for a while, unless the prompt is known to be blank.
    async fn drawn_row(&self, known: Option<&str>) -> Result<CursorRow, Refusal> {
        let is_local = self.engine.host().system().is_local();
        let may_change = !is_local && known.is_none_or(|known| !known.trim().is_empty());
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        loop {
            let cursor = CursorRow::read(self.engine.tmux(), self.pane.pane).await?;
            if !may_change || !cursor.before.trim().is_empty() || begun.elapsed() > SETTLE_TIME {
                return Ok(cursor);
            }
            pause.wait().await;
        }
    }

    /// The row of the prompt, with nothing typed after it. At a `fresh` prompt, printed just now in a pane of
    /// the pool, nobody can have typed, so any row that is not the known prompt with more text is accepted.
    async fn empty_prompt(
        &self,
        check: &PromptCheck<'_>,
        known: Option<&str>,
        fresh: bool,
        until: Instant,
    ) -> Result<Checked<EmptyPrompt>, Refusal> {
        let pane = self.pane.pane;
        let mut cursor = CursorRow::read(self.engine.tmux(), pane).await?;
        if cursor.before.trim().is_empty() {
            // The shell reads, so its prompt is printed, but may not have reached tmux.
            self.engine.catch_up(&self.pane).await;
            cursor = self.drawn_row(known).await?;
        }
        let accepted = fresh && prompt_check::is_new_prompt(&cursor, known);
        let is_proven = accepted || self.engine.records().pane(&self.pane).prompt_is_proven;
        let look = match accepted {
            true => PromptLook::Known,
            false => prompt_check::inspect(pane, check.shell.kind, &cursor, known)?,
        };
        let look = match look {
            PromptLook::Known if !is_proven => match check.has_line_editor().await {
                true => PromptLook::Unproven,
                false => PromptLook::Other,
            },
            look => look,
        };
        if let Some(wait) = check.viewers.wait() {
            if Instant::now() + wait > until {
                return Err(Refusal::PersonActive { pane });
            }
            tokio::time::sleep(wait).await;
            return Ok(Checked::Disturbed);
        }
        if !check.has_line_editor().await && self.has_held_input() {
            return Err(Refusal::HalfTyped { pane });
        }
        let typing = self.engine.typing(pane).await?;
        if accepted {
            return Ok(Checked::Done(EmptyPrompt { cursor, behind_blank: None, typing }));
        }
        let nothing_typed = check.require_nothing_typed(look, &cursor, known).await?;
        if let Checked::Disturbed = nothing_typed {
            return Ok(Checked::Disturbed);
        }
        if !check.has_line_editor().await {
            return Ok(Checked::Done(EmptyPrompt { cursor, behind_blank: None, typing }));
        }
        match check.type_blank(&cursor).await? {
            Checked::Done(behind_blank) => {
                let behind_blank = Some(behind_blank);
                Ok(Checked::Done(EmptyPrompt { cursor, behind_blank, typing }))
            }
            Checked::Disturbed => Ok(Checked::Disturbed),
        }
    }
}
