//! Whether a screen row looks like the empty prompt of a shell that cannot be inspected otherwise.

use crate::run::cursor_row::CursorRow;
use crate::run::prompt_check::{
    PROMPT_ENDS, goes_on, line_editor_dialog, shows_prompt, text_behind_prompt,
};

/// First words in the prompts of other programs that otherwise look like a shell's.
const OTHER_PROGRAMS: &[&str] = &["lftp", "redis", "[bluetooth]"];

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
    /// Whether its shell edits the line itself.
    pub(super) has_editor: bool,
}

impl KnownPrompt {
    /// Whether this prompt is shown behind the output that the last command has left.
    fn follows_output(&self, cursor: &CursorRow) -> bool {
        let Self { row, unfinished, .. } = self;
        let (full, line) = (format!("{unfinished}{row}"), cursor.line());
        !unfinished.is_empty()
            && (line == full
                || behind_output(&line, unfinished) == row
                || (cursor.before.ends_with(row.as_str()) && full.ends_with(&line)))
    }
}

/// The part of a row behind output without an end. The row has blanks where the output has tabs.
pub(super) fn behind_output<'a>(row: &'a str, unfinished: &str) -> &'a str {
    // The blanks at the beginning are the prompt's own.
    if unfinished.is_empty() {
        return row;
    }
    let mut rest = row.trim_start();
    for c in unfinished.chars().filter(|c| !c.is_whitespace()) {
        match rest.strip_prefix(c) {
            Some(behind) => rest = behind.trim_start(),
            None => return row,
        }
    }
    rest
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
        // Below a full row, which may be output, a line editor tells by a key whether its line begins there.
        let is_certain = cursor.wrapped.is_empty() || !known.has_editor;
        if (is_certain && shows_prompt(cursor, &known.row)) || known.follows_output(cursor) {
            return RowLook::Known;
        }
        let is_below_full_row = !cursor.wrapped.is_empty() && ends_as_shell(row);
        if goes_on(cursor, &known.row) && !is_below_full_row {
            return RowLook::HalfTyped;
        }
    }
    let row = known.map_or(row, |known| behind_output(row, &known.unfinished));
    // The prompt of a widespread theme of zsh ends with the directory. A key tells text behind it.
    if ends_as_shell(row) || row.starts_with("➜ ") {
        return RowLook::Unknown;
    }
    let has_prompt = PROMPT_ENDS.iter().any(|end| {
        row.find(end).and_then(|at| row.get(..at + end.len())).is_some_and(ends_as_shell)
    });
    if has_prompt { RowLook::HalfTyped } else { RowLook::Other }
}

/// Whether text ends as the prompt of a shell does, and not as that of an interpreter, a question or a progress bar.
/// A prompt is short, and names a user, a host or a directory; a single word stands right before its end.
pub(super) fn ends_as_shell(row: &str) -> bool {
    let Some(end) = PROMPT_ENDS.iter().find(|end| row.ends_with(*end)) else { return false };
    let text = row.strip_suffix(end).unwrap_or(row);
    let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with('(')).collect();
    if words.first().is_some_and(|word| OTHER_PROGRAMS.contains(word)) || row.starts_with("PS ") {
        return false;
    }
    let is_attached = !text.ends_with(' ');
    // A colon at the end of a word belongs to a label, as in `Amount: $ `.
    let names_place = |word: &&&str| word.trim_end_matches(':').contains(['@', '~', '/', ':']);
    match *end {
        // Themes of shells put any number of words before it; so do menus, behind a question.
        "❯ " => {
            !words.iter().any(|word| word.ends_with('?') && word.contains(char::is_alphabetic))
        }
        // A bare `>` is a continuation; interpreters have one word before it. fish shows the directory.
        "> " => is_attached && words.last().is_some_and(|word| ends_with_directory(word)),
        // `45%` of a progress display, but not `web1%`; `db=#` of PostgreSQL.
        "% " if words.last().is_some_and(|it| it.chars().all(is_of_number)) => false,
        "# " if text.ends_with(['#', '=', '-', '(', '*', '\'', '"', '!', '^', '$']) => false,
        _ => {
            words.is_empty()
                || (words.len() == 1 && is_attached)
                || (words.len() <= 3 && words.iter().any(|word| names_place(&word)))
        }
    }
}

/// Whether a word is a directory, or names one behind a user or host, as in `me@host:~/src`.
fn ends_with_directory(word: &str) -> bool {
    let directory = word.rsplit(['@', ':']).next().unwrap_or(word);
    directory.starts_with(['~', '/'])
}

fn is_of_number(c: char) -> bool {
    c.is_ascii_digit() || ".,%[(=|".contains(c)
}

/// Whether a row without a line editor may be taken for an empty prompt: text behind it could not be told from it, nor
/// a question that a command asks. So it is one character, or names a user, a host or a directory.
pub(super) fn is_plain_prompt(row: &str) -> bool {
    let text = row.trim_end();
    let is_path = text.split(' ').count() == 2 && text.starts_with(['/', '~']);
    let names_place = text.chars().count() == 1 || text.contains(['@', '~', '/']);
    (is_path || (names_place && !text.contains(' ')))
        && ends_as_shell(row)
        && text_behind_prompt(row).is_empty()
}

/// Whether text follows the first end of a prompt in a row, as in `$ echo $ `.
pub(super) fn goes_on_after_end(cursor: &CursorRow) -> bool {
    !text_behind_prompt(&cursor.line()).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_without_an_editor_name_a_place() {
        for row in ["$ ", "# ", "root@vm:~# ", "/ # ", "~/src $ "] {
            assert!(is_plain_prompt(row), "{row:?}");
        }
        for row in ["PO# ", "Price(USD)$ ", "x$ ", "me@host:~$ rm x # ", "Name: "] {
            assert!(!is_plain_prompt(row), "{row:?}");
        }
    }

    #[test]
    fn prompt_is_found_behind_output_without_an_end() {
        for (row, unfinished, prompt) in [
            ("abc$ ", "abc", "$ "),
            ("a       b/tmp # ", "a\tb", "/tmp # "),
            (" ~/x ❯ ", "", " ~/x ❯ "),
            ("$ ", "abc", "$ "),
        ] {
            assert_eq!(behind_output(row, unfinished), prompt, "{row:?}");
        }
    }

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
            "f@~/src> ",
            "❯ ",
            "~/src on main [!?] took 3s ❯ ",
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
            "redis /run/redis.sock> ",
            "db=> ",
            "db=# ",
            "db$# ",
            "root@:26257/defaultdb> ",
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
            "Issue # ",
            "Price in $ ",
            "Amount: $ ",
            "Ticket: # ",
            "Discount: % ",
            "Delete rows # ",
            "touch x # ",
            "echo 5 % ",
            "[admin@router] > ",
            "[bluetooth]# ",
            "lftp me@vm:~> ",
            "virsh # ",
            "postgres@localhost:db> ",
            "(foo@vm)1> ",
            "###### ",
            "Continue? ",
            "Delete everything? ❯ ",
            "me@host:~$ ls",
            ":",
            "(END)",
        ] {
            assert!(!ends_as_shell(row), "{row:?}");
        }
    }
}
