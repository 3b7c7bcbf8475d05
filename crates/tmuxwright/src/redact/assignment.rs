//! Secrets that are assigned to a telling name: `PASSWORD=…`, `"api_key": "…"`, `token: …`, `--secret …`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::shapes::Candidate;

/// A pattern for a name that contains one of `$words`, and the separator between name and value.
macro_rules! named {
    ($words:expr) => {
        concat!(
            "(?i-u:",
            $words,
            r#")[A-Za-z0-9_-]{0,24}\\?["']?(?:[ \t]{0,4}(?:[:=]=|=>|[:=])[ \t]{0,4}|[ \t]{1,4})"#
        )
    };
}

/// The first half of names such as `api_key`. Other keys, as of a map or a table, are not secret.
macro_rules! key_words {
    () => {
        "(?:api|access|account|app|auth|client|consumer|encryption|fastly|license|master|preshared|private|shared|signing|storage|subscription)[_-]?key"
    };
}

pub(super) const PASSWORD: &str = named!("pass(?:word|wd|phrase)|[_-](?:pwd|pass)|sshpass");
pub(super) const TOKEN: &str = named!("token");
pub(super) const SECRET: &str = named!("secret|credential");
pub(super) const KEY: &str = named!(key_words!());

/// The same words, in names without a value behind them.
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the pattern is a constant, and tests compile it")]
    Regex::new(concat!(
        "(?i-u)(pass(?:word|wd|phrase)|[_-](?:pwd|pass)$|sshpass)|(token)|(secret|credential)|(",
        key_words!(),
        ")"
    ))
    .expect("the pattern is wrong")
});

/// Endings of names whose value is not a secret, as in `token_count`.
const HARMLESS_ENDINGS: &[&str] = &[
    "count", "endpoint", "env", "expires", "field", "file", "id", "in", "len", "length", "limit",
    "name", "path", "policy", "prompt", "size", "tokens", "type", "uri", "url", "version",
];

/// Characters of a value that are inspected to classify it.
const MAX_INSPECTED_CHARS: usize = 512;

/// The kind of secret that a name announces.
pub(super) fn kind(name: &str) -> Option<&'static str> {
    let found = NAMES.captures(name).filter(|_| !is_harmless(name))?;
    let kinds = ["password", "token", "secret", "key"];
    kinds.into_iter().zip(1..).find_map(|(kind, group)| found.get(group).map(|_| kind))
}

fn is_harmless(name: &str) -> bool {
    let name = name.trim_end_matches(['"', '\'', '\\']).to_ascii_lowercase();
    name.contains("tokeniz") || HARMLESS_ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The range of the value, if it is a secret.
pub(super) fn value(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let head = candidate.head();
    let name = head.split([':', '=', ' ', '\t']).next()?;
    if is_harmless(name) {
        return None;
    }
    let between = head.get(name.len()..)?;
    let rest = candidate.rest();
    if between.trim().is_empty() {
        return option(candidate);
    }
    for quote in ["\\\"", "\"", "'", "`"] {
        if let Some(inner) = rest.strip_prefix(quote) {
            let end = inner.find('\n').into_iter().chain(closing_quote(inner, quote)).min();
            let value = inner.get(..end.unwrap_or(inner.len()))?;
            let at = quote.len();
            return (!is_empty(value)).then(|| candidate.range_behind(at..at + value.len()));
        }
    }
    let value = word(inspected(rest));
    let is_secret = !is_empty(value)
        && match between {
            "=" => name.bytes().all(|b| !b.is_ascii_lowercase()) || !is_code(value, name),
            // Not `/etc/passwd:root`.
            ":" => is_long_and_random(value) && !is_code(value, name),
            _ => {
                let is_value = may_be_secret(value, name) && is_last(rest);
                (is_value || is_long_and_random(value)) && !is_code(value, name)
            }
        };
    is_secret.then(|| candidate.range_behind(0..word(rest).len()))
}

/// The place of the quote that ends a value. In double quotes an escaped quote belongs to the value, as
/// in the JSON strings of our own rows.
fn closing_quote(inner: &str, quote: &str) -> Option<usize> {
    if quote != "\"" {
        return inner.find(quote);
    }
    let mut escaped = false;
    inner.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// The value of `--password value`. Because nothing marks it as a value, it must not
/// look like a word.
fn option(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let before = candidate.text.get(candidate.from..candidate.at.end)?.trim_end();
    let flag = before.rsplit(char::is_whitespace).next()?;
    if !flag.starts_with("--") {
        return None;
    }
    let value = word(candidate.rest());
    let is_secret = looks_random(value) || value.contains(['!', '@', '#', '%', '^', '&', '*', '+']);
    (is_secret && !value.starts_with('-')).then(|| candidate.range_behind(0..value.len()))
}

/// The part of a text that is inspected to classify it.
pub(super) fn inspected(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_INSPECTED_CHARS).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// A value without quotes and without punctuation behind it.
fn word(rest: &str) -> &str {
    let word = rest.split(|c: char| c.is_whitespace() || c == '&').next().unwrap_or_default();
    word.trim_end_matches(['"', '\'', '`', ',', ';', ')', ']', '}', '\\'])
}

/// Whether the rest of the line behind the value is empty, a comment, or behind the quote that ends a header.
fn is_last(rest: &str) -> bool {
    let behind = rest.get(word(rest).len()..).unwrap_or_default();
    let behind = behind.trim_start_matches([' ', '\t', '\r']);
    behind.is_empty() || behind.starts_with(['\n', '#', '"', '\''])
}

/// Whether the value is source code, such as a call, a type, or a variable of the same name.
fn is_code(value: &str, name: &str) -> bool {
    value.contains(['(', ')', '[', '{', '<', '>'])
        || value.contains("::")
        || value.starts_with("self.")
        || value.eq_ignore_ascii_case(name)
}

/// Any word can be a password; other secrets must look random.
fn may_be_secret(value: &str, name: &str) -> bool {
    let types = ["string", "str", "bool", "bytes", "int", "any", "text"];
    let is_type = types.iter().any(|word| value.eq_ignore_ascii_case(word));
    looks_random(value) || (kind(name) == Some("password") && !is_type)
}

/// Whether the value is empty or a placeholder.
pub(super) fn is_empty(value: &str) -> bool {
    const PLACEHOLDERS: &[&str] =
        &["true", "false", "null", "none", "nil", "undefined", "yes", "no", "required", "optional"];
    let value = value.trim();
    value.starts_with(['$', '<', '*', '{', '[', '•'])
        || value.starts_with("%s")
        || value.starts_with("%(")
        || value.is_empty()
        || (value.len() > 2 && value.bytes().all(|b| matches!(b, b'x' | b'X' | b'.' | b'-' | b'_')))
        || PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a value looks random and is too long to be a name.
fn is_long_and_random(value: &str) -> bool {
    value.len() >= 16 && looks_random(value)
}

/// Whether a value has both letters and digits, and at least six characters.
pub(super) fn looks_random(value: &str) -> bool {
    value.len() >= 6
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
}
