//! Scripts for a POSIX `sh` on the other side: what starts it, and how texts reach it.
//!
//! The command that a login shell sees is constant, and reads the same in bash, zsh, fish, tcsh, dash and
//! busybox ash. Everything variable comes as one line on the input: `read` takes its bytes one by one and
//! leaves what follows to the program that is started. So no text can become a command of a login shell,
//! and none shows in the arguments of a process.

use std::fmt::Write;

/// Reads one line and runs it. No quote, backslash, `!` or line end: shells read these differently.
macro_rules! body {
    () => {
        r#"IFS= read -r l && eval "$l""#
    };
}

/// The program for a route that takes words.
pub(super) const BODY: &str = body!();

/// The command for a login shell.
pub(super) const LOGIN_COMMAND: &str = concat!("exec sh -c '", body!(), "'");

/// Makes `$__n` a line end, which [`quote`] uses. Precedes all else.
const LINE_END: &str = r"__n=$(printf '\nx'); __n=${__n%x}";

/// Quotes a text for `sh` on one line: line ends become `$__n`.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    for letter in text.chars() {
        match letter {
            '\'' => quoted.push_str(r"'\''"),
            '\n' => quoted.push_str(r#"'"$__n"'"#),
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// A random text that no output contains by chance.
pub(super) fn random_key() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random bytes: {error}"))?;
    let mut key = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(key, "{byte:02x}");
    }
    Ok(key)
}

/// The first line for a new shell: it prints a line with the key and its pid, behind whatever a login
/// shell printed before, and runs `script`. The key stands there in two parts, so that a terminal which
/// echoes the line does not print it.
pub(super) fn first_line(key: &str, script: &str) -> String {
    let (first, second) = key.split_at(key.len() / 2);
    format!("{LINE_END}; printf '\\n%s%s %s\\n' {first} {second} $$; eval {}\n", quote(script))
}

/// The script of a lasting shell: it runs the lines that come, one after the other. Programs that it starts
/// get no input, and not the channel either: a tmux server would hold it open.
///
/// - `__run MARK SCRIPT` runs a script in the shell itself. It may `set` arguments and `return`.
/// - `__command MARK INPUT COMMAND` runs a command in a subshell, with this text as its input.
///
/// Each then prints a line with the mark and the status, the error output, and a line with the mark.
pub(super) const LASTING: &str = r#"exec 3<&0 4>&1 </dev/null 2>/dev/null
__eval() { eval "$1"; }
__run() { __eval "$2" 3<&- 4>&-; printf '\n%s %s\n\n%s\n' "$1" "$?" "$1"; }
__command() {
  __e=$(printf '%s\n' "$2" | eval "$3" 2>&1 >&4 3<&- 4>&-)
  printf '\n%s %s\n%s\n%s\n' "$1" "$?" "$__e" "$1"
}
while IFS= read -r __l <&3; do eval "$__l"; done"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_one_line() {
        assert_eq!(quote("a'b\nc"), r#"'a'\''b'"$__n"'c'"#);
        assert_eq!(quote(""), "''");
    }

    #[test]
    fn command_for_login_shells_is_plain() {
        let inner = LOGIN_COMMAND.strip_prefix("exec sh -c '").unwrap().strip_suffix('\'').unwrap();
        assert_eq!(inner, BODY);
        assert!(!BODY.contains(['\'', '\\', '!', '\n']));
    }

    #[test]
    fn first_line_does_not_hold_the_key() {
        let key = random_key().unwrap();
        assert_eq!(key.len(), 32);
        let line = first_line(&key, "a\nb");
        assert!(!line.contains(&key));
        assert_eq!(line.matches('\n').count(), 1);
    }
}
