//! Delivery of a command to a shell: typed as it is, or through a command file.
//!
//! Only plain words survive typing: a line editor expands, completes and continues other text. Any
//! other command is written to a command file, and the typed line makes the shell evaluate that file. The file replaces the typed
//! line on the screen with the command, evaluates the command between two marks, and leaves the
//! command's status in `$?`.
//!
//! The file holds the keys of the marks. It empties itself before the command begins, so that a program
//! which the command starts finds them neither there nor in its environment.

use super::marks::{Mark, MarkKeys};
use process::ShellKind;
use terminal::text;

/// Longest command that is typed as it is, in bytes.
const MAX_PLAIN_BYTES: usize = 500;

/// Lines and characters of a command that its command file displays on the screen.
const MAX_DISPLAYED_LINES: usize = 20;
const MAX_DISPLAYED_CHARS: usize = 2_000;

/// First words that change how a shell reads or runs the rest of the line.
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
];

/// Column of the cursor before the line is typed, and width of the pane: where the line wraps.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineGeometry {
    pub(super) column: u32,
    pub(super) width: u32,
}

/// Values that are inserted into a command file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScriptInput<'a> {
    pub(super) keys: &'a MarkKeys,
    pub(super) command: &'a str,
    /// Status of the previous command, which the command may read as `$?`.
    pub(super) previous_status: i32,
}

/// Whether a command can be typed as it is: every word is plain text to the shell.
pub(super) fn is_plain(command: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    command.len() <= MAX_PLAIN_BYTES
        && command.split(' ').all(|word| !word.is_empty() && word.chars().all(plain))
        && command.split(' ').next().is_some_and(|word| !SHELL_KEYWORDS.contains(&word))
}

/// The line that makes a shell evaluate the command file at `path`, which needs no quoting. Its
/// leading blank keeps it out of the history of most shells.
pub(super) fn eval_line(kind: ShellKind, path: &str, geometry: LineGeometry) -> String {
    within_margin(format!(" {}", eval_command(kind, path)), geometry)
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
fn builtin_prefix(kind: ShellKind) -> &'static str {
    match kind {
        ShellKind::Bash | ShellKind::Zsh => "\\builtin",
        ShellKind::Fish => "builtin",
        ShellKind::Dash | ShellKind::Ksh => "\\command",
    }
}

/// The command that empties a file of ours from within. Unlike `rm`, it starts no program, which would
/// take longer than all the rest; this process removes the file when the command begins.
fn empty_command(kind: ShellKind, path: &str) -> String {
    match kind {
        ShellKind::Fish => format!("builtin true >{path}"),
        _ => format!("{} : >|{path}", builtin_prefix(kind)),
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

/// The text of the command file.
pub(super) fn command_file(
    kind: ShellKind,
    input: ScriptInput<'_>,
    path: &str,
    geometry: LineGeometry,
) -> String {
    let ScriptInput { keys, command, previous_status } = input;
    let erase = erase_format(&eval_line(kind, path, geometry), geometry);
    // The mark is a printf format: a shell that traces its commands (`set -x`) prints the format
    // with its escapes, not the mark.
    let start = Mark::start_format(&keys.start);
    let begin = format!("'{erase}%s\\n{start}' {}", quoted(kind, &displayed(command)));
    let end = Mark::end_format(keys.end.as_deref().unwrap_or_default());
    let command = quoted(kind, command);
    let empty = empty_command(kind, path);
    let hook = &keys.hook;
    let builtin = builtin_prefix(kind);
    // In a list the failure is not one: neither `set -e` nor an ERR trap acts on it.
    let status = match (previous_status, kind) {
        (0, _) => String::new(),
        (previous, ShellKind::Fish) => format!("command sh -c 'exit {previous}'; "),
        // zsh with `set -e` would skip the command after such a list.
        (previous, ShellKind::Zsh) => {
            format!("case $- in *e*) ;; *) (\\exit {previous}) && {builtin} :;; esac; ")
        }
        (previous, _) => format!("(\\exit {previous}) && {builtin} :; "),
    };
    match kind {
        ShellKind::Fish => format!(
            "{empty}; functions -q __tmuxwright_begin; and __tmuxwright_begin {hook}; \
             builtin printf {begin} >/dev/tty; {status}builtin eval {command}; begin; \
             set -l code $status; builtin printf '{end}' $code >/dev/tty; return $code; end\n"
        ),
        _ => {
            let forget = keep_out_of_history(kind, path);
            // Only shells that were started with our script have the function.
            let hook = match kind {
                ShellKind::Bash | ShellKind::Zsh => format!(
                    "{builtin} typeset -f __tmuxwright_begin >/dev/null && \
                     __tmuxwright_begin {hook}; "
                ),
                _ => String::new(),
            };
            let strict = strict_mode(kind, input.command);
            let report = match kind {
                ShellKind::Bash | ShellKind::Zsh => format!(
                    "{builtin} typeset -f __tmuxwright_status_is >/dev/null && \
                     __tmuxwright_status_is \"$__tmuxwright_status\" || "
                ),
                _ => String::new(),
            };
            // One compound command, which is parsed as a whole: a syntax error in the command
            // cannot swallow the end mark.
            format!(
                "{{ {{ {empty}; {forget}{hook}{strict}{builtin} printf {begin} >/dev/tty; }} \
                 2>/dev/null; {status}{builtin} eval {command}\"${{__tmuxwright_tail-}}\"\n\
                 {{ case ${{__tmuxwright_tail+strict}} in \
                 strict) __tmuxwright_status=${{__tmuxwright_status-$?}}; \
                 {builtin} printf '{end}' \"$__tmuxwright_status\" >/dev/tty; \
                 {builtin} unset __tmuxwright_tail; {report}\
                 {builtin} unset __tmuxwright_status;; \
                 *) case $? in 0) {builtin} printf '{end}' 0 >/dev/tty;; \
                 *) (s=$?; {builtin} printf '{end}' \"$s\" >/dev/tty; \\exit \"$s\");; \
                 esac;; esac; }} 2>/dev/null; }}\n"
            )
        }
    }
}

/// Script for a shell that acts on failed commands, by `set -e` or an ERR trap. `eval` is a command
/// too, and would fail once more where its text fails: in such a shell the text ends with an
/// assignment, which does not fail. The price is that `$?` is 0 for a line that a person types next.
fn strict_mode(kind: ShellKind, command: &str) -> String {
    let set = "__tmuxwright_tail='\n\n__tmuxwright_status=$?'";
    let traps = match kind {
        // The command itself may begin such a mode.
        _ if ["set -", "errexit", "ERR"].iter().any(|word| command.contains(word)) => {
            return format!("{set}; ");
        }
        ShellKind::Bash => "$(\\builtin trap -p ERR)",
        ShellKind::Zsh => "${functions[TRAPZERR]-}${(M)${(f)\"$(\\builtin trap)\"}:#*ZERR}",
        _ => "",
    };
    format!("case $-:{traps} in *e*:*|*:?*) {set};; esac; ")
}

/// The line that makes a shell print the end mark with its `$?` by evaluating the file at `path`. For
/// a command whose command file was dropped half-way, as on an interrupt: the shell skipped the rest
/// of the file.
pub(super) fn status_query_line(kind: ShellKind, path: &str, geometry: LineGeometry) -> String {
    let eval = eval_command(kind, path);
    let line = match kind {
        ShellKind::Fish => format!(" begin; set -l s $status; {eval}; end"),
        _ => format!(" __tmuxwright_status=$?;{eval}"),
    };
    within_margin(line, geometry)
}

/// The text of the file for a status query. `rows` is the height of the prompt, which is erased
/// together with the typed line, since the shell prints it again.
pub(super) fn status_query_file(
    kind: ShellKind,
    key: &str,
    path: &str,
    geometry: LineGeometry,
    rows: u32,
) -> String {
    let length = geometry.column as usize + status_query_line(kind, path, geometry).len();
    let up = length / geometry.width.max(1) as usize + rows as usize;
    let end = Mark::end_format(key);
    let empty = empty_command(kind, path);
    let builtin = builtin_prefix(kind);
    let forget = keep_out_of_history(kind, path);
    match kind {
        ShellKind::Fish => format!(
            "{empty}; builtin printf '\\033[{up}A\\r\\033[J{end}' $s >/dev/tty; return $s\n"
        ),
        // The text of the last command is expanded before the variable is unset.
        _ => format!(
            "{{ {empty}; {forget}{builtin} printf '\\033[{up}A\\r\\033[J{end}' \
             \"$__tmuxwright_status\" >/dev/tty; }} 2>/dev/null; \
             {builtin} eval \"{builtin} unset __tmuxwright_status; \
             case \\$- in *e*) ;; *) (\\exit $__tmuxwright_status);; esac\"\n"
        ),
    }
}

/// The escape sequence, as a printf format, that moves the cursor from the row below a typed line
/// back to its beginning and erases it.
fn erase_format(line: &str, geometry: LineGeometry) -> String {
    let rows = (geometry.column as usize + line.len()) / geometry.width.max(1) as usize + 1;
    format!("\\033[{rows}A\\033[{}G\\033[J", geometry.column + 1)
}

/// The command as the command file displays it: without control characters, cut if it is long.
fn displayed(command: &str) -> String {
    let clean = text::clean(command.trim_end(), false);
    let mut shown = String::new();
    for (number, line) in clean.lines().enumerate() {
        if number == MAX_DISPLAYED_LINES || shown.len() + line.len() > MAX_DISPLAYED_CHARS {
            let room = MAX_DISPLAYED_CHARS.saturating_sub(shown.len()).min(line.len());
            if number < MAX_DISPLAYED_LINES {
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

/// Text quoted as one word of the shell.
fn quoted(kind: ShellKind, text: &str) -> String {
    match kind {
        ShellKind::Fish => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Script that keeps typed lines of ours out of the history of a shell that does not ignore lines with a
/// leading blank. bash removes the line. zsh cannot, so there the first line stays, and a hook keeps out
/// the later ones.
fn keep_out_of_history(kind: ShellKind, path: &str) -> String {
    match kind {
        ShellKind::Bash => format!(
            "case \":${{HISTCONTROL-}}:\" in *:ignorespace:*|*:ignoreboth:*) ;; \
             *) case \"$(HISTTIMEFORMAT= \\builtin history 1)\" in \
             *{path}*) \\builtin history -d \"$HISTCMD\";; esac;; esac; "
        ),
        ShellKind::Zsh => {
            "[[ -o histignorespace ]] || (( ${+functions[__tmuxwright_history]} )) || { \
             __tmuxwright_history() { [[ $1 != ' '*'eval \"$(<'*/tmuxwright-* ]] }; \
             zshaddhistory_functions+=(__tmuxwright_history) }; "
                .to_owned()
        }
        _ => String::new(),
    }
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
            "", " ls", "ls  -l", "ls ", "echo 'a'", "a; b", "a && b", "$HOME/x", "~/x", "ls *",
            "a\nb", "a\tb", "echo é", "# x", "!!", "^a^b", "if true", "exec zsh", "a|b", "(a)",
            "{a}", &long,
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

    #[test]
    fn displayed_command_is_cut_at_the_limits() {
        assert_eq!(displayed("echo hi\n"), "echo hi");
        assert_eq!(displayed("a\x1b[2Jb"), "ab");
        assert_eq!(displayed(&"x".repeat(100_000)).chars().count(), MAX_DISPLAYED_CHARS + 1);
        assert_eq!(displayed(&"x\n".repeat(100)).lines().count(), MAX_DISPLAYED_LINES);
    }
}
