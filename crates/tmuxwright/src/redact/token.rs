//! Tokens, and passwords in URLs and headers.

use std::ops::Range;

use super::REPLACEMENT_PREFIX;
use super::assignment::{inspected, is_empty, looks_random};
use super::shapes::Candidate;

/// The whole match.
#[expect(clippy::unnecessary_wraps, reason = "the signature of `Shape::range`")]
pub(super) fn all(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    Some(candidate.at.clone())
}

/// The whole match, if it looks random and not like a name.
pub(super) fn if_random(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    looks_random(candidate.head()).then(|| candidate.at.clone())
}

/// A JSON Web Token: three parts with dots between them, or two if it is cut off.
pub(super) fn jwt(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let payload = part(candidate.rest())?;
    let mut end = payload;
    while let Some(length) = candidate.rest().get(end..).and_then(part) {
        end += length;
    }
    (payload > 8).then(|| candidate.at.start..candidate.at.end + end)
}

/// The length of a dot and the base64url text behind it.
fn part(text: &str) -> Option<usize> {
    let length = text.strip_prefix('.')?.bytes().take_while(|b| is_base64url(*b)).count();
    Some(length + 1)
}

fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The password in `://user:password@host`, or a long random user name without a password.
pub(super) fn in_url(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>');
    let authority = candidate.rest().split(ends).next()?;
    let user = authority.get(..authority.rfind('@')?)?;
    let secret = match user.find(':') {
        // Redacted already.
        _ if user.starts_with(REPLACEMENT_PREFIX) => return None,
        Some(colon) => colon + 1..user.len(),
        None if looks_random(user) && user.len() >= 20 => 0..user.len(),
        None => return None,
    };
    let is_present = !is_empty(user.get(secret.clone())?);
    is_present.then(|| candidate.range_behind(secret))
}

/// The credentials behind `Authorization:` and its scheme.
pub(super) fn credentials(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let rest = candidate.rest();
    let value = rest.trim_start_matches(['"', '\'', '\\']);
    let open = rest.len() - value.len();
    let all = |text: &'_ str| text.find(['\n', '"', '\'', '\\']).unwrap_or(text.len());
    let first = inspected(value);
    let first = first.get(..all(first))?.trim_end();
    let (from, has_scheme) = match first.split_once([' ', '\t']) {
        Some((scheme, _)) => (scheme.len() + 1, true),
        None => (0, false),
    };
    let secret = first.get(from..)?;
    let is_present = !is_empty(secret) && (has_scheme || looks_random(secret));
    is_present.then(|| candidate.range_behind(open + from..open + all(value)))
}

/// The token behind `Bearer` outside an `Authorization` header.
pub(super) fn bearer(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let is_part = |b: &u8| is_base64url(*b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'=');
    let length = candidate.rest().bytes().take_while(is_part).count();
    let token = candidate.rest().get(..length)?;
    (length >= 16 && looks_random(token)).then(|| candidate.range_behind(0..length))
}
