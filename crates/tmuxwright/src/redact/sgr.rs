//! Colour sequences (SGR) in a text that is searched: a token that is partly bold must be found, and the
//! colours behind it must stay.

use std::ops::Range;

/// The beginning of a colour sequence. Cleaned text has no other sequences.
const INTRODUCER: &str = "\u{1b}[";

/// The sequences removed from a text: where each was in the plain text, and the length of all up to it.
pub(super) struct Offsets(Vec<(usize, usize)>);

impl Offsets {
    /// The range in the original text of a range in the plain text. Sequences at its edges are outside.
    pub(super) fn original(&self, plain: &Range<usize>) -> Range<usize> {
        let removed = |number: usize| match number.checked_sub(1).and_then(|at| self.0.get(at)) {
            Some((_, total)) => *total,
            None => 0,
        };
        let start = plain.start + removed(self.0.partition_point(|(at, _)| *at <= plain.start));
        start..plain.end + removed(self.0.partition_point(|(at, _)| *at < plain.end))
    }
}

/// The text without its sequences, and where they were; `None` if there are none.
pub(super) fn strip(text: &str) -> Option<(String, Offsets)> {
    if !text.contains(INTRODUCER) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let (mut removed, mut total) = (Vec::new(), 0);
    for (piece, is_sequence) in pieces(text) {
        if is_sequence {
            total += piece.len();
            removed.push((plain.len(), total));
        } else {
            plain.push_str(piece);
        }
    }
    Some((plain, Offsets(removed)))
}

/// The parts of a redacted text that stay: line breaks, so that lines keep their numbers, and colours.
pub(super) fn kept(secret: &str) -> impl Iterator<Item = &str> {
    pieces(secret).flat_map(|(piece, is_sequence)| {
        let breaks = if is_sequence { 0 } else { piece.matches('\n').count() };
        let sequence = is_sequence.then_some(piece);
        std::iter::repeat_n("\n", breaks).chain(sequence)
    })
}

/// The text cut into sequences and the text between them.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = match sequence_length(rest) {
            Some(length) => length,
            None if rest.is_empty() => return None,
            None => {
                let mut starts = rest.match_indices(INTRODUCER).map(|(at, _)| at);
                starts
                    .find(|at| rest.get(*at..).and_then(sequence_length).is_some())
                    .unwrap_or(rest.len())
            }
        };
        let is_sequence = sequence_length(rest).is_some();
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        Some((piece, is_sequence))
    })
}

/// The length of the sequence at the beginning of a text.
fn sequence_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix(INTRODUCER)?;
    let length = parameters.bytes().take_while(|b| matches!(b, b'0'..=b'9' | b';' | b':')).count();
    (parameters.as_bytes().get(length) == Some(&b'm')).then_some(INTRODUCER.len() + length + 1)
}
