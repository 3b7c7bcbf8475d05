//! Masks: secrets overwritten in place. The text keeps its length, its offsets and its line breaks, so
//! that any slice of it can be taken afterwards.
//!
//! The filler is two control characters. `Redactor::expand` turns what is left of a mask into a replacement, and
//! cleaning removes the rest, so no caller sees them.

use serde_json::Value;
use terminal::text::clean;

use super::{REPLACEMENT_PREFIX, Redactor, replacement};

/// Bytes before and behind a piece of a stream in which a secret may begin or end.
pub(crate) const MASK_CONTEXT_BYTES: usize = 8 * 1024;

/// First byte of a mask that is too short to name the kind of secret.
const SHORT_MASK: char = '\u{1c}';

/// All other bytes of a mask.
const FILLER: u8 = 0x1d;

impl Redactor {
    /// Overwrites the secrets in a text that may have invalid bytes. Line breaks stay.
    pub(crate) fn mask(&self, bytes: &mut [u8]) {
        if !self.enabled {
            return;
        }
        // Each invalid byte counts as one character, so that offsets stay right.
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| '?'));
        }
        for secret in self.find(&text) {
            let name = replacement(secret.kind);
            let Some(place) = bytes.get_mut(secret.range) else { continue };
            let name = if name.len() <= place.len() { name } else { SHORT_MASK.to_string() };
            let mut name = name.bytes();
            for byte in place.iter_mut().filter(|byte| **byte != b'\n') {
                *byte = name.next().unwrap_or(FILLER);
            }
        }
    }

    /// Redacts the rows of a screen, of which a long line may take several: each row by itself, and rows
    /// joined that are as long as the longest. Rows keep their number.
    pub(crate) fn rows(&self, text: &mut String) {
        if !self.enabled {
            return;
        }
        let width = |row: &str| clean(row, false).chars().count();
        let longest = text.lines().map(width).max().unwrap_or(0);
        let mut joined = String::with_capacity(text.len());
        let mut breaks = Vec::new();
        for row in text.split_inclusive('\n') {
            let line = row.strip_suffix('\n').unwrap_or(row);
            let is_full = line.len() < row.len() && longest > 0 && width(line) == longest;
            joined.push_str(if is_full { line } else { row });
            if is_full {
                breaks.push(joined.len());
            }
        }
        let mut joined = joined.into_bytes();
        self.mask(&mut joined);
        let mut rows = String::with_capacity(text.len());
        let mut from = 0;
        for at in breaks.into_iter().chain([joined.len()]) {
            if from > 0 {
                rows.push('\n');
            }
            rows.push_str(&String::from_utf8_lossy(joined.get(from..at).unwrap_or_default()));
            from = at;
        }
        *text = rows;
        self.text(text);
    }

    /// Names the secrets whose masks were too short for that.
    pub(crate) fn expand(&self, text: &mut String) {
        if self.enabled && text.contains(SHORT_MASK) {
            *text = text.replace(SHORT_MASK, &format!("{REPLACEMENT_PREFIX}secret]"));
        }
    }

    /// The same in every string of a value.
    pub(crate) fn expand_in(&self, value: &mut Value) {
        match value {
            _ if !self.enabled => {}
            Value::String(text) => self.expand(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.expand_in(item)),
            Value::Object(map) => map.values_mut().for_each(|inner| self.expand_in(inner)),
            _ => {}
        }
    }
}

/// A stream of bytes whose secrets are masked, although it comes in pieces. A piece is held back until
/// enough of the stream is known behind it.
#[derive(Debug, Default)]
pub(crate) struct MaskedStream {
    /// The end of the bytes given out, as context, and the bytes held back.
    held: Vec<u8>,
    /// Number of bytes of `held` that were given out.
    given: usize,
    /// The masked piece.
    piece: Vec<u8>,
}

impl MaskedStream {
    /// Takes the next piece of the stream.
    pub(crate) fn push(&mut self, redact: &Redactor, piece: &[u8]) {
        self.held.extend_from_slice(piece);
        let until = self.held.len().saturating_sub(MASK_CONTEXT_BYTES);
        self.give(redact, until);
    }

    /// Gives out the rest, at the end of the stream.
    pub(crate) fn finish(&mut self, redact: &Redactor) {
        self.give(redact, self.held.len());
    }

    /// The bytes that the last call gave out.
    pub(crate) fn piece(&self) -> &[u8] {
        &self.piece
    }

    fn give(&mut self, redact: &Redactor, until: usize) {
        self.piece.clear();
        if until > self.given {
            let mut masked = self.held.clone();
            redact.mask(&mut masked);
            self.piece.extend(masked.get(self.given..until).unwrap_or_default());
            let dropped = until.saturating_sub(MASK_CONTEXT_BYTES);
            self.held.drain(..dropped);
            self.given = until - dropped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{enabled, random};
    use super::*;

    fn shown(bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        enabled().expand(&mut text);
        terminal::text::clean(&text, false)
    }

    #[test]
    fn masked_text_keeps_length_and_line_breaks() {
        let text = format!("a\u{ff}\nghp_{}\nPASSWORD=x1\nb", random(36));
        let mut bytes = text.clone().into_bytes();
        enabled().mask(&mut bytes);
        assert_eq!(bytes.len(), text.len());
        let expected = "a\u{ff}\n[redacted:github_token]\nPASSWORD=[redacted:secret]\nb";
        assert_eq!(shown(&bytes), expected);
        // The rest of a mask shows nothing.
        let at = text.find("ghp_").unwrap();
        assert_eq!(shown(&bytes[at + 30..]), "\nPASSWORD=[redacted:secret]\nb");
    }

    #[test]
    fn invalid_bytes_do_not_move_a_mask() {
        let mut bytes =
            [&b"\xff\xe2\x82 x TOKEN="[..], random(20).as_bytes(), b" \xf0 end"].concat();
        enabled().mask(&mut bytes);
        assert!(bytes.ends_with(b" \xf0 end") && bytes.starts_with(b"\xff\xe2\x82 x TOKEN="));
        assert!(shown(&bytes).contains("TOKEN=[redacted:token] "), "{}", shown(&bytes));
    }

    #[test]
    fn token_over_full_rows_is_masked_in_each() {
        let text = format!("ab\n{} ghp_a1B2c3D4\n{} tail\nx", "z".repeat(20), random(24));
        let mut rows = text.clone();
        enabled().rows(&mut rows);
        assert_eq!(rows.lines().count(), text.lines().count());
        let shown = shown(rows.as_bytes());
        assert!(!shown.contains("c3D4") && !shown.contains("e5F6"), "{shown}");
        assert!(shown.starts_with("ab\nzzz") && shown.ends_with(" tail\nx"), "{shown}");
    }

    #[test]
    fn stream_is_masked_like_the_whole_text() {
        let line = format!("x ghp_{} y\n", random(36));
        let text = format!("{}{}", "z".repeat(20_000), line.repeat(1000));
        let mut whole = text.clone().into_bytes();
        enabled().mask(&mut whole);
        for size in [1_000, 8_191, 65_536] {
            let mut stream = MaskedStream::default();
            let mut all = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                stream.push(&enabled(), piece);
                all.extend_from_slice(stream.piece());
            }
            stream.finish(&enabled());
            all.extend_from_slice(stream.piece());
            assert_eq!(all, whole, "{size}");
        }
    }
}
