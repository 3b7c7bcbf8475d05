//! The lines that make any shell read a script from its terminal, and the text of that script.
//!
//! No file of this machine can be read behind ssh or in another root, so the script is typed. It is not typed
//! at the prompt: a line editor would change it and the history would keep it. The line at the prompt starts a
//! `sh` that turns the echo off, reports that it reads, and evaluates one further line. That line tells the kinds
//! of shell apart, reports the kind, and reads encoded lines up to a dot; the shell evaluates what they decode to.

use process::ShellKind;

use crate::run::command_file::{self, IDENTITY, ScriptInput};
use crate::run::delivery::{HIDDEN, LineGeometry, LinePlace, builtin_prefix};

/// Bytes of one encoded line. A terminal that edits lines keeps at most 4,095.
const MAX_LINE_BYTES: usize = 900;

/// Modes of the terminal while `sh` reads our lines: entered with Enter, ended by C-c, and not shown. A program that
/// crashed may have left others, in which a line editor works and `read` does not.
const READING: &str = "stty icanon icrnl -igncr isig -echo";

/// A shell that is ready to read a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadyShell {
    pub(super) kind: ShellKind,
    /// User and host, such as `me@host`.
    pub(super) identity: String,
    /// The terminal, as its scripts write to it.
    pub(super) terminal: &'static str,
}

/// The standard input of a shell: the terminal of one that was started without a controlling terminal, as by `su -c`.
/// `/dev/tty` cannot be opened there.
const INPUT: &str = "&0";

/// A command of `sh` that writes the output of its function `m` to the terminal. `$o` is empty if that is `/dev/tty`.
const ANSWER: &str = "o=;{ m>/dev/tty||{ o=-;m>&0;};} 2>/dev/null";

/// The line to type at a prompt, in syntax that bash, zsh, fish (3.4 or later), dash and busybox share. An
/// interrupt gives the terminal its echo back. The line that is read has to begin with the key: after the end of
/// this process, a person may type there.
pub(super) fn loader_line(key: &str, geometry: LineGeometry) -> String {
    let mut line = format!(
        " eval \"$(command sh -c 's=$(stty -g);trap \"stty $s;exit 1\" 2;{READING};\
         m(){{ printf \"\\033]133;L;k={key}\\007\";}};{ANSWER}&&read -r l;\
         case $l in {key}*)eval \"${{l#{key}}}\";;esac;stty $s' '\\\\')\""
    );
    // At the right margin the row of the cursor is not known.
    if (geometry.column as usize + line.len()).is_multiple_of(geometry.width.max(1) as usize) {
        line.push(' ');
    }
    line
}

/// The line that the loader evaluates. The loader was started with a quoted pair of backslashes, which is one
/// character in fish only. The other shells tell their kind in a second `sh`, and evaluate the script with its
/// output hidden, since a trace of the script would show the keys of its marks.
pub(super) fn reader_line(loader: &str, key: &str) -> String {
    let read = format!(
        "t=$(stty -g);trap \"stty $t;exit 1\" 2;{READING};\
         n=$1 i=$(id -un||id -u)@$(uname -n);m(){{ printf \"\\033]133;L;k={key};%s\\007\" \"$n$o;$i\";}};{ANSWER};\
         while IFS= read -r l;do case $l in \" =\"*)printf %b \"${{l# =}}\";;*)break;;esac;done;stty $t"
    );
    format!(
        "{loader} exec 2>/dev/null;r='{read}';case ${{#0}} in 1)set fish;eval \"$r\";;\
         *)printf '{{ eval \"$(command sh -c \\047%s\\047 - ${{BASH_VERSION:+bash}}${{ZSH_VERSION:+zsh}}.)\";}} \
         {HIDDEN};eval \"$__tmuxwright\"' \"$r\";;esac"
    )
}

/// Whether the answer to the loader line with this key is among the bytes.
pub(super) fn is_loaded(bytes: &[u8], key: &str) -> bool {
    memchr::memmem::find(bytes, format!("\x1b]133;L;k={key}\x07").as_bytes()).is_some()
}

/// The answer to the reader line with this key, if it is among the bytes.
pub(super) fn find_ready(bytes: &[u8], key: &str) -> Option<ReadyShell> {
    let prefix = format!("\x1b]133;L;k={key};");
    let at = memchr::memmem::find(bytes, prefix.as_bytes())? + prefix.len();
    let rest = bytes.get(at..)?;
    let end = memchr::memchr(0x07, rest)?;
    let text = String::from_utf8_lossy(rest.get(..end)?).into_owned();
    let (shell, identity) = text.split_once(';')?;
    let on_input = shell.strip_suffix('-');
    let kind = match on_input.unwrap_or(shell) {
        "zsh." => ShellKind::Zsh,
        "bash." => ShellKind::Bash,
        "fish" => ShellKind::Fish,
        _ => ShellKind::Dash,
    };
    let terminal = if on_input.is_some() { INPUT } else { command_file::TERMINAL };
    Some(ReadyShell { kind, identity: terminal::text::clean(identity, false), terminal })
}

/// A script to be read by a shell.
pub(super) struct Script<'a> {
    pub(super) kind: ShellKind,
    pub(super) input: ScriptInput<'a>,
    /// Key of the loader line.
    pub(super) loader: &'a str,
    /// Whether the shell may have read an earlier loader line without its script.
    pub(super) has_earlier_line: bool,
    /// Key by which the shell is told from one that the command starts.
    pub(super) identity: &'a str,
    /// Where the loader line is on the screen.
    pub(super) place: LinePlace,
}

impl Script<'_> {
    /// The script that replaces the loader line with the command, and runs the command between two marks, as a
    /// command file does.
    pub(super) fn text(&self) -> String {
        let Self { kind, input, loader, has_earlier_line, identity, place } = *self;
        let format = command_file::shown_format(input.keys);
        if kind == ShellKind::Fish {
            let main = command_file::fish_main_part(input, &format, place, "");
            return format!("set -g {IDENTITY} {identity}; {main}");
        }
        let forget = match kind {
            ShellKind::Zsh => FORGET_IN_ZSH.to_owned(),
            ShellKind::Bash if has_earlier_line => command_file::remove_from_history(loader),
            _ => command_file::keep_out_of_history(kind, loader),
        };
        let LinePlace { rows_up, column } = place;
        let place = format!("__tmuxwright_rows={rows_up}; __tmuxwright_column={}; ", column + 1);
        let modes = command_file::modes_off(kind, input.command, input.previous_status);
        let main = command_file::main_part(kind, input, &format);
        let main = command_file::quoted(kind, &main);
        let builtin = builtin_prefix(kind);
        // `set -a` would export the variable to the programs that the command starts. dash has marked it for that
        // if it was unset while the mode was on.
        let set_identity = format!(
            "case $- in *a*) {builtin} set +a; {builtin} unset {IDENTITY}; \
             {IDENTITY}={identity}; {builtin} set -a;; \
             *) {IDENTITY}={identity};; esac; "
        );
        format!("{set_identity}{forget}{place}{modes}__tmuxwright={main}\n")
    }

    /// The script as lines of printable ASCII for `printf %b`, and the dot that ends it.
    pub(super) fn encoded(&self) -> Vec<String> {
        encoded_lines(&self.text())
    }
}

/// Keeps loader lines out of the history of a zsh that does not ignore lines with a leading blank. zsh cannot
/// remove a line, so the first one stays.
const FORGET_IN_ZSH: &str = "[[ -o histignorespace ]] || \
    (( ${+functions[__tmuxwright_loader_history]} )) || { \
    __tmuxwright_loader_history() { { setopt local_options local_traps no_err_exit no_xtrace; \
    \\builtin trap - ZERR; \
    if [[ $1 == ' '*'133;L;k='* ]]; then return 1; fi; } 2>/dev/null }; \
    zshaddhistory_functions+=(__tmuxwright_loader_history) }; ";

/// Beginning of an encoded line: another line, as a person types it, ends the script. It begins with a blank, so
/// that a history does not keep it.
const LINE_MARK: &str = " =";

/// Lines that are one word each, without a character that means anything to a shell. If the reader of the script dies,
/// they reach a prompt, perhaps on this machine, and no part of the command may run there.
fn encoded_lines(script: &str) -> Vec<String> {
    let mut lines = vec![LINE_MARK.to_owned()];
    for &byte in script.as_bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"_./,:@%+-".contains(&byte);
        let encoded =
            if is_plain { char::from(byte).to_string() } else { format!("\\0{byte:03o}") };
        match lines.last_mut() {
            Some(line) if line.len() + encoded.len() <= MAX_LINE_BYTES => line.push_str(&encoded),
            _ => lines.push(format!("{LINE_MARK}{encoded}")),
        }
    }
    lines.push(".".to_owned());
    lines
}

/// The line that reports `$?` with an end mark, for a command that the shell has dropped, and erases itself
/// together with its prompt. The key of that mark is the identity of the shell, so that another shell reports
/// nothing; the second mark says that the line was evaluated.
pub(super) fn status_line(kind: ShellKind, asked: &str, geometry: LineGeometry) -> String {
    let (builtin, status, identity) = match kind {
        ShellKind::Fish => ("builtin", "$status", format!("\"${IDENTITY}\"")),
        kind => (builtin_prefix(kind), "$?", format!("\"${{{IDENTITY}-}}\"")),
    };
    let forget = match kind {
        ShellKind::Bash => command_file::keep_out_of_history(kind, asked),
        _ => String::new(),
    };
    let unset = match kind {
        ShellKind::Fish => format!(";set -e -g {IDENTITY}"),
        _ => format!(";{builtin} unset __tmuxwright_status __tmuxwright_modes {IDENTITY}"),
    };
    let line = |up: usize| {
        format!(
            " {builtin} printf '\\033[{up}A\\r\\033[J\\033]133;D;%s;k=%s\\007\\033]133;L;k={asked}\\007' \
             {status} {identity}{unset}; {forget}"
        )
    };
    let (column, width) = (geometry.column as usize, geometry.width.max(1) as usize);
    let up = (column + line(1).len()) / width + 1;
    let mut line = line(up);
    if (column + line.len()).is_multiple_of(width) {
        line.push(' ');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_encoded_as_short_ascii_lines() {
        assert_eq!(encoded_lines("a\\b\né"), [" =a\\0134b\\0012\\0303\\0251", "."]);
        assert_eq!(encoded_lines("."), [" =.", "."]);
        assert_eq!(encoded_lines("a;b|c")[0], " =a\\0073b\\0174c");
        let long = encoded_lines(&"'\\\n漢~".repeat(5_000));
        assert!(long.iter().all(|line| line.len() <= MAX_LINE_BYTES && line.is_ascii()));
        assert!(long.iter().all(|line| line == "." || line.starts_with(LINE_MARK)));
    }

    #[test]
    fn ready_answer_names_shell_user_and_host() {
        let answer = |shell: &str| format!("x\x1b]133;L;k=K;{shell};me@host\x07y");
        for (shell, kind) in [
            ("bash.", ShellKind::Bash),
            ("zsh.", ShellKind::Zsh),
            ("fish", ShellKind::Fish),
            (".", ShellKind::Dash),
        ] {
            for (mark, terminal) in [("", "/dev/tty"), ("-", "&0")] {
                let ready = find_ready(answer(&format!("{shell}{mark}")).as_bytes(), "K");
                let expected = ReadyShell { kind, identity: "me@host".into(), terminal };
                assert_eq!(ready, Some(expected), "{shell}");
            }
        }
        assert_eq!(find_ready(answer("bash.").as_bytes(), "X"), None);
        assert_eq!(find_ready(b"\x1b]133;L;k=K;bash", "K"), None);
    }

    #[test]
    fn typed_lines_never_end_at_the_right_margin() {
        for width in 20..200 {
            for column in 0..20 {
                let geometry = LineGeometry { column, width };
                let lines = [
                    loader_line("0123456789ab", geometry),
                    status_line(ShellKind::Bash, "0123456789ab", geometry),
                    status_line(ShellKind::Fish, "0123456789ab", geometry),
                ];
                for line in lines {
                    let end = column as usize + line.len();
                    assert!(!end.is_multiple_of(width as usize), "{geometry:?} {line}");
                }
            }
        }
    }

    #[test]
    fn reader_line_is_one_terminal_line() {
        assert!(reader_line(&"0".repeat(24), &"0".repeat(24)).len() <= MAX_LINE_BYTES);
    }
}
