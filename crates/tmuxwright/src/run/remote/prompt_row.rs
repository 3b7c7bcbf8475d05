//! Whether a screen row looks like the empty prompt of a shell that cannot be inspected otherwise.

use crate::run::cursor_row::CursorRow;
use crate::run::prompt_check::{
    PROMPT_ENDS, goes_on, line_editor_dialog, shows_prompt, text_behind_prompt,
};

/// Ends of prompts that only themes of shells have: any words may precede them.
const THEME_ENDS: &[&str] = &["❯ ", "λ ", "\u{e0b0} "];

/// Ends of prompts that menus have, too: only a directory or a host tells.
const ARROW_ENDS: &[&str] = &["→ ", "» ", "› "];

/// Words of a prompt that names a user and a host.
const MAX_WORDS_WITH_HOST: usize = 5;

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

/// Judges the cursor's row. `follows_command` says that it is the row below the output of our last command, where its
/// shell shows its prompt, which the command may have changed.
pub(super) fn look(
    cursor: &CursorRow,
    known: Option<&KnownPrompt>,
    follows_command: bool,
) -> RowLook {
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
    if ends_as_shell(row) || row.starts_with("➜ ") || (follows_command && may_be_changed(row)) {
        return RowLook::Unknown;
    }
    let has_prompt = ends().any(|end| {
        row.find(end).and_then(|at| row.get(..at + end.len())).is_some_and(ends_as_shell)
    });
    if has_prompt { RowLook::HalfTyped } else { RowLook::Other }
}

/// Whether text ends as the prompt of a shell does, and not as that of an interpreter, a question or a progress bar.
/// A prompt is short, and names a user, a host or a directory; a single word stands right before its end.
pub(super) fn ends_as_shell(row: &str) -> bool {
    let Some(end) = ends().find(|end| row.ends_with(end)) else { return ends_without_blank(row) };
    let text = row.strip_suffix(end).unwrap_or(row);
    let words: Vec<&str> = text.split_whitespace().filter(|word| !word.starts_with('(')).collect();
    if words.first().is_some_and(|word| OTHER_PROGRAMS.contains(word)) || row.starts_with("PS ") {
        return false;
    }
    let is_attached = !text.ends_with(' ');
    // A colon at the end of a word belongs to a label, as in `Amount: $ `.
    let names_place = |word: &&&str| word.trim_end_matches(':').contains(['@', '~', '/', ':']);
    match end {
        end if THEME_ENDS.contains(&end) => !asks(&words),
        end if ARROW_ENDS.contains(&end) => {
            let names_place = |word: &&str| word.contains(['@', '~', '/']);
            !asks(&words) && (words.is_empty() || words.iter().any(names_place))
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
                || names_host_behind_numbers(&words)
        }
    }
}

/// All ends of prompts.
fn ends() -> impl Iterator<Item = &'static str> {
    PROMPT_ENDS.iter().chain(THEME_ENDS).chain(ARROW_ENDS).copied()
}

/// Whether the words before the end of a prompt are a question or a label.
fn asks(words: &[&str]) -> bool {
    let is_question = |word: &&str| word.ends_with('?') && word.contains(char::is_alphabetic);
    words.first() == Some(&"?")
        || words.iter().any(is_question)
        || words.last().is_some_and(|word| word.ends_with(':'))
}

/// Whether a few words name a user and a host, with nothing but numbers and signs before them.
fn names_host_behind_numbers(words: &[&str]) -> bool {
    let Some(host) = words.iter().position(|word| is_user_at_host(word)) else { return false };
    let is_word = |word: &&str| word.chars().all(char::is_alphabetic);
    words.len() <= MAX_WORDS_WITH_HOST && !asks(words) && !words.iter().take(host).any(is_word)
}

/// Whether a word is a user and a host, perhaps with a directory, as `me@host:~/src`.
fn is_user_at_host(word: &str) -> bool {
    let word = word.trim_start_matches(['[', '(']);
    let (name, directory) = word.split_once(':').unwrap_or((word, "~"));
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let is_user_at_host = |(user, host): (&str, &str)| is_name(user) && is_name(host);
    name.split_once('@').is_some_and(is_user_at_host) && directory.starts_with(['~', '/'])
}

/// Whether a row is a prompt that has no blank at its end: one word, which names a user, a host and a directory.
fn ends_without_blank(row: &str) -> bool {
    let word = row.strip_suffix(['$', '#']).unwrap_or_default();
    !word.contains(' ') && word.contains(':') && is_user_at_host(word)
}

/// Whether the row below the output of a command may be a prompt that the command has set.
fn may_be_changed(row: &str) -> bool {
    let Some(text) = ends().find_map(|end| row.strip_suffix(end)) else { return false };
    let words: Vec<&str> = text.split_whitespace().collect();
    !words.is_empty() && !asks(&words)
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
        && PROMPT_ENDS.iter().any(|end| row.ends_with(end))
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
        for row in [
            "PO# ",
            "Price(USD)$ ",
            "x$ ",
            "me@host:~$ rm x # ",
            "Name: ",
            "λ ",
            "→ ",
            "~ » ",
            "root@vm:~#",
            "0 1 1 root@vm:~# ",
        ] {
            assert!(!is_plain_prompt(row), "{row:?}");
        }
    }

    #[test]
    fn changed_prompts_are_not_questions() {
        for row in ["new> ", "my own $ ", "λx λ "] {
            assert!(may_be_changed(row), "{row:?}");
        }
        for row in ["> ", "Name: ", "Name: > ", "Continue? > ", "done", ""] {
            assert!(!may_be_changed(row), "{row:?}");
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
    fn prompts_of_shells_are_recognised() {
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
            "λ ",
            "src λ ",
            "→ ",
            "~/src (main) » ",
            "me@host ~ › ",
            " root@vm \u{e0b0} ~ \u{e0b0} ",
            "root@vm:~#",
            "user@host:/srv/x$",
            "0 1 1 root@vm:~# ",
            "12:30:01 root@vm ~/src main # ",
        ] {
            assert!(ends_as_shell(row), "{row:?}");
        }
    }

    #[test]
    fn prompts_of_other_programs_are_not_of_shells() {
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
            "? Name ❯ ",
            "Name: ❯ ",
            "? Name › ",
            "Name » ",
            "Choose one → ",
            "~/src? » ",
            "Home » Docs » ",
            "Send mail to me@host # ",
            "1 2 3 me@host?  # ",
            "1 2 3 4 5 me@host:~# ",
            "price@5$",
            "me@host$",
            "user@host:~$ x@y:/#",
            "postgres@localhost:db#",
            "me@host:~$ ls",
            ":",
            "(END)",
        ] {
            assert!(!ends_as_shell(row), "{row:?}");
        }
    }
}
