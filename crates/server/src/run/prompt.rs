//! What a shell prints when it is back.

/// A shell's prompt.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    /// Its last row.
    pub(super) row: String,
    /// How many rows it has.
    pub(super) rows: u32,
}

/// What zsh prints when it comes back to its prompt begins with a mark for a line without an end, and
/// blanks that make the terminal begin a new row if it was one.
pub(super) fn without_end_of_line_mark(bytes: &[u8]) -> &[u8] {
    // Our own mark begins with the end of a string.
    let printed = bytes.strip_suffix(b"\x1b\\").unwrap_or(bytes);
    let Some(row) = printed.strip_suffix(b"\r \r") else {
        return bytes;
    };
    let blanks = row.iter().rev().take_while(|&&byte| byte == b' ').count();
    let marked = without_colors(row.get(..row.len() - blanks).unwrap_or_default());
    without_colors(marked.split_last().map_or(marked, |(_, before)| before))
}

/// Bytes without the colours (`ESC [ … m`) at their end.
fn without_colors(mut bytes: &[u8]) -> &[u8] {
    while let Some(start) = bytes.iter().rposition(|&byte| byte == 0x1b)
        && let Some(inner) = bytes.get(start + 1..).and_then(|rest| rest.strip_prefix(b"["))
        && let Some(numbers) = inner.strip_suffix(b"m")
        && numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
    {
        bytes = bytes.get(..start).unwrap_or_default();
    }
    bytes
}

/// Whether two prompts differ in nothing but digits: a clock, a counter, a status.
pub(super) fn similar(a: &str, b: &str) -> bool {
    let plain = |text: &str| {
        text.trim_end()
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect::<String>()
    };
    let (a, b) = (plain(a), plain(b));
    !a.is_empty() && a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_zsh_is_no_output() {
        let mark = "\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m";
        let blanks = " ".repeat(79);
        for before in ["", "abc", "^C", "\x1b[31mred\r\n"] {
            for end in ["", "\x1b\\"] {
                let text = format!("{before}{mark}{blanks}\r \r{end}");
                let left = without_end_of_line_mark(text.as_bytes());
                assert_eq!(String::from_utf8_lossy(left), before);
            }
        }
        assert_eq!(without_end_of_line_mark(b"abc\r\n"), b"abc\r\n");
    }

    #[test]
    fn prompts_are_the_same_but_for_numbers() {
        assert!(similar("12:30 ~ $ ", "12:31 ~ $ "));
        assert!(!similar("~ $ ", "~ $ ls"));
        assert!(!similar("", ""));
    }
}
