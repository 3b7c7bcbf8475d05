//! Cuts bytes into text, controls and escape sequences, wherever the reads were cut.
//!
//! `vte` parses the sequences. Text does not reach it, for speed; nor do strings (titles, links,
//! images), since it ends some of them inside a UTF-8 character and knows no `ESC k`.

use std::str;

use super::Done;
use super::perform::Performer;
use super::terminal::Terminal;

const ESCAPE: u8 = 0x1b;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;
const BELL: u8 = 7;

/// `ESC k` that does not end soon was no title: the rest is text again.
const LONGEST_TITLE: usize = 4096;

/// How much of a string is looked at.
const LONGEST_QUESTION: usize = 64;

/// Where in the input we are. It follows the states of `vte`.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC` and an intermediate byte.
    Charset,
    Csi,
    /// In a string that came after this byte, with so many bytes to go at most.
    Skip {
        kind: u8,
        left: usize,
    },
}

/// The bytes as they come in.
#[derive(Default)]
pub(super) struct Input {
    pub(super) state: State,
    pub(super) vte: vte::Parser,
    /// The begin of a character whose end has not come yet.
    torn: Vec<u8>,
    /// The begin of the string we are in.
    pub(super) string: Vec<u8>,
}

impl Input {
    pub(super) fn feed(&mut self, bytes: &[u8], terminal: &mut Terminal, done: Done<'_>) {
        let mut rest = self.mend(bytes, terminal, done);
        while !rest.is_empty() {
            rest = match self.state {
                State::Ground => self.ground(rest, terminal, done),
                State::Escape => self.escape(rest, terminal, done),
                State::Charset => self.sequence(rest, 0x30, terminal, done),
                State::Csi => self.sequence(rest, 0x40, terminal, done),
                State::Skip { kind, left } => self.skip(rest, kind, left, terminal, done),
            };
        }
    }

    /// No more bytes will come: what was torn stays torn.
    pub(super) fn finish(&mut self, terminal: &mut Terminal, done: Done<'_>) {
        if !self.torn.is_empty() {
            terminal.print("\u{fffd}", done);
        }
        *self = Self::default();
    }

    /// Completes a character that the last read had cut, and returns what follows it.
    fn mend<'a>(&mut self, bytes: &'a [u8], terminal: &mut Terminal, done: Done<'_>) -> &'a [u8] {
        let mut rest = bytes;
        while !self.torn.is_empty() {
            let Some((&byte, tail)) = rest.split_first() else { break };
            self.torn.push(byte);
            match str::from_utf8(&self.torn) {
                Ok(text) => {
                    terminal.print(text, done);
                    self.torn.clear();
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    // This byte is none of its bytes.
                    terminal.print("\u{fffd}", done);
                    self.torn.clear();
                    break;
                }
            }
            rest = tail;
        }
        rest
    }

    /// Takes text and controls up to an escape.
    fn ground<'a>(&mut self, bytes: &'a [u8], terminal: &mut Terminal, done: Done<'_>) -> &'a [u8] {
        let mut bytes = bytes;
        loop {
            let length = bytes.iter().position(|b| b.is_ascii_control()).unwrap_or(bytes.len());
            let (text, rest) = bytes.split_at(length);
            if length > 0 {
                self.text(text, rest.is_empty(), terminal, done);
            }
            let Some((&control, rest)) = rest.split_first() else { return rest };
            if control == ESCAPE {
                if let Some(rest) = after_colour(rest) {
                    bytes = rest;
                    continue;
                }
                self.pass(&[ESCAPE], terminal, done);
                self.state = State::Escape;
                return rest;
            }
            terminal.control(control, done);
            bytes = rest;
        }
    }

    fn text(&mut self, bytes: &[u8], more_may_come: bool, terminal: &mut Terminal, done: Done<'_>) {
        let mut bytes = bytes;
        loop {
            let error = match str::from_utf8(bytes) {
                Ok(text) => return terminal.print(text, done),
                Err(error) => error,
            };
            let (valid, bad) = bytes.split_at(error.valid_up_to());
            terminal.print(str::from_utf8(valid).unwrap_or_default(), done);
            if error.error_len().is_none() && more_may_come {
                return self.torn.extend_from_slice(bad);
            }
            terminal.print("\u{fffd}", done);
            bytes = error.error_len().and_then(|length| bad.get(length..)).unwrap_or_default();
        }
    }

    /// Takes the byte after an escape.
    fn escape<'a>(&mut self, bytes: &'a [u8], terminal: &mut Terminal, done: Done<'_>) -> &'a [u8] {
        let Some((&byte, rest)) = bytes.split_first() else { return bytes };
        self.state = match byte {
            b'[' => State::Csi,
            b' '..=b'/' => State::Charset,
            b']' | b'P' | b'X' | b'^' | b'_' => State::Skip { kind: byte, left: usize::MAX },
            b'k' => State::Skip { kind: byte, left: LONGEST_TITLE },
            b'0'..=b'~' | CANCEL | SUBSTITUTE => State::Ground,
            _ => State::Escape,
        };
        let is_string = matches!(self.state, State::Skip { .. });
        if is_string {
            self.string.clear();
        }
        self.pass(&[if is_string { CANCEL } else { byte }], terminal, done);
        rest
    }

    /// Takes a sequence up to its final byte, which is the first from `lowest_final` on.
    fn sequence<'a>(
        &mut self,
        bytes: &'a [u8],
        lowest_final: u8,
        terminal: &mut Terminal,
        done: Done<'_>,
    ) -> &'a [u8] {
        let ends = |b: &u8| {
            (lowest_final..=b'~').contains(b) || matches!(*b, CANCEL | SUBSTITUTE | ESCAPE)
        };
        let end = bytes.iter().position(ends);
        let (sequence, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.pass(sequence, terminal, done);
        if end.is_some() {
            let again = sequence.last() == Some(&ESCAPE);
            self.state = if again { State::Escape } else { State::Ground };
        }
        rest
    }

    /// Drops a string up to its end, unless it asks for something.
    fn skip<'a>(
        &mut self,
        bytes: &'a [u8],
        kind: u8,
        left: usize,
        terminal: &mut Terminal,
        done: Done<'_>,
    ) -> &'a [u8] {
        let ends = |b: &u8| match *b {
            ESCAPE | CANCEL | SUBSTITUTE => true,
            b => b == BELL && matches!(kind, b']' | b'k'),
        };
        let end = bytes.iter().take(left).position(ends);
        let taken = end.map_or(bytes.len().min(left), |end| end + 1);
        let (string, rest) = bytes.split_at(taken);
        self.string.extend(string.iter().take(LONGEST_QUESTION - self.string.len()));
        if end.is_some() && is_question(kind, &self.string) {
            terminal.ask();
        }
        self.state = match end {
            None if taken < left => State::Skip { kind, left: left - taken },
            Some(_) if string.last() == Some(&ESCAPE) => {
                self.pass(&[ESCAPE], terminal, done);
                State::Escape
            }
            _ => State::Ground,
        };
        rest
    }

    fn pass(&mut self, bytes: &[u8], terminal: &mut Terminal, done: Done<'_>) {
        self.vte.advance(&mut Performer { terminal, done }, bytes);
    }
}

/// What follows `[ … m`. Colours are by far the most frequent sequence, and need no parser to be
/// dropped: with one, coloured text takes almost three times as long.
fn after_colour(bytes: &[u8]) -> Option<&[u8]> {
    let parameters = bytes.strip_prefix(b"[")?;
    let end = parameters.iter().position(|b| !matches!(b, b'0'..=b';'))?;
    parameters.get(end..)?.strip_prefix(b"m")
}

/// Whether the terminal answers a string that ended, as `OSC 11 ; ?` for a colour does. The byte
/// that ended it is its last.
fn is_question(kind: u8, string: &[u8]) -> bool {
    matches!(
        (kind, string),
        (b']', [.., b';', b'?', BELL | ESCAPE]) | (b'P', [b'+' | b'$', b'q', ..])
    )
}
