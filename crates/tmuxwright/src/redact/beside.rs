//! Secrets that end where the form around them ends: parameters, cookies, netrc, connection strings, XML.

use std::ops::Range;

use super::assignment::{inspected, is_empty, looks_random};
use super::shapes::Candidate;

/// A password hash of crypt(3).
pub(super) const HASH: &str =
    r"\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./$,=+-]{20,}";

/// The entry of a host in a netrc file, up to its password. The words may be on lines of their own.
pub(super) const NETRC: &str = r"(?-u:(?:\bmachine\s{1,8}[!-~]{1,120}|\bdefault)\s{1,8}(?:(?:login|account|port)\s{1,8}[!-~]{1,80}\s{1,8}){0,3}password\s{1,8})";

/// A field of a connection string that is not the first.
pub(super) const CONNECTION: &str = r"(?i-u:;[ \t]{0,2}(?:password|pwd|accountkey|sharedaccesskey|sharedsecretvalue)[ \t]{0,2}=[ \t]{0,2})";

/// An element or an attribute of XML with a telling name.
pub(super) const XML: &str =
    r"(?i-u:<[a-z:._-]{0,24}(?:password|passphrase|secret|token|apikey|privatekey)>)";
pub(super) const XML_ATTRIBUTE: &str = r#"(?i-u:key)="[^"\n]{0,40}(?i-u:password|secret|token|apikey)[^"\n]{0,20}"[ \t]{1,4}(?i-u:value)=""#;

/// Shortest value that counts as a signature or encoded credentials.
const MIN_ENCODED_CHARS: usize = 12;

/// The characters behind the match for which `is_part` holds, if the first of them look like a secret.
fn while_part(
    candidate: &Candidate<'_>,
    is_part: impl Fn(char) -> bool,
    is_secret: impl Fn(&str) -> bool,
) -> Option<Range<usize>> {
    let part = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
    let first = inspected(candidate.rest());
    let first = first.get(..part(first))?;
    let is_found = !is_empty(first) && is_secret(first);
    is_found.then(|| candidate.range_behind(0..part(candidate.rest())))
}

fn is_url_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.~:@%+".contains(c)
}

/// The rest of a URL's path.
pub(super) fn path(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    while_part(candidate, |c| is_url_part(c) || c == '/', |path| path.len() >= MIN_ENCODED_CHARS)
}

/// The rest of one part of a URL's path.
pub(super) fn path_part(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    while_part(candidate, is_url_part, |part| part.len() >= MIN_ENCODED_CHARS)
}

/// The value of a URL's parameter.
pub(super) fn parameter(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let is_part = |c: char| is_url_part(c) || matches!(c, '/' | '=');
    while_part(candidate, is_part, |value| value.len() >= MIN_ENCODED_CHARS)
}

/// The next word.
pub(super) fn word(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    while_part(candidate, |c| !c.is_whitespace(), |_| true)
}

/// The text up to the quote that ends it.
pub(super) fn quoted(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let quote = candidate.head().chars().next_back()?;
    while_part(candidate, |c| c != quote && c != '\n', |_| true)
}

/// Base64 up to a quote.
pub(super) fn quoted_base64(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    while_part(candidate, is_part, |value| value.len() >= MIN_ENCODED_CHARS || looks_random(value))
}

/// The text of an XML element.
pub(super) fn xml_text(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    while_part(candidate, |c| c != '<' && c != '\n', |_| true)
}

/// The value of a field of a connection string, which may contain blanks.
pub(super) fn connection_value(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    while_part(candidate, |c| !matches!(c, ';' | '"' | '\'' | '\n'), |_| true)
}

/// The values in a `Cookie` header, or the value that a `Set-Cookie` header sets.
pub(super) fn cookies(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let rest = candidate.rest();
    let name = inspected(rest).find(['=', ' ', '\n', '"', '\''])?;
    let value = rest.get(name..)?.strip_prefix('=')?;
    let is_set = candidate.head().get(..3).is_some_and(|head| head.eq_ignore_ascii_case("set"));
    let ends = |c: char| matches!(c, '\n' | '"' | '\'') || (is_set && c == ';');
    let value = value.get(..value.find(ends).unwrap_or(value.len()))?.trim_end();
    (!is_empty(value)).then(|| candidate.range_behind(name + 1..name + 1 + value.len()))
}
