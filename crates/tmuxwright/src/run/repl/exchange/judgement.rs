//! Derives the standing of a program from the row in which the program reads again.

use super::super::interpreters::Interpreter;
use super::super::prompts::{RowIs, looks_like_prompt};
use super::super::{Reader, Standing};
use super::Exchange;
use crate::input_probe;
use crate::run::Refusal;
use crate::run::limits::{RELAY_QUIET, SHELL_RESPONSE_TIMEOUT, UNKNOWN_ROW_QUIET};
use crate::run::viewers::Viewers;
use process::InputState;

impl Exchange<'_> {
    /// Judges the row in which a program reads. `None` if it may not be what the program waits for yet.
    pub(super) fn judge(&self, reader: &Reader) -> Option<Standing> {
        let (mut is_below, mut row) = self.answer_row();
        if !is_below && self.is_answered && self.may_stay_in_row() {
            (is_below, row) = (true, self.screen.cursor_line().1);
        }
        let quiet = self.last_output.elapsed();
        if self.screen.in_alternate() {
            let program = reader.program.name.clone();
            return (quiet >= UNKNOWN_ROW_QUIET).then_some(Standing::FullScreen { program });
        }
        if reader.input == InputState::Password {
            return (quiet >= RELAY_QUIET || !reader.is_relay).then_some(Standing::AsksPassword);
        }
        // A program that cannot be inspected may be about to print.
        if reader.is_relay && quiet < RELAY_QUIET {
            return None;
        }
        if is_below && reader.is_same(&self.reader) {
            let is_learned = self.prompts.is_learned();
            match self.prompts.judge(&row) {
                // A line editor left the terminal to a question, as `io.read()` of lua does.
                RowIs::Prompt(1..)
                    if self.reader.has_editor() && reader.input == InputState::Line =>
                {
                    return Some(Standing::Asks { row });
                }
                RowIs::Prompt(at) => {
                    let row = row.get(at..).unwrap_or_default().to_owned();
                    return Some(match self.is_left_open() {
                        true => Standing::Open { row },
                        false => Standing::AtPrompt { row, is_learned },
                    });
                }
                RowIs::Continuation => return Some(Standing::Open { row }),
                // fish leaves a line with a wrong syntax where it is.
                RowIs::Other if reader.shell.is_some() && self.still_shows_input(&row) => {
                    return Some(Standing::NotTaken { row });
                }
                RowIs::Other
                    if reader.shell.is_some() && self.prompts.may_be_shell_prompt(&row) =>
                {
                    return Some(Standing::AtPrompt { row, is_learned: false });
                }
                RowIs::Other => {}
            }
        }
        // Another interpreter may have been started: pdb by Python, any by a shell.
        let started = self.prompts.table.of(Some(&reader.program), &row);
        if is_below && reader.shell.is_none() && started.is_some_and(|it| it.is_shown_by(&row)) {
            return Some(Standing::AtPrompt { row, is_learned: false });
        }
        if quiet < UNKNOWN_ROW_QUIET || !is_below && quiet < SHELL_RESPONSE_TIMEOUT {
            return None;
        }
        // The question of a command, or the next prompt, may be on its way.
        if self.has_osc && row.trim().is_empty() && quiet < SHELL_RESPONSE_TIMEOUT {
            return None;
        }
        let may_be_open = self.prompts.continues_blank() && reader.has_editor() && !self.has_osc;
        if is_below && row.trim().is_empty() && may_be_open {
            return Some(Standing::Open { row });
        }
        // It reads all the time, so only its row says that the program behind it waits.
        if (reader.is_relay || self.prompts.reads_at_work()) && !input_probe::is_question(&row) {
            return None;
        }
        let is_prompt = self.prompts.is_learned() && looks_like_prompt(&row);
        Some(match is_prompt && reader.is_same(&self.reader) {
            true => Standing::AtPrompt { row, is_learned: true },
            false if reader.is_relay && input_probe::asks_for_secret(&row) => {
                Standing::AsksPassword
            }
            false => Standing::Asks { row },
        })
    }

    /// Whether a further line would reach another interpreter than the one it was written for: the debugger that
    /// `breakpoint()` of Python starts, or the shell behind a relay whose program has exited. The first line may have
    /// started it from a shell.
    pub(super) fn is_other_prompt(&self, standing: &Standing) -> bool {
        let Standing::AtPrompt { row, is_learned } = standing else { return false };
        (*is_learned || self.prompts.interpreter.is_some())
            && self.prompts.judge(row) == RowIs::Other
    }

    /// The standing of a program that reads all the time, if a person types at the prompt that follows the answer.
    pub(super) async fn typed_by_person(
        &self,
        reader: &Reader,
    ) -> Result<Option<Standing>, Refusal> {
        let (is_below, row) = self.answer_row();
        let prompt = self.prompts.learned.as_deref().map(str::trim_end).unwrap_or_default();
        let is_typed = self.prompts.interpreter.is_some_and(|it| it.has_typed_text(&row))
            || (!prompt.is_empty() && row.starts_with(prompt));
        let is_quiet = self.last_output.elapsed() >= UNKNOWN_ROW_QUIET;
        if !(is_below && is_typed && is_quiet && reader.is_same(&self.reader)) {
            return Ok(None);
        }
        let viewers = Viewers::read(self.engine.tmux(), self.pane).await?;
        Ok((!self.viewers.have_been_idle(&viewers)).then_some(Standing::Asks { row }))
    }

    /// Whether the answer may begin in the row of the input: readline prints no line feed for an empty line
    /// behind an empty prompt, and editline goes back to the row in which a block was ended.
    fn may_stay_in_row(&self) -> bool {
        self.entered.is_empty() || self.prompts.interpreter.is_some_and(|it| it.reuses_row())
    }

    /// Whether the last line has left a statement open, though the prompt in this line is not another one.
    fn is_left_open(&self) -> bool {
        let is_silent = self.screen.cursor_line().0 <= self.input_end().0 + 1;
        let leaves_open = |it: &Interpreter| match self.entered.trim().is_empty() {
            true => self.is_open && it.has_statement_end(),
            false => it.leaves_open(&self.entered),
        };
        let was_prompt = |it: &Interpreter| {
            it.prompt_in(&self.input_row).is_some() || it.is_continuation(&self.input_row)
        };
        let interpreter = self.prompts.interpreter.filter(|it| was_prompt(it));
        is_silent && interpreter.is_some_and(leaves_open)
    }
}
