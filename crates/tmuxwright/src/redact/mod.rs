//! Redaction of secrets in answers, if a person enabled it: tokens of known formats, keys, passwords.
//! Best effort: a secret without a known format and without a telling name beside it is not found.
//!
//! `table` has the shapes of secrets as data. `shapes` finds where one may begin, with one regular
//! expression for all of them. A function per shape then decides whether it is a secret, and where it
//! ends. A candidate is decided within a bounded number of characters, so the time is linear in the length
//! of any text.
//!
//! Whole texts are searched, before anything is cut from them: the rest of a token without its prefix
//! would not be found. Line breaks stay, so lines can be counted before and after.

mod assignment;
mod beside;
mod command_line;
mod key;
mod mask;
mod sgr;
mod shapes;
mod table;
#[cfg(test)]
mod tests;
mod token;

use std::cmp::Reverse;
use std::ops::Range;

use regex::Regex;
use serde_json::Value;

pub(crate) use mask::{MASK_CONTEXT_BYTES, MaskedStream};
pub use table::{Shape, shapes as known_shapes};

/// The replacement of a secret, up to its kind.
const REPLACEMENT_PREFIX: &str = "[redacted:";

/// The kind of secrets that match a person's own patterns.
const OWN_KIND: &str = "own";

/// Finds and replaces secrets. Disabled by default.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    enabled: bool,
    /// A person's own patterns (`policy.redact_patterns`).
    own: Vec<Regex>,
}

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Secret {
    range: Range<usize>,
    kind: &'static str,
}

impl Redactor {
    /// Enables or disables redaction.
    pub(crate) fn set_enabled(&mut self, enabled: bool) {
        self.enabled = enabled;
    }

    /// Sets a person's own patterns. The error names the first that is invalid.
    pub(crate) fn set_patterns<'a>(
        &mut self,
        patterns: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), String> {
        let read = |text: &str| match Regex::new(text) {
            Ok(regex) if regex.is_match("") => Err(format!("`{text}` matches every text")),
            Ok(regex) => Ok(regex),
            Err(error) => Err(format!("`{text}` is not a valid regular expression: {error}")),
        };
        self.own = patterns.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Whether there are own patterns while redaction is disabled.
    pub(crate) fn has_unused_patterns(&self) -> bool {
        !self.enabled && !self.own.is_empty()
    }

    /// Whether secrets are redacted.
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The number of replacements in a text. A program that prints one is counted too: the count says
    /// how many a reader sees.
    pub(crate) fn count(&self, text: &str) -> usize {
        if self.enabled { text.matches(REPLACEMENT_PREFIX).count() } else { 0 }
    }

    /// The number of replacements in the strings of a value.
    pub(crate) fn count_in(&self, value: &Value) -> usize {
        match value {
            Value::String(text) => self.count(text),
            Value::Array(items) => items.iter().map(|item| self.count_in(item)).sum(),
            Value::Object(map) => map.values().map(|inner| self.count_in(inner)).sum(),
            _ => 0,
        }
    }

    /// The ranges of all secrets in a text, in order and without overlap.
    pub(crate) fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.find(text).into_iter().map(|secret| secret.range).collect()
    }

    /// Replaces the secrets in a text and returns their number. Colour sequences (SGR) stay, and do not
    /// hide a secret.
    pub(crate) fn text(&self, text: &mut String) -> usize {
        let found = self.find(text);
        if !found.is_empty() {
            *text = replaced(text, 0, &found);
        }
        found.len()
    }

    /// Replaces the secrets in every string of a value and returns their number.
    pub(crate) fn value(&self, value: &mut Value) -> usize {
        match value {
            _ if !self.enabled => 0,
            Value::String(text) => self.text(text),
            Value::Array(items) => match joined_lines(items) {
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
                            *text = replacement(kind);
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

    /// Replaces the secrets in a list of lines, which `text` joins: a private key covers many lines. The
    /// number of lines does not change.
    fn lines(&self, items: &mut [Value], text: &str) -> usize {
        let found = self.find(text);
        let mut at = 0;
        for item in items.iter_mut().filter(|_| !found.is_empty()) {
            if let Value::String(line) = item {
                let length = line.len();
                *line = replaced(line, at, &found);
                at += length + 1;
            }
        }
        found.len()
    }

    /// All secrets in a text, in order and without overlap.
    fn find(&self, text: &str) -> Vec<Secret> {
        if !self.enabled {
            return Vec::new();
        }
        let Some((plain, offsets)) = sgr::strip(text) else { return self.find_plain(text) };
        let mut found = self.find_plain(&plain);
        for Secret { range, .. } in &mut found {
            *range = offsets.original(range);
        }
        found
    }

    fn find_plain(&self, text: &str) -> Vec<Secret> {
        let own = self.own.iter().flat_map(|own| own.find_iter(text));
        let own = own
            .filter(|found| !found.is_empty() && !found.as_str().starts_with(REPLACEMENT_PREFIX));
        let mut found: Vec<Secret> =
            own.map(|found| Secret { range: found.range(), kind: OWN_KIND }).collect();
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

/// Joins a list whose items are all strings without line breaks.
fn joined_lines(items: &[Value]) -> Option<String> {
    let lines: Option<Vec<&str>> =
        items.iter().map(|item| item.as_str().filter(|line| !line.contains('\n'))).collect();
    lines.map(|lines| lines.join("\n"))
}

fn replacement(kind: &str) -> String {
    format!("{REPLACEMENT_PREFIX}{kind}]")
}

/// A text with its secrets replaced. `at` is its offset in the text in which they were found.
fn replaced(text: &str, at: usize, found: &[Secret]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    let end = at + text.len();
    // The line break between two lines belongs to the first.
    for Secret { range, kind } in found.iter().filter(|f| f.range.start <= end && f.range.end > at)
    {
        let from = range.start.saturating_sub(at);
        out.push_str(text.get(done..from).unwrap_or_default());
        if range.start >= at {
            out.push_str(&replacement(kind));
        }
        done = (range.end - at).min(text.len());
        out.extend(sgr::kept(text.get(from..done).unwrap_or_default()));
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
