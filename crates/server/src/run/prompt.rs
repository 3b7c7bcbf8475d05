//! What a shell prints when it is back.

/// A shell's prompt.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    /// Its last row.
    pub(super) row: String,
    /// How many rows it has.
    pub(super) rows: u32,
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
    fn prompts_are_the_same_but_for_numbers() {
        assert!(similar("12:30 ~ $ ", "12:31 ~ $ "));
        assert!(!similar("~ $ ", "~ $ ls"));
        assert!(!similar("", ""));
    }
}
