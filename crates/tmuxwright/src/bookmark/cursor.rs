//! Cursors: bookmarks as text of at most forty characters, opaque and without spaces.
//!
//! A cursor is a string of bits, written as base-64 digits: numbers and fingerprints, then a checksum of two
//! digits, because a model may drop a character when it copies one.

use std::fmt;
use std::str::FromStr;

use tmux_control::PaneId;

use super::fingerprint::{self, Anchor, OpenLine};
use super::{ANCHOR_LINES, Bookmark, TAIL_LINES};

const ALPHABET: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
const DIGIT_BITS: u32 = 6;
const CHECK_DIGITS: usize = 2;

/// Bits of a process id: the largest of Linux is 4,194,303.
const PID_BITS: u32 = 22;
/// Bits of the number of lines that have fingerprints.
const COUNT_BITS: u32 = 5;
/// Bits of a group of a number.
const GROUP_BITS: u32 = 4;

/// The error for text that is not a cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cursor")]
pub struct InvalidCursor(String);

impl fmt::Display for Bookmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bits = BitWriter::default();
        bits.number(u64::from(self.pane.0));
        bits.fixed(u64::from(self.pid), PID_BITS);
        for number in [self.width, self.history, self.row] {
            bits.number(u64::try_from(number).unwrap_or_default());
        }
        bits.number(self.open.length as u64);
        if self.open.length > 0 {
            bits.fixed(u64::from(self.open.fingerprint), fingerprint::OPEN_BITS);
        }
        bits.fixed((self.anchor.lines + self.tail.len()) as u64, COUNT_BITS);
        if self.anchor.lines > 0 {
            bits.fixed(u64::from(self.anchor.fingerprint), fingerprint::ANCHOR_BITS);
        }
        for line in &self.tail {
            bits.fixed(u64::from(*line), fingerprint::LINE_BITS);
        }
        bits.fixed(u64::from(self.alternate.is_some()), 1);
        if let Some(screen) = self.alternate {
            bits.fixed(u64::from(screen), fingerprint::SCREEN_BITS);
        }
        let text = bits.into_digits();
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
    let mut bits = BitReader::new(body)?;
    let pane = PaneId(u32::try_from(bits.number()?).ok()?);
    let pid = bits.fixed(PID_BITS)?;
    let mut number = || i64::try_from(bits.number()?).ok();
    let (width, history, row) = (number()?, number()?, number()?);
    let length = usize::try_from(bits.number()?).ok()?;
    let open_bits = if length > 0 { fingerprint::OPEN_BITS } else { 0 };
    let open = OpenLine { length, fingerprint: bits.fixed(open_bits)? };
    let count = usize::try_from(bits.fixed(COUNT_BITS)?).ok()?;
    let lines = count.saturating_sub(TAIL_LINES);
    let anchor_bits = if lines > 0 { fingerprint::ANCHOR_BITS } else { 0 };
    let anchor = Anchor { lines, fingerprint: bits.fixed(anchor_bits)? };
    let tail: Option<Vec<u16>> = (0..count - lines)
        .map(|_| u16::try_from(bits.fixed(fingerprint::LINE_BITS)?).ok())
        .collect();
    let is_alternate = bits.fixed(1)? == 1;
    let alternate = match is_alternate {
        true => Some(bits.fixed(fingerprint::SCREEN_BITS)?),
        false => None,
    };
    let is_valid = lines <= ANCHOR_LINES && width >= 1 && bits.is_at_end();
    is_valid.then_some(Bookmark {
        pane,
        pid,
        width,
        history,
        row,
        open,
        anchor,
        tail: tail?,
        alternate,
    })
}

/// Bits that become base-64 digits.
#[derive(Default)]
struct BitWriter(Vec<bool>);

impl BitWriter {
    /// Writes the last `count` bits of a number.
    fn fixed(&mut self, number: u64, count: u32) {
        self.0.extend((0..count).rev().map(|bit| number >> bit & 1 == 1));
    }

    /// Writes a number of any size: groups of bits, from the lowest, each after a bit that is set if a
    /// further group follows.
    fn number(&mut self, mut number: u64) {
        loop {
            let rest = number >> GROUP_BITS;
            self.fixed(u64::from(rest > 0), 1);
            self.fixed(number, GROUP_BITS);
            if rest == 0 {
                return;
            }
            number = rest;
        }
    }

    fn into_digits(self) -> String {
        let digits = self.0.chunks(DIGIT_BITS as usize).map(|bits| {
            let value = bits.iter().fold(0, |value, bit| value << 1 | u32::from(*bit));
            digit(value << (DIGIT_BITS as usize - bits.len()))
        });
        digits.collect()
    }
}

/// Bits that are left to read, the next one last.
struct BitReader(Vec<bool>);

impl BitReader {
    fn new(digits: &str) -> Option<Self> {
        let mut bits = BitWriter::default();
        for byte in digits.bytes() {
            let value = ALPHABET.iter().position(|digit| *digit == byte)?;
            bits.fixed(value as u64, DIGIT_BITS);
        }
        bits.0.reverse();
        Some(Self(bits.0))
    }

    fn fixed(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |number, _| Some(number << 1 | u32::from(self.0.pop()?)))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for group in 0..u64::BITS / GROUP_BITS {
            let more = self.fixed(1)? == 1;
            number |= u64::from(self.fixed(GROUP_BITS)?) << (group * GROUP_BITS);
            if !more {
                return Some(number);
            }
        }
        None
    }

    /// Whether only the bits are left that fill the last digit.
    fn is_at_end(&self) -> bool {
        self.0.len() < DIGIT_BITS as usize && !self.0.contains(&true)
    }
}

fn digit(value: u32) -> char {
    let digit = usize::try_from(value).ok().and_then(|at| ALPHABET.get(at));
    char::from(digit.copied().unwrap_or(b'0'))
}

fn checksum(body: &str) -> String {
    let mut bits = BitWriter::default();
    bits.fixed(fingerprint::hash(body.as_bytes()), DIGIT_BITS * CHECK_DIGITS as u32);
    bits.into_digits()
}
