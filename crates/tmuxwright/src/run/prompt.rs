//! Shell prompts: finding one below a command's output, comparing two.

/// A shell's prompt.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    /// Its last row; empty if it is not known.
    pub(crate) row: String,
    /// Number of rows.
    pub(crate) rows: u32,
}

impl Prompt {
    /// The prompt below a command's output, given all `rows` there and the last one up to the
    /// cursor (`row`). `known` is the row of the previous prompt: text after it is not part of the
    /// prompt, since a person typed it.
    pub(super) fn below_output(rows: &[String], row: String, known: &str) -> Self {
        let find = |row: &str| row.rfind(known).filter(|_| !known.is_empty());
        let above = rows.split_last().map_or(rows, |(_, above)| above);
        let mut shown = above.iter().chain(std::iter::once(&row)).zip(1..);
        let found = shown.find_map(|(row, rows)| {
            let at = find(row)?;
            Some(Self { row: row.get(..at + known.len())?.to_owned(), rows })
        });
        let rows = u32::try_from(rows.len()).unwrap_or(1).max(1);
        found.unwrap_or(Self { row, rows })
    }
}

/// Whether two prompts are equal but for digits, such as those of a clock, counter or status.
pub(crate) fn same_prompt(a: &str, b: &str) -> bool {
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
    fn prompt_ends_where_the_known_prompt_ends() {
        for (rows, known, row, count) in [
            (&["$ "][..], "", "$ ", 1),
            (&["$ "], "$ ", "$ ", 1),
            (&["$ echo ahead"], "$ ", "$ ", 1),
            (&["abc$ "], "$ ", "abc$ ", 1),
            (&["hook", "$ "], "$ ", "$ ", 2),
            (&["hook", "$ echo 'open", "> "], "$ ", "$ ", 2),
            (&["hook", "~ $ "], "/ $ ", "~ $ ", 2),
        ] {
            let rows: Vec<String> = rows.iter().map(|&row| row.to_owned()).collect();
            let last = rows.last().cloned().unwrap_or_default();
            let shown = Prompt::below_output(&rows, last, known);
            assert_eq!((shown.row.as_str(), shown.rows), (row, count), "{rows:?}");
        }
    }

    #[test]
    fn prompts_that_differ_in_digits_are_equal() {
        assert!(same_prompt("12:30 ~ $ ", "12:31 ~ $ "));
        assert!(!same_prompt("~ $ ", "~ $ ls"));
        assert!(!same_prompt("", ""));
    }
}
