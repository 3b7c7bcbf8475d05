//! Patterns inside formats: globs and regular expressions that tmux can match in bounded time.
//!
//! tmux matches with the C library, on the one thread that serves every session. Back-references and
//! counted repetitions take exponential time and memory there.

use super::FormatError;

/// Longest pattern in bytes.
const MAX_PATTERN_BYTES: usize = 128;
/// Most `*` in one pattern: `fnmatch` backtracks at each.
const MAX_STARS: usize = 4;

/// Checks a glob or a regular expression.
pub(super) fn check(pattern: &str, regex: bool) -> Result<(), FormatError> {
    let refuse = |message: String| {
        Err(FormatError::new(message, "use a short pattern of plain characters, `.` and `*`"))
    };
    if pattern.len() > MAX_PATTERN_BYTES {
        return refuse(format!("a pattern has more than {MAX_PATTERN_BYTES} bytes"));
    }
    if pattern.bytes().filter(|byte| *byte == b'*').count() > MAX_STARS {
        return refuse(format!("a pattern has more than {MAX_STARS} `*`"));
    }
    if !regex {
        return Ok(());
    }
    let mut last = None;
    let mut escaped = false;
    for c in pattern.chars() {
        if escaped && c.is_ascii_alphanumeric() {
            return refuse(format!("`\\{c}` in a pattern could keep tmux busy without end"));
        }
        if !escaped && c == '{' {
            return refuse("`{` in a pattern could exhaust the memory of tmux".to_owned());
        }
        if !escaped && matches!(c, '*' | '+' | '?') && matches!(last, Some(')' | '*' | '+' | '?')) {
            return refuse("a repeated group in a pattern could keep tmux busy".to_owned());
        }
        last = (!escaped).then_some(c);
        escaped = !escaped && c == '\\';
    }
    if escaped {
        return refuse("a pattern ends in a backslash".to_owned());
    }
    Ok(())
}
