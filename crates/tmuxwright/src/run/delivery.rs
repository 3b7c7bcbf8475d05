//! Delivery of a command to a shell: typed as it is, or through a command file.
//!
//! Only plain words survive typing: a line editor expands, completes and continues other text. Any
//! other command is written to a command file (`command_file.rs`), and the typed line makes the shell
//! evaluate that file.

use process::ShellKind;

/// Longest command that is typed as it is, in bytes.
const MAX_PLAIN_BYTES: usize = 500;

/// The redirection that hides what a shell prints about commands of ours: traces (`set -x`) and the
/// output of traps.
pub(super) const HIDDEN: &str = ">/dev/null 2>&1";

/// First words that change how a shell reads or runs the rest of the line, and builtins that can change
/// the hooks by which the end of a typed command is known.
const SHELL_KEYWORDS: &[&str] = &[
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
    ".",
    "source",
    "eval",
    "builtin",
    "command",
    "declare",
    "typeset",
    "readonly",
    "export",
    "unset",
    "enable",
    "set",
    "shopt",
    "trap",
    "alias",
];

/// Column of the cursor before the line is typed, and width of the pane: where the line wraps.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineGeometry {
    pub(super) column: u32,
    pub(super) width: u32,
}

impl LineGeometry {
    /// The place of a line that was typed there, seen from the row below it.
    pub(super) fn place_of(&self, line: &str) -> LinePlace {
        let rows = (self.column as usize + line.len()) / self.width.max(1) as usize + 1;
        LinePlace { rows_up: rows, column: self.column as usize }
    }
}

/// The place of a typed line on the screen, seen from the cursor after the line was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinePlace {
    /// Rows from the cursor's row up to the row in which the line begins.
    pub(super) rows_up: usize,
    /// Column of the line's first character, from 0.
    pub(super) column: usize,
}

/// Whether a command can be typed as it is: every word is plain text to the shell.
pub(super) fn is_plain(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    command.len() <= MAX_PLAIN_BYTES
        && command.split(' ').all(|word| !word.is_empty() && word.chars().all(plain))
        && command
            .split(' ')
            .next()
            .is_some_and(|word| !SHELL_KEYWORDS.contains(&word) && !word.contains('='))
}

/// The line that makes a shell evaluate the command file at `path`, which needs no quoting. Its
/// leading blank keeps it out of the history of most shells. The file is evaluated with its output
/// hidden and leaves the rest in a variable: a shell that traces its commands would print the file.
pub(super) fn eval_line(kind: ShellKind, path: &str, geometry: LineGeometry) -> String {
    let eval = eval_command(kind, path);
    let line = match kind {
        ShellKind::Fish => format!(" {eval}"),
        _ => {
            format!(" {{ {eval}; }} {HIDDEN};{} eval \"$__tmuxwright\"", builtin_prefix(kind))
        }
    };
    within_margin(line, geometry)
}

/// The command that evaluates a file. It starts no program that `PATH` names: such a program could
/// read the file.
fn eval_command(kind: ShellKind, path: &str) -> String {
    let builtin = builtin_prefix(kind);
    match kind {
        ShellKind::Bash | ShellKind::Zsh | ShellKind::Ksh => {
            format!("{builtin} eval \"$(<{path})\"")
        }
        ShellKind::Dash => format!("{builtin} eval \"$(\\command -p cat {path})\""),
        ShellKind::Fish => format!("{builtin} eval (builtin string collect <{path})"),
    }
}

/// The word that makes a shell take its own command, not an alias or a function of the same name.
pub(super) fn builtin_prefix(kind: ShellKind) -> &'static str {
    match kind {
        ShellKind::Bash | ShellKind::Zsh => "\\builtin",
        ShellKind::Fish => "builtin",
        ShellKind::Dash | ShellKind::Ksh => "\\command",
    }
}

/// A line with a blank at its end if it would end exactly at the right margin, which leaves the
/// cursor in an unknown row.
fn within_margin(mut line: String, geometry: LineGeometry) -> String {
    if (geometry.column as usize + line.len()).is_multiple_of(geometry.width.max(1) as usize) {
        line.push(' ');
    }
    line
}

/// The line that makes a shell print the end mark with its `$?` by evaluating the file at `path`. For
/// a command whose command file was dropped half-way, as on an interrupt: the shell skipped the rest
/// of the file.
pub(super) fn status_query_line(kind: ShellKind, path: &str, geometry: LineGeometry) -> String {
    let eval = eval_command(kind, path);
    let line = match kind {
        ShellKind::Fish => format!(" begin; set -l s $status; {eval}; end"),
        _ => format!(" {{ __tmuxwright_status=$?;{eval}; }} {HIDDEN}"),
    };
    within_margin(line, geometry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_commands_hold_no_shell_syntax() {
        for plain in ["true", "seq 1 100000", "git log --oneline -n5", "make CC=gcc a/b.o", "ls ."]
        {
            assert!(is_plain(plain), "{plain}");
        }
        let long = "x".repeat(501);
        for other in [
            "",
            " ls",
            "ls  -l",
            "ls ",
            "echo 'a'",
            "a; b",
            "a && b",
            "$HOME/x",
            "~/x",
            "ls *",
            "a\nb",
            "a\tb",
            "echo é",
            "# x",
            "!!",
            "^a^b",
            "if true",
            "exec zsh",
            "a|b",
            "(a)",
            "{a}",
            "PS0=",
            ". rc",
            "unset PROMPT_COMMAND",
            &long,
        ] {
            assert!(!is_plain(other), "{other}");
        }
    }

    #[test]
    fn typed_lines_never_end_at_the_right_margin() {
        for width in 1..90 {
            let geometry = LineGeometry { column: 2, width };
            for kind in [ShellKind::Bash, ShellKind::Dash, ShellKind::Fish] {
                let length = 2 + eval_line(kind, "/tmp/x/c1", geometry).len();
                assert!(width == 1 || !length.is_multiple_of(width as usize), "{kind:?} {width}");
                let asked = 2 + status_query_line(kind, "/tmp/x/c1-status", geometry).len();
                assert!(width == 1 || !asked.is_multiple_of(width as usize), "{kind:?} {width}");
            }
        }
    }
}
