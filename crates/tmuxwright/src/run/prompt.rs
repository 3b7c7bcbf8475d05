//! Shell prompts: finding one below a command's output, comparing two.

/// A shell's prompt.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prompt {
    /// Its last row; empty if it is not known.
    pub(crate) row: String,
    /// Number of rows; `None` until one was seen below the output of a command.
    pub(super) rows: Option<u32>,
}

impl Prompt {
    /// Number of rows; 1 if it is not known.
    pub(crate) fn rows(&self) -> u32 {
        self.rows.unwrap_or(1)
    }

    /// The prompt seen below a command's output, given the one `known` before. A process in the
    /// background may have printed above it, or below it and the shell has not printed it again: so the
    /// fewest rows count, and a blank row does not.
    pub(super) fn after(self, known: &Self) -> Self {
        let row = if self.row.trim().is_empty() { known.row.clone() } else { self.row };
        Self { row, rows: self.rows.into_iter().chain(known.rows).min() }
    }

    /// The prompt below a command's output, given all `rows` there and the last one up to the
    /// cursor (`row`). `known` is the row of the previous prompt: text after it is not part of the
    /// prompt, since a person typed it.
    pub(super) fn below_output(rows: &[String], row: String, known: &str) -> Self {
        let find = |row: &str| row.rfind(known).filter(|_| !known.is_empty());
        let above = rows.split_last().map_or(rows, |(_, above)| above);
        let mut shown = above.iter().chain(std::iter::once(&row)).zip(1..);
        let found = shown.find_map(|(row, rows)| {
            let at = find(row)?;
            Some(Self { row: row.get(..at + known.len())?.to_owned(), rows: Some(rows) })
        });
        let rows = u32::try_from(rows.len()).unwrap_or(1).max(1);
        found.unwrap_or(Self { row, rows: Some(rows) })
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
            assert_eq!((shown.row.as_str(), shown.rows()), (row, count), "{rows:?}");
        }
    }

    #[test]
    fn output_of_background_jobs_is_no_prompt() {
        let prompt = |row: &str, rows| Prompt { row: row.to_owned(), rows };
        for (seen, known, row, rows) in [
            (("$ ", Some(5)), ("$ ", Some(1)), "$ ", 1),
            (("", Some(5)), ("$ ", Some(1)), "$ ", 1),
            (("~ $ ", Some(2)), ("$ ", None), "~ $ ", 2),
        ] {
            let learned = prompt(seen.0, seen.1).after(&prompt(known.0, known.1));
            assert_eq!((learned.row.as_str(), learned.rows()), (row, rows), "{seen:?}");
        }
    }

    #[test]
    fn prompts_that_differ_in_digits_are_equal() {
        assert!(same_prompt("12:30 ~ $ ", "12:31 ~ $ "));
        assert!(!same_prompt("~ $ ", "~ $ ls"));
        assert!(!same_prompt("", ""));
    }
}
