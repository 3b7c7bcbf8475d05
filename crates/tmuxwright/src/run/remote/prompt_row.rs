//! Whether a screen row looks like the empty prompt of a shell that cannot be inspected otherwise.

use crate::run::cursor_row::CursorRow;
use crate::run::prompt_check::{
    PROMPT_ENDS, goes_on, line_editor_dialog, shows_prompt, text_behind_prompt,
};

/// Words in the prompts of interpreters that end as those of shells do.
const INTERPRETERS: &[&str] = &[
    ">>>", "sql", "mariadb", "ghci", "iex(", "irb", "pry", "scala", "jshell", "redis", "julia",
    "ftp>", "telnet>", "octave", "mongo", "cqlsh", "erl", "(gdb)", "(lldb)", "(pdb)",
];

/// The look of the cursor's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowLook {
    /// The known prompt, and nothing else.
    Known,
    /// The prompt of a shell, perhaps with text that ends as a prompt does.
    Unknown,
    /// A prompt with text behind it, or text behind the cursor.
    HalfTyped,
    /// Not the prompt of a shell.
    Other,
}

/// The prompt that the last command has left.
#[derive(Debug, Clone)]
pub(super) struct KnownPrompt {
    pub(super) row: String,
    /// Output without an end before it.
    pub(super) unfinished: String,
}

impl KnownPrompt {
    /// Whether this prompt is shown behind the output that the last command has left.
    fn follows_output(&self, cursor: &CursorRow) -> bool {
        let Self { row, unfinished } = self;
        let (full, line) = (format!("{unfinished}{row}"), cursor.line());
        !unfinished.is_empty()
            && (line == full || (cursor.before.ends_with(row.as_str()) && full.ends_with(&line)))
    }
}

/// Judges the cursor's row.
pub(super) fn look(cursor: &CursorRow, known: Option<&KnownPrompt>) -> RowLook {
    let row = cursor.before.as_str();
    if cursor.has_text_below || line_editor_dialog(row).is_some() {
        return RowLook::Other;
    }
    if cursor.has_text_after() {
        let begins = known.is_some_and(|known| row.starts_with(known.row.as_str()));
        return if begins || ends_as_shell(row) { RowLook::HalfTyped } else { RowLook::Other };
    }
    if let Some(known) = known {
        let is_shown = cursor.wrapped.is_empty() && shows_prompt(cursor, &known.row);
        if is_shown || known.follows_output(cursor) {
            return RowLook::Known;
        }
        if goes_on(cursor, &known.row) {
            return RowLook::HalfTyped;
        }
    }
    // The prompt of a widespread theme of zsh ends with the directory. A key tells text behind it.
    if ends_as_shell(row) || row.starts_with("➜ ") {
        return RowLook::Unknown;
    }
    let has_prompt = PROMPT_ENDS.iter().any(|end| {
        row.find(end).and_then(|at| row.get(..at + end.len())).is_some_and(ends_as_shell)
    });
    if has_prompt { RowLook::HalfTyped } else { RowLook::Other }
}

/// Whether text ends as the prompt of a shell does, and not as that of an interpreter or a progress bar.
fn ends_as_shell(row: &str) -> bool {
    let lower = row.to_lowercase();
    if !PROMPT_ENDS.iter().any(|end| row.ends_with(end))
        || INTERPRETERS.iter().any(|word| lower.contains(word))
    {
        return false;
    }
    let text = row.trim_end();
    let word = text.rsplit(' ').next().unwrap_or(text);
    let mut ends = text.chars().rev();
    let (last, before) = (ends.next(), ends.next());
    match (last, before) {
        // `db=#` of PostgreSQL, a progress bar.
        (Some('#'), Some('#' | '=' | '-' | '(' | '*' | '\'' | '"' | '!' | '^')) => false,
        // `45%` of a progress display, but not `web1%`.
        (Some('%'), Some(before)) => !(before.is_ascii_digit() && word.chars().all(is_of_number)),
        // A bare `>` is a continuation; interpreters have one word before it. fish shows the directory.
        (Some('>'), _) => {
            text.contains(['@', '~', '/', '\\'])
                && !text.ends_with("=>")
                && !text.starts_with("PS ")
        }
        _ => true,
    }
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || ".,%[(=|".contains(c)
}

/// Whether a row without a line editor may be taken for an empty prompt: text behind it could not be told from it.
pub(super) fn is_plain_prompt(cursor: &CursorRow) -> bool {
    ends_as_shell(&cursor.before) && !goes_on_after_end(cursor)
}

/// Whether text follows the first end of a prompt in a row, as in `$ echo $ `.
pub(super) fn goes_on_after_end(cursor: &CursorRow) -> bool {
    !text_behind_prompt(&cursor.line()).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_shells_are_told_from_interpreters() {
        for row in [
            "$ ",
            "# ",
            "me@host:~$ ",
            "root@vm /tmp# ",
            "host% ",
            "web1% ",
            "% ",
            "z:~/x6% ",
            "me@host ~> ",
            "❯ ",
            "/ # ",
        ] {
            assert!(ends_as_shell(row), "{row:?}");
        }
        for row in [
            "",
            ">>> ",
            "... ",
            "> ",
            "mysql> ",
            "MariaDB [a/b]> ",
            "db=> ",
            "db=# ",
            "(gdb) ",
            "In [1]: ",
            "irb(main):001> ",
            "sqlite> ",
            "ghci> ",
            "iex(1)> ",
            "1> ",
            "127.0.0.1:6379> ",
            "Password: ",
            " 45% ",
            "Progress: [ 45.5% ",
            "PS /root> ",
            "###### ",
            "Continue? ",
            "me@host:~$ ls",
            ":",
            "(END)",
        ] {
            assert!(!ends_as_shell(row), "{row:?}");
        }
    }
}
