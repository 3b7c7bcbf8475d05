//! The prompts of the interpreter in a pane: which rows are its prompt, and which belong to an open
//! statement.

use process::ShellKind;

use super::interpreters::{Entry, Interpreter, Interpreters, TabEntry};
use crate::run::gate;
use crate::run::prompt::same_prompt;
use crate::run::prompt_check::{may_be_prompt, text_behind_prompt};

/// Columns of the longest prompt of a program that is not in the table.
const MAX_UNKNOWN_PROMPT: usize = 80;

/// Characters with which the prompt of a program that is not in the table ends. Questions end with
/// others.
const UNKNOWN_PROMPT_ENDS: &[char] = &['>', '$', '#', '%', '❯', '»', '›', 'λ'];

/// What a row of a program that reads is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowIs {
    /// The prompt, which begins at this byte. Text before it is output without an end.
    Prompt(usize),
    /// The prompt within an open statement.
    Continuation,
    /// Something else: a question, or no prompt at all.
    Other,
}

/// What is known about the prompts in a pane.
#[derive(Debug)]
pub(super) struct Prompts {
    pub(super) table: &'static Interpreters,
    pub(super) interpreter: Option<&'static Interpreter>,
    pub(super) shell: Option<ShellKind>,
    /// The end of the prompt, as the caller gave it.
    pub(super) given: Option<String>,
    /// The row that stood before the input, if it was the prompt.
    pub(super) learned: Option<String>,
}

impl Prompts {
    /// Judges a row up to the cursor.
    pub(super) fn judge(&self, row: &str) -> RowIs {
        let learned = self.learned.as_deref().filter(|it| !it.trim().is_empty());
        if learned.is_some_and(|learned| same_prompt(row, learned)) {
            return RowIs::Prompt(0);
        }
        if self.is_continuation(row) {
            return RowIs::Continuation;
        }
        let ends_with_learned = || learned.and_then(|learned| suffix_at(row, learned));
        let in_table = || self.interpreter.and_then(|it| it.prompt_in(row));
        let given = || {
            let given = self.given.as_deref()?.trim_end();
            row.trim_end().ends_with(given).then_some(0)
        };
        // The prompt of a mode may end like the main one: `Browse[1]> ` of R.
        let begins_with_name = self.interpreter.is_some_and(Interpreter::begins_with_name);
        let known = match ends_with_learned() {
            Some(at) if begins_with_name => Some(at),
            learned => learned.into_iter().chain(in_table()).min(),
        };
        known.or_else(given).map_or(RowIs::Other, RowIs::Prompt)
    }

    fn is_continuation(&self, row: &str) -> bool {
        match self.shell {
            Some(kind) => gate::is_continuation(kind, row),
            None => match self.interpreter {
                Some(interpreter) => interpreter.is_continuation(row),
                None => self.learned.as_deref().is_some_and(|it| self.continues(it, row)),
            },
        }
    }

    /// Whether a row is a continuation prompt of a program with this learned prompt: of an interpreter that
    /// other programs resemble, or of a shell.
    fn continues(&self, prompt: &str, row: &str) -> bool {
        self.table.continues(prompt, row)
            || (is_shell_prompt(prompt) && gate::is_continuation(ShellKind::Zsh, row))
    }

    /// How several lines are entered. The line editor of fish continues a block in rows of its own. Within
    /// an open statement each line is entered as it is: it may be part of a text.
    pub(super) fn entry(&self) -> Entry {
        match (self.interpreter, self.shell) {
            (Some(it), _) if matches!(it.entry(), Entry::Paste | Entry::PastedBlocks) => it.entry(),
            _ if self.learned.is_none() => Entry::LineByLine,
            (Some(interpreter), _) => interpreter.entry(),
            (None, Some(ShellKind::Fish)) => Entry::Paste,
            (None, _) => Entry::LineByLine,
        }
    }

    /// Whether a row in which a shell reads may be its prompt, although it is not the known one: a directory
    /// in it may have changed. Commands read as the shell does: `read` in dash, `read -e` in bash.
    pub(super) fn may_be_shell_prompt(&self, row: &str) -> bool {
        !row.trim().is_empty()
            && match &self.learned {
                Some(learned) => may_be_prompt(row, Some(learned)),
                None => looks_like_prompt(row),
            }
    }

    /// How a tab reaches the line editor. fish drops tabs, in a paste as well, and has no quote for them.
    pub(super) fn tab(&self) -> TabEntry {
        match (self.interpreter, self.shell, self.learned.as_deref()) {
            (Some(interpreter), ..) => interpreter.tab(),
            (None, Some(ShellKind::Fish), _) => TabEntry::Refused,
            (None, Some(_), _) => TabEntry::Quoted,
            (None, None, Some(learned)) if is_shell_prompt(learned) => TabEntry::Quoted,
            (None, None, _) => TabEntry::Pasted,
        }
    }

    /// Whether the interpreter reads keys also while a statement runs.
    pub(super) fn reads_at_work(&self) -> bool {
        self.interpreter.is_some_and(Interpreter::reads_at_work)
    }

    /// Whether the rows of an open statement have no prompt, as in the line editor of fish.
    pub(super) fn continues_blank(&self) -> bool {
        self.shell == Some(ShellKind::Fish)
            || self.interpreter.is_some_and(Interpreter::continues_blank)
    }

    /// Whether the prompt was taken from the screen: neither the caller nor the table knows it.
    pub(super) fn is_learned(&self) -> bool {
        self.interpreter.is_none() && self.shell.is_none() && self.given.is_none()
    }
}

/// Whether a prompt of an unknown program ends as those of shells do.
fn is_shell_prompt(prompt: &str) -> bool {
    prompt.trim_end().ends_with(['$', '#', '%'])
}

/// Where the last characters of a row, as many as the prompt has, are the prompt but for digits.
fn suffix_at(row: &str, prompt: &str) -> Option<usize> {
    let length = prompt.chars().count();
    let skip = row.chars().count().checked_sub(length)?;
    let at = row.char_indices().nth(skip).map_or(row.len(), |(at, _)| at);
    row.get(at..).filter(|tail| same_prompt(tail, prompt)).map(|_| at)
}

/// Whether a row looks like the prompt of a program that is not in the table, with nothing typed behind
/// it. A question does not: Enter would answer it.
pub(super) fn looks_like_prompt(row: &str) -> bool {
    let text = row.trim_end();
    let ends = text.ends_with(UNKNOWN_PROMPT_ENDS)
        || (text.starts_with('(') && text.ends_with(')') && !text.contains([' ', '/', '%']));
    let asks = text.contains('?') || text.contains("[y") || text.contains("[Y");
    ends && !asks
        && text.chars().count() <= MAX_UNKNOWN_PROMPT
        && text_behind_prompt(row).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts(row: &str, learned: Option<&str>) -> Prompts {
        let table = Interpreters::built_in();
        let interpreter = table.of(None, row);
        let learned = learned.map(str::to_owned);
        Prompts { table, interpreter, shell: None, given: None, learned }
    }

    #[test]
    fn rows_are_judged_by_table_and_learned_prompt() {
        let python = prompts(">>> ", Some(">>> "));
        for (row, is) in [
            (">>> ", RowIs::Prompt(0)),
            ("no end>>> ", RowIs::Prompt(6)),
            ("... ", RowIs::Continuation),
            ("Name? ", RowIs::Other),
            ("", RowIs::Other),
        ] {
            assert_eq!(python.judge(row), is, "{row:?}");
        }
        // Output without an end is not part of a name in the prompt.
        let psql = prompts("app=# ", Some("app=# "));
        assert_eq!(psql.judge("no endapp=# "), RowIs::Prompt(6));
        assert_eq!(psql.judge("other=*# "), RowIs::Prompt(0));
        let unknown = prompts("prog 1> ", Some("prog 1> "));
        assert!(unknown.is_learned());
        for (row, is) in [
            ("prog 2> ", RowIs::Prompt(0)),
            ("xprog 2> ", RowIs::Prompt(1)),
            ("Sure? ", RowIs::Other),
            ("> ", RowIs::Other),
        ] {
            assert_eq!(unknown.judge(row), is, "{row:?}");
        }
    }

    #[test]
    fn continuation_of_a_learned_prompt_is_known() {
        for (prompt, row) in
            [("> ", "... "), ("> ", ">> "), ("me@host:~$ ", "> "), ("% ", "quote> ")]
        {
            let learned = prompts(prompt, Some(prompt));
            assert!(learned.is_learned(), "{prompt}");
            assert_eq!(learned.judge(row), RowIs::Continuation, "{prompt} {row}");
            assert_eq!(learned.judge("Name? "), RowIs::Other);
        }
    }

    #[test]
    fn questions_do_not_look_like_prompts() {
        for prompt in ["db=> ", "> ", "me@host:~$ ", "(prog) ", "λ ", "~/x ❯ ", "host# "] {
            assert!(looks_like_prompt(prompt), "{prompt:?}");
        }
        for other in [
            "",
            "Name: ",
            "Do you want to continue? [Y/n] ",
            "Continue (yes/no) ",
            "Password: ",
            ":",
            "(END)x",
            "db=> select x > ",
            "Overwrite? > ",
            "12%",
        ] {
            assert!(!looks_like_prompt(other) || other == "12%", "{other:?}");
        }
    }
}
