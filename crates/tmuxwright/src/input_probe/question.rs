//! Whether the unfinished row before the cursor looks like a question.

/// Characters that programs draw in turn while they work.
const SPINNER: &[char] = &['|', '/', '-', '\\', '*', '◐', '◓', '◑', '◒', '…', '.', '=', '█', '▏'];

/// The look of the row before the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    /// Blank.
    Empty,
    /// The progress of work: a percentage, a bar, a spinner, or dots.
    Progress,
    /// Other text.
    Text,
    /// A question or a prompt.
    Question,
}

impl RowKind {
    /// The look of the text before the cursor, with the blanks at its end.
    pub(super) fn of(row: &str) -> Self {
        let text = row.trim_end();
        let Some(last) = text.chars().next_back() else { return Self::Empty };
        let before: Vec<char> = text.chars().rev().skip(1).take(2).collect();
        let is_spinner = |c: char| SPINNER.contains(&c) || ('\u{2800}'..='\u{28ff}').contains(&c);
        match last {
            _ if asks_for_a_key(text) => Self::Question,
            '?' | ':' | '$' | '❯' | '»' | '›' | 'λ' => Self::Question,
            // The continuation prompt of Python.
            '.' if text == "..." => Self::Question,
            '%' if before.first().is_some_and(char::is_ascii_digit) => Self::Progress,
            '#' if before.first() == Some(&'#') => Self::Progress,
            '>' if before == ['=', '='] => Self::Progress,
            '%' | '#' | '>' => Self::Question,
            ']' | ')' => match choices(text) {
                Self::Text if row.ends_with(' ') => Self::Question,
                kind => kind,
            },
            _ if is_spinner(last)
                || text.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c)) =>
            {
                Self::Progress
            }
            // Prompts end with a symbol and a blank.
            _ if !last.is_alphanumeric() && row.ends_with(' ') => Self::Question,
            _ => Self::Text,
        }
    }
}

/// Whether a question names a secret, as that of ssh, su and sudo does. Some languages have other words.
pub(super) fn names_secret(row: &str) -> bool {
    let text = row.trim_end().to_lowercase();
    text.ends_with([':', '?'])
        && ["password", "passphrase", "passcode"].iter().any(|word| text.contains(word))
}

/// Whether a pager or a program asks for any key.
fn asks_for_a_key(text: &str) -> bool {
    let text = text.to_lowercase();
    let names_key = ["key", "enter", "return"].iter().any(|key| text.contains(key));
    text.contains("--more--") || text.ends_with("(end)") || (text.contains("press") && names_key)
}

/// The look of a row that ends with a bracket: `[Y/n]` is a question, `[ 45%]` is not.
fn choices(text: &str) -> RowKind {
    let inside = text.rsplit(['[', '(']).next().unwrap_or_default();
    match inside {
        _ if inside.contains('/') && !inside.contains(|c: char| c.is_ascii_digit()) => {
            RowKind::Question
        }
        _ if inside.contains(['%', '=', '#', '.', '/'])
            || inside.trim_end_matches([']', ')']).trim().is_empty() =>
        {
            RowKind::Progress
        }
        _ => RowKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_secrets_name_them() {
        for row in ["[sudo] password for me: ", "Enter passphrase for key '/k': ", "Password: "] {
            assert!(names_secret(row), "{row}");
        }
        for row in ["Name: ", "me@host:~/passwords$ ", "the password is wrong", ""] {
            assert!(!names_secret(row), "{row}");
        }
    }

    #[test]
    fn rows_are_classified_by_their_end() {
        for (kind, rows) in [
            (RowKind::Empty, &["", "   "][..]),
            (
                RowKind::Question,
                &[
                    "Name: ",
                    "Password:",
                    "Proceed? [Y/n] ",
                    "Continue (yes/no)",
                    "Are you sure (yes/no/[fingerprint])? ",
                    "me@host:~$ ",
                    "host% ",
                    "# ",
                    ">>> ",
                    "... ",
                    "db=> ",
                    "mysql> ",
                    "    -> ",
                    "❯ ",
                    "(gdb) ",
                    "--More--(45%)",
                    "lines 1-20/300 (END)",
                    "Press any key to continue . . .",
                    "Press ENTER",
                ],
            ),
            (
                RowKind::Progress,
                &[
                    "45%",
                    "Working...",
                    "Working... ",
                    "[====>    ]",
                    "[ 45%]",
                    "(12/40)",
                    "####",
                    "[=====>",
                    "====>",
                    "⠋ installing",
                    "|",
                    "- ",
                    "Processing triggers for man-db (2.11.2-2) ...",
                ],
            ),
            (RowKind::Text, &["Enter your name ", "frame= 12 fps=3.1", "Compiling tmuxwright"]),
        ] {
            for row in rows {
                assert_eq!(RowKind::of(row), kind, "{row:?}");
            }
        }
    }
}
