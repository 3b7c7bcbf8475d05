//! Handing a command to a shell as it is.
//!
//! Only plain words survive being typed: a line editor expands, completes and continues all else.
//! So the command goes into a private file, and what is typed makes the shell evaluate that file.
//! The file first puts the command on the screen in place of what was typed, then evaluates it
//! between two marks, and leaves the command's status behind.

use crate::run::marks::Mark;
use process::ShellKind;
use terminal::text;

/// How much of a command is shown to people.
const SHOWN_LINES: usize = 20;
const SHOWN_CHARS: usize = 2_000;

/// Words with which a shell goes on reading.
const KEYWORDS: &[&str] = &[
    "if",
    "then",
    "else",
    "elif",
    "fi",
    "for",
    "foreach",
    "while",
    "until",
    "do",
    "done",
    "case",
    "esac",
    "select",
    "function",
    "repeat",
    "begin",
    "end",
    "switch",
    "time",
    "coproc",
    "nocorrect",
    "noglob",
    "and",
    "or",
    "not",
    "exec",
];

/// Where the cursor is before anything is typed, and how wide the pane is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) column: u32,
    pub(super) width: u32,
}

/// What is carried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cargo<'a> {
    /// The key of the marks around it.
    pub(super) key: &'a str,
    pub(super) command: &'a str,
    /// The status of the command before it, which it may ask for.
    pub(super) before: i32,
}

/// Whether a shell takes the command as it is typed: words without any meaning to it.
pub(super) fn is_plain(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    command.len() <= 500
        && command.split(' ').all(|word| !word.is_empty() && word.chars().all(plain))
        && command.split(' ').next().is_some_and(|word| !KEYWORDS.contains(&word))
}

/// What is typed to evaluate the file at `path`, which needs no quoting. Begins with a blank, which
/// keeps it out of the history of most shells.
pub(super) fn line(kind: ShellKind, path: &str, place: Place) -> String {
    let mut line = match kind {
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Ksh => format!(" eval \"$(<{path})\""),
        ShellKind::Dash => format!(" eval \"$(command cat {path})\""),
        ShellKind::Fish => format!(" eval (command cat {path} | string collect)"),
    };
    // At the very end of a row nobody can tell where the cursor will be.
    if (place.column as usize + line.len()).is_multiple_of(place.width.max(1) as usize) {
        line.push(' ');
    }
    line
}

/// The text of the file.
pub(super) fn file(kind: ShellKind, cargo: Cargo<'_>, path: &str, place: Place) -> String {
    let Cargo { key, command, before } = cargo;
    let over = over_the_line(&line(kind, path, place), place);
    // As a format, so that a shell that traces what it runs does not print the mark itself.
    let begin =
        format!("'{over}%s\\n{}' {}", Mark::start_format(key), quoted(kind, &shown(command)));
    let end = Mark::end_format(key);
    let command = quoted(kind, command);
    let status = match (before, kind) {
        (0, _) => String::new(),
        (before, ShellKind::Fish) => format!("command sh -c 'exit {before}'; "),
        (before, _) => format!("(\\exit {before}); "),
    };
    match kind {
        ShellKind::Fish => format!(
            "builtin printf {begin} >/dev/tty; {status}eval {command}; begin; set -l code $status; \
             builtin printf '{end}' $code >/dev/tty; return $code; end\n"
        ),
        _ => {
            // One compound command, which is parsed as a whole: a mistake in the command can then
            // not swallow what comes after it.
            let eval = match kind {
                ShellKind::Bash | ShellKind::Zsh => "eval",
                _ => "command eval",
            };
            let forget = if kind == ShellKind::Bash { forget(path) } else { String::new() };
            format!(
                "{{ {{ {forget}\\printf {begin} >/dev/tty; }} 2>/dev/null; {status}{eval} {command}\n\
                 {{ case $? in 0) \\printf '{end}' 0 >/dev/tty;; \
                 *) (s=$?; \\printf '{end}' \"$s\" >/dev/tty; \\exit \"$s\");; esac; }} 2>/dev/null; }}\n"
            )
        }
    }
}

/// What is typed to learn the status of a command that the shell gave up half-way, as it does on an
/// interrupt: everything after it in the file was skipped. `rows` is the height of the prompt that
/// will be printed once more.
pub(super) fn ask_status(kind: ShellKind, key: &str, place: Place, rows: u32) -> String {
    let end = Mark::end_format(key);
    let build = |up: usize| match kind {
        ShellKind::Fish => format!(
            " begin; set -l s $status; builtin printf '\\033[{up:02}A\\r\\033[J{end}' $s; return $s; end"
        ),
        _ => format!(" (s=$?;\\printf '\\033[{up:02}A\\r\\033[J{end}' $s;\\exit $s)"),
    };
    let length = place.column as usize + build(0).len();
    let width = place.width.max(1) as usize;
    let full = length.is_multiple_of(width);
    let up = (length + usize::from(full)) / width + rows as usize;
    build(up.min(99)) + if full { " " } else { "" }
}

/// The escape sequence, as a format, that goes from the row below a typed line back to where it began and erases
/// it.
fn over_the_line(line: &str, place: Place) -> String {
    let rows = (place.column as usize + line.len()) / place.width.max(1) as usize + 1;
    format!("\\033[{rows}A\\033[{}G\\033[J", place.column + 1)
}

/// The command as people see it on the screen: without control characters, not endlessly long.
fn shown(command: &str) -> String {
    let clean = text::clean(command.trim_end(), false);
    let mut shown = String::new();
    for (number, line) in clean.lines().enumerate() {
        if number == SHOWN_LINES || shown.len() + line.len() > SHOWN_CHARS {
            let room = SHOWN_CHARS.saturating_sub(shown.len()).min(line.len());
            if number < SHOWN_LINES {
                shown.extend(line.chars().take(room));
            }
            shown.push('…');
            break;
        }
        if number > 0 {
            shown.push('\n');
        }
        shown.push_str(line);
    }
    shown
}

/// Text as one word of the shell.
fn quoted(kind: ShellKind, text: &str) -> String {
    match kind {
        ShellKind::Fish => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Takes the typed line out of bash's history where the leading blank did not.
fn forget(path: &str) -> String {
    format!(
        "case \":${{HISTCONTROL-}}:\" in *:ignorespace:*|*:ignoreboth:*) ;; \
         *) case \"$(HISTTIMEFORMAT= \\history 1)\" in *{path}*) \\history -d \"$HISTCMD\";; esac;; \
         esac; "
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_without_meaning_are_plain() {
        for plain in ["true", "seq 1 100000", "git log --oneline -n5", "make CC=gcc a/b.o", "ls ."]
        {
            assert!(is_plain(plain), "{plain}");
        }
        let long = "x".repeat(501);
        for other in [
            "", " ls", "ls  -l", "ls ", "echo 'a'", "a; b", "a && b", "$HOME/x", "~/x", "ls *",
            "a\nb", "a\tb", "echo é", "# x", "!!", "^a^b", "if true", "exec zsh", "a|b", "(a)",
            "{a}", &long,
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }

    #[test]
    fn a_line_never_ends_where_a_row_does() {
        for width in 1..90 {
            let place = Place { column: 2, width };
            for kind in [ShellKind::Bash, ShellKind::Dash, ShellKind::Fish] {
                let length = 2 + line(kind, "/tmp/x/c1", place).len();
                assert!(width == 1 || !length.is_multiple_of(width as usize), "{kind:?} {width}");
                let asked = 2 + ask_status(kind, "K", place, 1).len();
                assert!(width == 1 || !asked.is_multiple_of(width as usize), "{kind:?} {width}");
            }
        }
    }

    #[test]
    fn a_huge_command_is_shown_in_part() {
        assert_eq!(shown("echo hi\n"), "echo hi");
        assert_eq!(shown("a\x1b[2Jb"), "ab");
        assert_eq!(shown(&"x".repeat(100_000)).chars().count(), SHOWN_CHARS + 1);
        assert_eq!(shown(&"x\n".repeat(100)).lines().count(), SHOWN_LINES);
    }
}
