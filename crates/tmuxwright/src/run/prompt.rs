//! What a shell prints when it is back.

/// A shell's prompt.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    /// Its last row.
    pub(super) row: String,
    /// How many rows it has.
    pub(super) rows: u32,
}

impl Prompt {
    /// What stands below a command's output: `rows`, of which the last is `row` up to the cursor.
    /// What follows `known`, the prompt of before, is no prompt: somebody was quick, or typed ahead.
    pub(super) fn shown(rows: &[String], row: String, known: &str) -> Self {
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
    fn a_prompt_ends_where_the_known_one_does() {
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
            let shown = Prompt::shown(&rows, last, known);
            assert_eq!((shown.row.as_str(), shown.rows), (row, count), "{rows:?}");
        }
    }

    #[test]
    fn prompts_are_the_same_but_for_numbers() {
        assert!(similar("12:30 ~ $ ", "12:31 ~ $ "));
        assert!(!similar("~ $ ", "~ $ ls"));
        assert!(!similar("", ""));
    }
}
