//! Cursors: bookmarks as text of about fifty characters, opaque and without spaces.
//!
//! A cursor holds numbers in base 36 separated by dots, then fingerprints in a fixed number of base-64
//! digits each, and a checksum of two digits, because a model may drop a character when it copies one.

use std::fmt;
use std::str::FromStr;

use tmux_control::PaneId;

use super::fingerprint::{self, Anchor, OpenLine};
use super::{ANCHOR_LINES, Bookmark, TAIL_LINES};

const ALPHABET: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
/// A blank row, which has no fingerprint.
const BLANK_ROW: char = '~';

/// Base-64 digits of each fingerprint and of the checksum.
const OPEN_DIGITS: usize = 4;
const ANCHOR_DIGITS: usize = 5;
const LINE_DIGITS: usize = 2;
const ROW_DIGITS: usize = 3;
const CHECK_DIGITS: usize = 2;

/// The error for text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cursor")]
pub struct InvalidCursor(String);

impl fmt::Display for Bookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.pane.0.to_string();
        let numbers = [i64::from(self.pid), self.width, self.history, self.row];
        let length = i64::try_from(self.open.length).unwrap_or_default();
        for number in numbers.into_iter().chain([length]) {
            text.push('.');
            text.push_str(&base36(number));
        }
        text.push('.');
        if self.open.length > 0 {
            text.push_str(&digits(self.open.fingerprint, OPEN_DIGITS));
        }
        text.push_str(&digits(u32::try_from(self.anchor.lines).unwrap_or_default(), 1));
        if self.anchor.lines > 0 {
            text.push_str(&digits(self.anchor.fingerprint, ANCHOR_DIGITS));
        }
        for line in &self.tail {
            text.push_str(&digits(u32::from(*line), LINE_DIGITS));
        }
        if let Some(rows) = &self.alternate {
            text.push('.');
            for row in rows {
                match row {
                    0 => text.push(BLANK_ROW),
                    row => text.push_str(&digits(*row, ROW_DIGITS)),
                }
            }
        }
        write!(f, "{text}{}", checksum(&text))
    }
}

impl FromStr for Bookmark {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let text = text.trim();
        read(text).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            InvalidCursor(if shown.len() < text.len() { shown + "…" } else { shown })
        })
    }
}

fn read(text: &str) -> Option<Bookmark> {
    let (body, sum) = text.split_at_checked(text.len().checked_sub(CHECK_DIGITS)?)?;
    if checksum(body) != sum {
        return None;
    }
    let mut parts = body.split('.');
    let pane = PaneId(parts.next()?.parse().ok()?);
    let mut number = || i64::from_str_radix(parts.next()?, 36).ok().filter(|n| *n >= 0);
    let (pid, width, history, row, length) =
        (number()?, number()?, number()?, number()?, number()?);
    let mut encoded = Digits(parts.next()?);
    let alternate = parts.next();
    let length = usize::try_from(length).ok()?;
    let open =
        OpenLine { length, fingerprint: if length > 0 { encoded.take(OPEN_DIGITS)? } else { 0 } };
    let lines = usize::try_from(encoded.take(1)?).ok().filter(|lines| *lines <= ANCHOR_LINES)?;
    let anchor =
        Anchor { lines, fingerprint: if lines > 0 { encoded.take(ANCHOR_DIGITS)? } else { 0 } };
    let mut tail = Vec::new();
    while !encoded.0.is_empty() {
        tail.push(u16::try_from(encoded.take(LINE_DIGITS)?).ok()?);
    }
    if parts.next().is_some() || tail.len() > TAIL_LINES || width < 1 {
        return None;
    }
    Some(Bookmark {
        pane,
        pid: u32::try_from(pid).ok()?,
        width,
        history,
        row,
        open,
        anchor,
        tail,
        alternate: match alternate {
            Some(text) => Some(rows(text)?),
            None => None,
        },
    })
}

/// Reads the fingerprints of the alternate screen's rows.
fn rows(text: &str) -> Option<Vec<u32>> {
    let mut rest = Digits(text);
    let mut rows = Vec::new();
    while !rest.0.is_empty() {
        match rest.0.strip_prefix(BLANK_ROW) {
            Some(tail) => {
                rest.0 = tail;
                rows.push(0);
            }
            None => rows.push(rest.take(ROW_DIGITS)?),
        }
    }
    Some(rows)
}

/// Base-64 digits that are left to read.
struct Digits<'a>(&'a str);

impl Digits<'_> {
    fn take(&mut self, count: usize) -> Option<u32> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        taken.bytes().try_fold(0, |number, byte| {
            let digit = ALPHABET.iter().position(|digit| *digit == byte)?;
            Some(number << 6 | u32::try_from(digit).ok()?)
        })
    }
}

/// The last `count` base-64 digits of a number.
fn digits(number: u32, count: usize) -> String {
    (0..count).rev().map(|position| char::from(digit(number >> (6 * position) & 63))).collect()
}

fn digit(value: u32) -> u8 {
    usize::try_from(value).ok().and_then(|at| ALPHABET.get(at)).copied().unwrap_or(b'0')
}

fn base36(mut number: i64) -> String {
    let mut reversed = Vec::new();
    loop {
        reversed.push(char::from(digit(u32::try_from(number % 36).unwrap_or_default())));
        number /= 36;
        if number == 0 {
            return reversed.into_iter().rev().collect();
        }
    }
}

fn checksum(body: &str) -> String {
    digits(
        u32::try_from(fingerprint::hash(body.as_bytes()) & 0xfff).unwrap_or_default(),
        CHECK_DIGITS,
    )
}
