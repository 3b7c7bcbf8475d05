//! Takes secrets out of answers, if a person asked for it: tokens of known shapes, keys, passwords. A
//! net and no wall: what has no shape and no name beside it passes.
//!
//! [`shapes`] says where a secret may begin, all of it in one expression; what begins there says for
//! itself how far it goes. No beginning needs more than a few characters to be told, so the time is
//! linear in the text whatever a program prints.

mod assignment;
mod key;
mod shapes;
#[cfg(test)]
mod tests;
mod token;

use std::cmp::Reverse;
use std::ops::Range;

use regex::Regex;
use serde_json::Value;

/// What stands in the place of a secret, up to its kind.
const MARK: &str = "[redacted:";

/// The kind of what a person's own patterns fit.
const OWN: &str = "own";

/// Finds secrets and takes them out. Without being told to, it does nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor {
    on: bool,
    own: Vec<Regex>,
}

/// A secret: where it is, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Secret {
    range: Range<usize>,
    kind: &'static str,
}

impl Redactor {
    /// Turns it on or off.
    pub(crate) fn set_enabled(&mut self, on: bool) {
        self.on = on;
    }

    /// Takes a person's own patterns, or says which one is none.
    pub(crate) fn set_patterns<'a>(
        &mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), String> {
        let read = |text: &str| match Regex::new(text) {
            Ok(regex) if regex.is_match("") => Err(format!("`{text}` fits everything")),
            Ok(regex) => Ok(regex),
            Err(error) => Err(format!("`{text}` is no regular expression: {error}")),
        };
        self.own = patterns.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Whether patterns were given that nothing is done with.
    pub(crate) fn has_unused_patterns(&self) -> bool {
        !self.on && !self.own.is_empty()
    }

    /// Takes the secrets out of a text, and says how many there were.
    pub(crate) fn text(&self, text: &mut String) -> usize {
        let found = self.find(text);
        if !found.is_empty() {
            *text = without(text, 0, &found);
        }
        found.len()
    }

    /// Takes the secrets out of every text in a value, and says how many there were.
    pub(crate) fn value(&self, value: &mut Value) -> usize {
        match value {
            _ if !self.on => 0,
            Value::String(text) => self.text(text),
            Value::Array(items) => match lines(items) {
                Some(text) => self.lines(items, &text),
                None => items.iter_mut().map(|item| self.value(item)).sum(),
            },
            Value::Object(map) => {
                // As in `{"name": "DB_PASSWORD", "value": …}`.
                let named = map.get("name").and_then(Value::as_str).and_then(assignment::kind);
                let entries = map.iter_mut().map(|(name, inner)| {
                    let kind = assignment::kind(name).or(named.filter(|_| name == "value"));
                    match (inner, kind) {
                        (Value::String(text), Some(kind)) if !assignment::is_empty(text) => {
                            *text = mark(kind);
                            1
                        }
                        (inner, _) => self.value(inner),
                    }
                });
                entries.sum()
            }
            _ => 0,
        }
    }

    /// The same for a list of lines: a key takes up many of them, and each stays a line.
    fn lines(&self, items: &mut [Value], text: &str) -> usize {
        let found = self.find(text);
        let mut at = 0;
        for item in items.iter_mut().filter(|_| !found.is_empty()) {
            if let Value::String(line) = item {
                let length = line.len();
                *line = without(line, at, &found);
                at += length + 1;
            }
        }
        found.len()
    }

    /// All secrets in a text, in their order and apart from each other.
    fn find(&self, text: &str) -> Vec<Secret> {
        if !self.on {
            return Vec::new();
        }
        let own = self.own.iter().flat_map(|own| own.find_iter(text));
        let own = own.filter(|found| !found.is_empty() && !found.as_str().starts_with(MARK));
        let mut found: Vec<Secret> =
            own.map(|found| Secret { range: found.range(), kind: OWN }).collect();
        found.extend(shapes::find(text));
        found.sort_by_key(|found| (found.range.start, Reverse(found.range.end)));
        found.dedup_by(|next, found| {
            let overlap = next.range.start < found.range.end;
            if overlap {
                found.range.end = found.range.end.max(next.range.end);
            }
            overlap
        });
        found
    }
}

/// The text of a list that has nothing but lines in it.
fn lines(items: &[Value]) -> Option<String> {
    let lines: Option<Vec<&str>> =
        items.iter().map(|item| item.as_str().filter(|line| !line.contains('\n'))).collect();
    lines.map(|lines| lines.join("\n"))
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// A text without the secrets in it; it begins at `at` of what they were found in.
fn without(text: &str, at: usize, found: &[Secret]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let end = at + text.len();
    // A line end belongs to the line before it.
    for Secret { range, kind } in found.iter().filter(|f| f.range.start <= end && f.range.end > at)
    {
        let from = range.start.saturating_sub(at);
        out.push_str(text.get(done..from).unwrap_or_default());
        if range.start >= at {
            out.push_str(&mark(kind));
        }
        done = (range.end - at).min(text.len());
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
