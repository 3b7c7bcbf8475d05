//! The marks a shell prints around a command's output, found in the raw bytes.
//!
//! They are OSC 133 sequences, which every terminal swallows, with one more field: a key that only
//! we and the shell know. What looks alike but has another key, or none, is the program's own.

use memchr::memchr;

const OPEN: &[u8] = b"\x1b]133;";
/// Longer than any mark of ours.
const LONGEST: usize = 96;

/// A mark that carries a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) key: String,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// The command's output begins.
    Start,
    /// It has ended, with this status.
    End(i32),
}

impl Mark {
    /// What says where output begins, as a `printf` format.
    pub(super) fn start_format(key: &str) -> String {
        format!("\\033]133;C;k={key}\\007")
    }

    /// The same for the end; it takes the status. A program may have left the terminal in the
    /// middle of a string, or above old text: the one is ended before, the other erased after.
    pub(super) fn end_format(key: &str) -> String {
        format!("\\033\\134\\033]133;D;%s;k={key}\\007\\033[J")
    }

    /// Reads what stands between `OPEN` and the terminator.
    fn parse(body: &str) -> Option<Self> {
        let mut fields = body.split(';');
        let what = fields.next()?;
        let status = fields.next()?;
        let (what, key) = match what {
            "C" => (What::Start, status),
            "D" => (What::End(exit_code(status.parse().ok()?)), fields.next()?),
            _ => return None,
        };
        let key = key.strip_prefix("k=")?.to_owned();
        fields.next().is_none().then_some(Self { key, what })
    }
}

/// A status as most shells count it: ksh has 256 and more for a death by signal.
fn exit_code(status: i32) -> i32 {
    if status > 256 { status - 128 } else { status }
}

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Bytes that are not a mark.
    Text(&'a [u8]),
    /// A mark.
    Mark(Mark),
}

/// Splits a stream that comes in chunks of any size.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// The beginning of what may become a mark.
    held: Vec<u8>,
}

impl Scanner {
    pub(super) fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(Piece<'_>)) {
        if self.held.is_empty() {
            self.held = scan(bytes, &mut sink).to_vec();
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            self.held = scan(&joined, &mut sink).to_vec();
        }
    }
}

/// Hands out all that is certain and returns the rest.
fn scan<'a>(bytes: &'a [u8], sink: &mut impl FnMut(Piece<'_>)) -> &'a [u8] {
    let mut rest = bytes;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| memchr(0x1b, tail)).map(|n| from + n) {
        let (text, candidate) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        match read(candidate) {
            Found::Mark(mark, length) => {
                if !text.is_empty() {
                    sink(Piece::Text(text));
                }
                sink(Piece::Mark(mark));
                rest = candidate.get(length..).unwrap_or_default();
                from = 0;
            }
            Found::Partial => {
                if !text.is_empty() {
                    sink(Piece::Text(text));
                }
                return candidate;
            }
            Found::Nothing => from = at + 1,
        }
    }
    if !rest.is_empty() {
        sink(Piece::Text(rest));
    }
    &[]
}

enum Found {
    Mark(Mark, usize),
    Partial,
    Nothing,
}

/// Looks whether bytes that begin with ESC are a mark.
fn read(bytes: &[u8]) -> Found {
    if bytes.len() < OPEN.len() {
        return if OPEN.starts_with(bytes) { Found::Partial } else { Found::Nothing };
    }
    let Some(body) = bytes.strip_prefix(OPEN) else {
        return Found::Nothing;
    };
    let within = body.get(..LONGEST.min(body.len())).unwrap_or(body);
    match within.iter().position(|&byte| !(0x20..0x7f).contains(&byte)) {
        None if within.len() < LONGEST => Found::Partial,
        Some(end) if body.get(end) == Some(&0x07) => body
            .get(..end)
            .and_then(|body| std::str::from_utf8(body).ok())
            .and_then(Mark::parse)
            .map_or(Found::Nothing, |mark| Found::Mark(mark, OPEN.len() + end + 1)),
        _ => Found::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pieces, with neighbouring text put together.
    fn pieces(chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, Mark>> {
        let mut scanner = Scanner::default();
        let mut found: Vec<Result<Vec<u8>, Mark>> = Vec::new();
        for chunk in chunks {
            scanner.feed(chunk, |piece| match piece {
                Piece::Text(text) => match found.last_mut() {
                    Some(Ok(last)) => last.extend_from_slice(text),
                    _ => found.push(Ok(text.to_vec())),
                },
                Piece::Mark(mark) => found.push(Err(mark)),
            });
        }
        found
    }

    fn end(status: i32, key: &str) -> Result<Vec<u8>, Mark> {
        Err(Mark { key: key.to_owned(), what: What::End(status) })
    }

    #[test]
    fn marks_are_told_from_text() {
        let stream = [b"echo".as_slice(), b"\x1b]133;C;k=K\x07", b"out\r\n\x1b]133;D;42;k=K\x07$ "];
        let expected = [
            Ok(b"echo".to_vec()),
            Err(Mark { key: "K".into(), what: What::Start }),
            Ok(b"out\r\n".to_vec()),
            end(42, "K"),
            Ok(b"$ ".to_vec()),
        ];
        assert_eq!(pieces(&[&stream.concat()]), expected);
    }

    #[test]
    fn a_signal_is_counted_as_everywhere() {
        assert_eq!(pieces(&[b"\x1b]133;D;258;k=K\x07"]), [end(130, "K")]);
    }

    #[test]
    fn look_alikes_are_text() {
        for text in [
            b"\x1b]133;A\x07".as_slice(),
            b"\x1b]133;C\x07",
            b"\x1b]133;D;0\x07",
            b"\x1b]133;D\x07",
            b"\x1b]133;D;x;k=K\x07",
            b"\x1b]133;D;0;k=K;more\x07",
            b"\x1b]133;D;0;k=K\x1b\\",
            b"\x1b]0;title\x07",
            b"\x1b[31m",
        ] {
            assert_eq!(pieces(&[text, b"."]), [Ok([text, b"."].concat())]);
        }
    }

    #[test]
    fn a_mark_inside_another_sequence_counts() {
        // A program may end in the middle of a sequence; the mark after it still has to be seen.
        let stream = b"\x1b]133;D;\x1b]133;D;7;k=K\x07";
        assert_eq!(pieces(&[stream]), [Ok(b"\x1b]133;D;".to_vec()), end(7, "K")]);
    }

    proptest! {
        #[test]
        fn the_size_of_the_chunks_does_not_matter(cuts in prop::collection::vec(0usize..60, 0..8)) {
            let stream = b"a\x1b]133;C;k=K\x07b\x1b]133;\x1b]133;D;130;k=K\x07\x1b[m\x1b]133;D;1\x07.";
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut last = 0;
            for cut in cuts.into_iter().chain([stream.len()]) {
                chunks.push(&stream[last..cut]);
                last = cut;
            }
            prop_assert_eq!(pieces(&chunks), pieces(&[stream]));
        }
    }
}
