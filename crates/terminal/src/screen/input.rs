//! The input parser: splits bytes into text, controls and escape sequences, however reads divide them.
//!
//! `vte` parses the sequences. Text bypasses it for speed. Strings (titles, links, images) bypass it
//! because it ends some of them inside a UTF-8 character and does not know `ESC k`.

use std::str;

use super::LineSink;
use super::perform::Performer;
use super::terminal::Terminal;

const ESCAPE: u8 = 0x1b;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;
const BELL: u8 = 7;

/// Limit of a title (`ESC k`). The bytes after it are text again.
const MAX_TITLE_BYTES: usize = 4096;

/// Number of bytes of a string that are kept to recognise a query.
const MAX_QUERY_BYTES: usize = 64;

/// State of the parser. It follows the states of `vte`.
#[derive(Default, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Ground,
    Escape,
    /// After `ESC` and an intermediate byte.
    Intermediate,
    Csi,
    /// In a string: the byte that introduced it, and the maximum number of bytes that are left.
    String {
        kind: u8,
        left: usize,
    },
}

/// Splits the input of a terminal.
#[derive(Default)]
pub(super) struct InputParser {
    pub(super) state: State,
    pub(super) vte: vte::Parser,
    /// First bytes of a UTF-8 character of which the others have not arrived.
    partial_char: Vec<u8>,
    /// First bytes of the current string.
    pub(super) string: Vec<u8>,
}

impl InputParser {
    pub(super) fn feed(&mut self, bytes: &[u8], terminal: &mut Terminal, sink: LineSink<'_>) {
        let mut rest = self.complete_char(bytes, terminal, sink);
        while !rest.is_empty() {
            rest = match self.state {
                State::Ground => self.ground(rest, terminal, sink),
                State::Escape => self.escape(rest, terminal, sink),
                State::Intermediate => self.sequence(rest, 0x30, terminal, sink),
                State::Csi => self.sequence(rest, 0x40, terminal, sink),
                State::String { kind, left } => self.skip_string(rest, kind, left, terminal, sink),
            };
        }
    }

    /// Ends the input: an incomplete character becomes U+FFFD.
    pub(super) fn finish(&mut self, terminal: &mut Terminal, sink: LineSink<'_>) {
        if !self.partial_char.is_empty() {
            terminal.print("\u{fffd}", sink);
        }
        *self = Self::default();
    }

    /// Completes a character that the previous read has split, and returns the bytes after it.
    fn complete_char<'a>(
        &mut self,
        bytes: &'a [u8],
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) -> &'a [u8] {
        let mut rest = bytes;
        while !self.partial_char.is_empty() {
            let Some((&byte, tail)) = rest.split_first() else { break };
            self.partial_char.push(byte);
            match str::from_utf8(&self.partial_char) {
                Ok(text) => {
                    terminal.print(text, sink);
                    self.partial_char.clear();
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    // The byte does not belong to the character.
                    terminal.print("\u{fffd}", sink);
                    self.partial_char.clear();
                    break;
                }
            }
            rest = tail;
        }
        rest
    }

    /// Processes text and controls up to an escape.
    fn ground<'a>(
        &mut self,
        bytes: &'a [u8],
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) -> &'a [u8] {
        let mut bytes = bytes;
        loop {
            let length = bytes.iter().position(|b| b.is_ascii_control()).unwrap_or(bytes.len());
            let (text, rest) = bytes.split_at(length);
            if length > 0 {
                self.text(text, rest.is_empty(), terminal, sink);
            }
            let Some((&control, rest)) = rest.split_first() else { return rest };
            if control == ESCAPE {
                if let Some(rest) = skip_sgr(rest) {
                    terminal.forget_last();
                    bytes = rest;
                    continue;
                }
                self.advance_vte(&[ESCAPE], terminal, sink);
                self.state = State::Escape;
                return rest;
            }
            terminal.control(control, sink);
            bytes = rest;
        }
    }

    fn text(
        &mut self,
        bytes: &[u8],
        more_may_come: bool,
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) {
        let mut bytes = bytes;
        loop {
            let error = match str::from_utf8(bytes) {
                Ok(text) => return terminal.print(text, sink),
                Err(error) => error,
            };
            let (valid, bad) = bytes.split_at(error.valid_up_to());
            terminal.print(str::from_utf8(valid).unwrap_or_default(), sink);
            if error.error_len().is_none() && more_may_come {
                return self.partial_char.extend_from_slice(bad);
            }
            terminal.print("\u{fffd}", sink);
            bytes = error.error_len().and_then(|length| bad.get(length..)).unwrap_or_default();
        }
    }

    /// Processes the byte after an escape.
    fn escape<'a>(
        &mut self,
        bytes: &'a [u8],
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) -> &'a [u8] {
        let Some((&byte, rest)) = bytes.split_first() else { return bytes };
        self.state = match byte {
            b'[' => State::Csi,
            b' '..=b'/' => State::Intermediate,
            b']' | b'P' | b'X' | b'^' | b'_' => State::String { kind: byte, left: usize::MAX },
            b'k' => State::String { kind: byte, left: MAX_TITLE_BYTES },
            b'0'..=b'~' | CANCEL | SUBSTITUTE => State::Ground,
            _ => State::Escape,
        };
        let is_string = matches!(self.state, State::String { .. });
        if is_string {
            self.string.clear();
        }
        self.advance_vte(&[if is_string { CANCEL } else { byte }], terminal, sink);
        rest
    }

    /// Processes a sequence up to its final byte, the first that is not below `lowest_final`.
    fn sequence<'a>(
        &mut self,
        bytes: &'a [u8],
        lowest_final: u8,
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) -> &'a [u8] {
        let ends = |b: &u8| {
            (lowest_final..=b'~').contains(b) || matches!(*b, CANCEL | SUBSTITUTE | ESCAPE)
        };
        let end = bytes.iter().position(ends);
        let (sequence, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
        self.advance_vte(sequence, terminal, sink);
        if end.is_some() {
            let escape_again = sequence.last() == Some(&ESCAPE);
            self.state = if escape_again { State::Escape } else { State::Ground };
        }
        rest
    }

    /// Drops a string up to its terminator, and notes whether it was a query.
    fn skip_string<'a>(
        &mut self,
        bytes: &'a [u8],
        kind: u8,
        left: usize,
        terminal: &mut Terminal,
        sink: LineSink<'_>,
    ) -> &'a [u8] {
        let ends = |b: &u8| match *b {
            ESCAPE | CANCEL | SUBSTITUTE => true,
            b => b == BELL && matches!(kind, b']' | b'k'),
        };
        terminal.forget_last();
        let end = bytes.iter().take(left).position(ends);
        let taken = end.map_or(bytes.len().min(left), |end| end + 1);
        let (string, rest) = bytes.split_at(taken);
        self.string.extend(string.iter().take(MAX_QUERY_BYTES - self.string.len()));
        if end.is_some() && is_query(kind, &self.string) {
            terminal.note_query();
        }
        self.state = match end {
            None if taken < left => State::String { kind, left: left - taken },
            Some(_) if string.last() == Some(&ESCAPE) => {
                self.advance_vte(&[ESCAPE], terminal, sink);
                State::Escape
            }
            _ => State::Ground,
        };
        rest
    }

    fn advance_vte(&mut self, bytes: &[u8], terminal: &mut Terminal, sink: LineSink<'_>) {
        self.vte.advance(&mut Performer { terminal, sink }, bytes);
    }
}

/// The bytes after `[ … m`. SGR is by far the most frequent sequence and has no effect here; passing
/// it to `vte` would make coloured text take almost three times as long.
fn skip_sgr(bytes: &[u8]) -> Option<&[u8]> {
    let parameters = bytes.strip_prefix(b"[")?;
    let end = parameters.iter().position(|b| !matches!(b, b'0'..=b';'))?;
    parameters.get(end..)?.strip_prefix(b"m")
}

/// Whether a terminal replies to a string, as to `OSC 11 ; ?` with a colour. The last byte of
/// `string` is its terminator.
fn is_query(kind: u8, string: &[u8]) -> bool {
    matches!(
        (kind, string),
        (b']', [.., b';', b'?', BELL | ESCAPE]) | (b'P', [b'+' | b'$', b'q', ..])
    )
}
