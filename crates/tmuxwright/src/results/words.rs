//! Rows of text in answers. A row is facts joined by ` · `; free text in it is quoted wherever it could
//! be taken for another fact.

pub(crate) use crate::contract::field;

/// Separator of two facts of a row.
const SEPARATOR: &str = " · ";

/// One row of facts.
#[derive(Debug)]
pub(crate) struct FactRow(String);

impl FactRow {
    /// A row that begins with this fact.
    pub(crate) fn new(first: impl Into<String>) -> Self {
        Self(first.into())
    }

    /// Adds a fact. Free text in it has been through [`field`].
    #[must_use]
    pub(crate) fn fact(mut self, fact: impl AsRef<str>) -> Self {
        self.0.push_str(SEPARATOR);
        self.0.push_str(fact.as_ref());
        self
    }

    /// Adds a fact that may be absent.
    #[must_use]
    pub(crate) fn maybe(self, fact: Option<impl AsRef<str>>) -> Self {
        match fact {
            Some(fact) => self.fact(fact),
            None => self,
        }
    }

    /// Adds a word if it applies.
    #[must_use]
    pub(crate) fn flag(self, applies: bool, word: &str) -> Self {
        self.maybe(applies.then_some(word))
    }
}

impl From<FactRow> for String {
    fn from(row: FactRow) -> Self {
        row.0
    }
}

/// Rows, a line each, or `none` if there are no items.
pub(crate) fn rows<T>(items: &[T], row: impl Fn(&T) -> String, none: &str) -> String {
    match items {
        [] => none.to_owned(),
        items => items.iter().map(row).collect::<Vec<_>>().join("\n"),
    }
}

/// Two remarks, either of which may be absent, as one.
pub(crate) fn joined(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(format!("{first}{SEPARATOR}{second}")),
        (first, second) => first.or(second),
    }
}

/// `1 window`, `2 windows`.
pub(crate) fn count(number: impl Into<u64>, noun: &str) -> String {
    let number = number.into();
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A duration: `12 ms`, `2.3 s`.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_join_facts_and_leave_out_absent_ones() {
        let row = FactRow::new("%1").fact("bash").maybe(None::<&str>).flag(true, "own");
        assert_eq!(String::from(row.flag(false, "active")), "%1 · bash · own");
    }
}
