//! The check that nothing is typed at a shell's prompt, without a change to what a person types.
//!
//! First the screen is inspected. Only where it does not decide, keys are pressed that change nothing:
//! the left arrow moves the cursor if there is text before it, and a blank shows whether keys are taken
//! as text. Keys are pressed only while no person has pressed one, which tmux itself checks at that
//! moment.

use tmux_control::PaneId;
use tmux_control::keys::{TmuxKey, type_text};
use tokio::time::Instant;

use super::cursor_row::CursorRow;
use super::gate::{self, ProbePause, Readiness, Shell};
use super::keys_read::ReadBefore;
use super::limits::PROMPT_TIMEOUT;
use super::prompt::same_prompt;
use super::viewers::Viewers;
use super::{Engine, Refusal};
use crate::host::PaneState;
use process::{InputState, ShellKind};

/// Characters with which prompts end, before a blank.
pub(super) const PROMPT_ENDS: &[&str] = &["$ ", "# ", "% ", "> ", "❯ "];

/// A prompt as it looks on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptLook {
    /// The known prompt, and nothing else.
    Known,
    /// Equal to the known prompt, and perhaps not empty: below a full row it may be the last row of a line
    /// that wraps, and a prompt that has changed may have been read with text typed ahead.
    Unproven,
    /// Perhaps another prompt, perhaps with text.
    Other,
}

/// Inspects the cursor's row. `known` is the row of the shell's prompt. Refuses what is certainly not an
/// empty prompt.
pub(super) fn inspect(
    pane: PaneId,
    kind: ShellKind,
    cursor: &CursorRow,
    known: Option<&str>,
) -> Result<PromptLook, Refusal> {
    if cursor.has_text_after() {
        return Err(Refusal::HalfTyped { pane });
    }
    let look = match known {
        Some(known) if is_below_full_row(cursor, known) => PromptLook::Unproven,
        Some(known) if shows_prompt(cursor, known) => PromptLook::Known,
        Some(known) if goes_on(cursor, known) => return Err(Refusal::HalfTyped { pane }),
        _ => PromptLook::Other,
    };
    if look == PromptLook::Other {
        if let Some(does) = line_editor_dialog(&cursor.before) {
            return Err(Refusal::Dialog { pane, does });
        }
        gate::refuse_continuation(pane, kind, cursor, known)?;
    }
    if cursor.has_text_below {
        return Err(Refusal::Dialog { pane, does: "shows text below its prompt, perhaps a menu" });
    }
    Ok(look)
}

/// Whether the cursor's row is this prompt, which may have wrapped in a narrow pane.
pub(super) fn shows_prompt(cursor: &CursorRow, known: &str) -> bool {
    same_prompt(known, &cursor.before) || same_prompt(known, &cursor.line())
}

/// Whether the cursor's row is this prompt, but the line that wraps into it is not.
fn is_below_full_row(cursor: &CursorRow, known: &str) -> bool {
    !cursor.wrapped.is_empty()
        && same_prompt(known, &cursor.before)
        && !same_prompt(known, &cursor.line())
}

/// Whether the line begins with this prompt and goes on. A line that also ends with it may be output
/// without an end, and the prompt behind it.
pub(super) fn goes_on(cursor: &CursorRow, known: &str) -> bool {
    begins_with(cursor, known) && !cursor.before.ends_with(known)
}

fn begins_with(cursor: &CursorRow, known: &str) -> bool {
    !known.trim().is_empty()
        && (cursor.before.starts_with(known) || cursor.line().starts_with(known))
}

/// Whether a row that a shell has just printed may be its prompt with nothing typed. The known prompt
/// may follow a last line of output that has no end.
pub(super) fn is_new_prompt(cursor: &CursorRow, known: Option<&str>) -> bool {
    let row = &cursor.before;
    let typed = |known: &str| {
        let within = !known.trim().is_empty() && row.contains(known) && !row.ends_with(known);
        !shows_prompt(cursor, known) && (within || begins_with(cursor, known))
    };
    !cursor.has_text_after() && !known.is_some_and(typed) && line_editor_dialog(row).is_none()
}

/// Activity of a line editor that shows this row instead of its prompt.
pub(super) fn line_editor_dialog(row: &str) -> Option<&'static str> {
    let row = row.trim_end();
    if row.contains("i-search") {
        return Some("searches its history");
    }
    if row.ends_with("--More--") {
        return Some("shows a list page by page");
    }
    // The stock prompts of `read` in fish and of `select`, in which a key is a part of the answer.
    if ["read>", "?#", "#?"].contains(&row) {
        return Some("reads a line for a command");
    }
    // The words are translated in many languages; a blank would answer yes.
    let has_choices = ["? (y ", "(y/", "(Y/", "[y/", "[Y/"].iter().any(|it| row.contains(it));
    let asks = row.ends_with('?') || (has_choices && row.ends_with([')', ']']));
    asks.then_some("asks a question")
}

/// Whether a row may be a prompt, given the one that is `known`. Other rows belong to an unfinished command,
/// or to one that reads keys, such as `read -e`: there the first key would be an answer.
pub(super) fn may_be_prompt(row: &str, known: Option<&str>) -> bool {
    let row = row.trim();
    let ends_as_prompt = PROMPT_ENDS.iter().any(|end| row.ends_with(end.trim()));
    let (first, last) = (row.chars().next(), row.chars().next_back());
    row.is_empty()
        || ends_as_prompt
        || match known.map(str::trim).filter(|known| !known.is_empty()) {
            // The directory in it may have changed.
            Some(known) => first == known.chars().next() || last == known.chars().next_back(),
            None => {
                let ends_as_question = |c: char| c.is_alphanumeric() || ":,.!".contains(c);
                !row.is_ascii() || last.is_some_and(|last| !ends_as_question(last))
            }
        }
}

/// The text behind the first thing in a row that looks like the end of a prompt.
pub(super) fn text_behind_prompt(row: &str) -> &str {
    let ends = PROMPT_ENDS.iter().filter_map(|end| Some(row.find(end)? + end.len()));
    ends.min().and_then(|at| row.get(at..)).unwrap_or_default().trim()
}

/// Outcome of a check that presses keys.
#[derive(Debug)]
pub(super) enum Checked<T> {
    /// The check was made.
    Done(T),
    /// A person pressed a key, or the row changed for another reason: the pane has to be inspected
    /// again.
    Disturbed,
}

/// A shell at its prompt, and the people who look at it.
pub(super) struct PromptCheck<'a> {
    pub(super) engine: &'a Engine,
    pub(super) pane: &'a PaneState,
    pub(super) shell: Shell,
    pub(super) viewers: &'a Viewers,
    /// Whether the pane is one of the pool, in which people look on and hardly type.
    pub(super) pooled: bool,
}

impl PromptCheck<'_> {
    /// A format that is true while no person has pressed a key and the cursor is where it was.
    pub(super) fn condition(&self, cursor: &CursorRow) -> String {
        self.viewers.unchanged_at(cursor)
    }

    /// Refuses a row that is not this prompt, nor another one with nothing typed.
    pub(super) async fn require_empty(
        &self,
        cursor: &CursorRow,
        known: &str,
    ) -> Result<Checked<()>, Refusal> {
        let look = inspect(self.pane.pane, self.shell.kind, cursor, Some(known))?;
        self.require_nothing_typed(look, cursor, Some(known)).await
    }

    /// Refuses a row if text is typed there, as far as its look does not tell.
    pub(super) async fn require_nothing_typed(
        &self,
        look: PromptLook,
        cursor: &CursorRow,
        known: Option<&str>,
    ) -> Result<Checked<()>, Refusal> {
        match look {
            PromptLook::Known => return Ok(Checked::Done(())),
            PromptLook::Unproven => {}
            PromptLook::Other => self.refuse_visible_text(cursor, known).await?,
        }
        if !self.has_line_editor().await {
            return Ok(Checked::Done(()));
        }
        let pane = self.pane.pane;
        let Checked::Done(now) = self.press(cursor, "Left").await? else {
            return Ok(Checked::Disturbed);
        };
        let place = |it: &CursorRow| (it.row, it.column);
        if place(&now) == place(cursor) {
            let is_same = now.before == cursor.before;
            return Ok(if is_same { Checked::Done(()) } else { Checked::Disturbed });
        }
        // The cursor goes back; at the end of a line the key does nothing.
        self.engine.tmux().run(TmuxKey::Named("Right".to_owned()).press(pane)).await?;
        let in_same_row = now.row == cursor.row && cursor.before.starts_with(&now.before);
        if place(&now) < place(cursor) && (in_same_row || now.row + 1 == cursor.row) {
            return Err(Refusal::HalfTyped { pane });
        }
        Ok(Checked::Disturbed)
    }

    /// Whether a row that an interrupt has drawn again is a prompt with nothing typed. The terminal itself
    /// drops a line; a line editor may draw it again. The key leaves an unfinished command, unless it is
    /// trapped; only a prompt without a name can then be the first one.
    pub(super) async fn is_drawn_empty(&self, cursor: &CursorRow) -> bool {
        if cursor.before != "> " && gate::is_continuation(self.shell.kind, &cursor.before) {
            return false;
        }
        if !self.has_line_editor().await {
            return true;
        }
        let Ok(_typing) = self.engine.typing(self.pane.pane).await else { return false };
        let checked = self.require_nothing_typed(PromptLook::Unproven, cursor, None).await;
        matches!(checked, Ok(Checked::Done(())))
    }

    /// Refuses a row of an unknown prompt if it shows text behind the prompt, or no prompt at all.
    async fn refuse_visible_text(
        &self,
        cursor: &CursorRow,
        known: Option<&str>,
    ) -> Result<(), Refusal> {
        let pane = self.pane.pane;
        gate::require_prompt_row(pane, self.shell.kind, cursor)?;
        let line = cursor.line();
        let ends_as_prompt = PROMPT_ENDS.iter().any(|end| line.ends_with(end));
        let behind = text_behind_prompt(&line);
        let has_text = match self.has_line_editor().await {
            // A prompt may have such an end within it. Then it has another at its own end.
            true => !behind.is_empty() && !ends_as_prompt,
            // No key could tell a prompt from text here, so only a plain prompt is accepted.
            false => !ends_as_prompt || behind.contains(char::is_alphanumeric),
        };
        if has_text {
            return Err(Refusal::HalfTyped { pane });
        }
        // In an empty row another program has printed. The line editor has its line elsewhere, and an
        // arrow key cannot move the cursor.
        let is_hidden = !cursor.shows_text() && !self.pooled;
        if is_hidden || !may_be_prompt(&line, known) {
            let does = "does not show its prompt: a command may be reading keys, or a program has \
                        printed over it";
            return Err(Refusal::Dialog { pane, does });
        }
        Ok(())
    }

    /// Types one blank, which must appear as text, and returns the cursor's row behind it. A line
    /// editor in vi normal mode, a menu or a search would take the letters of a command as commands.
    pub(super) async fn type_blank(
        &self,
        cursor: &CursorRow,
    ) -> Result<Checked<CursorRow>, Refusal> {
        let pane = self.pane.pane;
        let Checked::Done(now) = self.press(cursor, "Space").await? else {
            return Ok(Checked::Disturbed);
        };
        // A key of a person may have changed the row, too.
        if !self.viewers.have_been_idle(&Viewers::read(self.engine.tmux(), self.pane).await?) {
            return Ok(Checked::Disturbed);
        }
        let place = |it: &CursorRow| (it.row, it.column);
        let added = now.before.strip_prefix(cursor.before.as_str());
        let wraps = cursor.column + 1 >= now.width && now.column == 0;
        // Text of the line moves with the cursor. A right prompt stays where it is, or makes room.
        let row = |it: &CursorRow| format!("{}{}", it.before, it.after);
        let is_right_prompt =
            |now: &CursorRow| now.after.trim().is_empty() || same_prompt(&row(now), &row(cursor));
        if !cursor.after.trim().is_empty() && !is_right_prompt(&now) && place(&now) != place(cursor)
        {
            self.take_back(1).await?;
            return Err(Refusal::HalfTyped { pane });
        }
        match added {
            Some(" ") => Ok(Checked::Done(now)),
            _ if wraps => Ok(Checked::Done(now)),
            Some("") if place(&now) == place(cursor) => {
                // In vi normal mode this key only moves the cursor. Without an echo, the blank is there.
                self.take_back(1).await?;
                Err(Refusal::KeysAreCommands { pane })
            }
            // A repeat count was typed before.
            Some(blanks) if !blanks.is_empty() && blanks.trim().is_empty() => {
                self.take_back(blanks.len()).await?;
                Err(Refusal::Dialog { pane, does: "repeats the next key" })
            }
            _ => {
                self.take_back(1).await?;
                Ok(Checked::Disturbed)
            }
        }
    }

    /// Erases blanks that were typed, unless a person has pressed a key since, and waits until the shell
    /// has: a blank that is still there would look like text of a person.
    pub(super) async fn take_back(&self, count: usize) -> Result<(), Refusal> {
        let pane = self.pane.pane;
        let erase = TmuxKey::Named("BSpace".to_owned()).press(pane);
        let condition = self.viewers.unchanged();
        let keys = vec![erase; count];
        let before = self.read_before().await;
        if self.engine.tmux().type_if(&pane.into(), &condition, keys).await? {
            self.wait_for_reaction(before, count).await?;
        }
        Ok(())
    }

    /// Presses a key and waits until the shell has acted on it.
    async fn press(&self, cursor: &CursorRow, key: &str) -> Result<Checked<CursorRow>, Refusal> {
        let (tmux, pane) = (self.engine.tmux(), self.pane.pane);
        let keys = match key {
            "Space" => type_text(pane, " "),
            key => vec![TmuxKey::Named(key.to_owned()).press(pane)],
        };
        let before = self.read_before().await;
        if !tmux.type_if(&pane.into(), &self.condition(cursor), keys).await? {
            return Ok(Checked::Disturbed);
        }
        self.wait_for_reaction(before, 1).await?;
        Ok(Checked::Done(CursorRow::read(tmux, pane).await?))
    }

    /// What the shell has read before keys are pressed. Without a line editor it reads them with Enter only.
    pub(super) async fn read_before(&self) -> ReadBefore {
        match self.has_line_editor().await {
            true => ReadBefore::of(self.engine, self.shell.pid).await,
            false => ReadBefore::default(),
        }
    }

    /// Waits until the shell has acted on this number of keys.
    pub(super) async fn wait_for_reaction(
        &self,
        before: ReadBefore,
        keys: usize,
    ) -> Result<(), Refusal> {
        // Then tmux has handed the key to the terminal. A shell that reads again with no key unread has
        // acted on all of them, and what it printed comes before the second one.
        self.engine.catch_up(self.pane).await;
        let begun = Instant::now();
        let mut pause = ProbePause::default();
        loop {
            // A shell that waits after it has read the keys has acted on them.
            let look = self.engine.processes().inspect(self.pane.pid).await;
            let has_read = before.has_read_by(&look, self.engine, keys).await;
            match gate::readiness_by(self.engine, self.pane.pid, &look) {
                Readiness::AtPrompt(shell) if has_read && shell.pid == self.shell.pid => break,
                _ if begun.elapsed() > PROMPT_TIMEOUT => {
                    let pane = self.pane.pane;
                    let shell = self.shell.kind.name().to_owned();
                    return Err(Refusal::ShellBusy { pane, shell, does: "does not react to keys" });
                }
                _ => pause.wait().await,
            }
        }
        self.engine.catch_up(self.pane).await;
        Ok(())
    }

    /// Whether the shell edits the line itself. Otherwise the terminal does, which knows no modes and
    /// no arrow keys.
    pub(super) async fn has_line_editor(&self) -> bool {
        if matches!(self.shell.kind, ShellKind::Bash | ShellKind::Zsh | ShellKind::Fish) {
            return true;
        }
        let look = self.engine.processes().inspect(self.pane.pid).await;
        look.input_state() == InputState::Raw
    }
}

#[cfg(test)]
mod tests;
