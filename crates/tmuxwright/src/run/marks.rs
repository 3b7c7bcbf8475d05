//! Marks that a shell prints around a command's output: their format, and finding them in raw bytes.
//!
//! A mark is an OSC 133 sequence, which terminals do not display, with one more field: a key that
//! only this process and the shell know. A sequence with another key, or none, is ordinary output.
//! Each command has keys of its own, so that the marks of one command, which another program may have
//! read from the terminal's output, say nothing about the next.

use std::io;

use memchr::memchr;

use crate::random;

/// The bytes with which every mark begins.
const MARK_PREFIX: &[u8] = b"\x1b]133;";
/// Limit for the bytes of a mark after its prefix; real marks are shorter.
const MAX_MARK_BYTES: usize = 96;

/// A mark with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) key: String,
    pub(super) kind: MarkKind,
}

/// The end of a command's output at which a mark stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// The command's output begins.
    Start,
    /// The command has ended with this status; `None` if the shell does not know it any more.
    End(Option<i32>),
    /// The shell asks where its typed line is on the screen.
    Line,
}

impl Mark {
    /// The start mark, as a `printf` format.
    pub(super) fn start_format(key: &str) -> String {
        format!("\\033]133;C;k={key}\\007")
    }

    /// The mark with which a shell asks for the place of its typed line, as a `printf` format.
    pub(super) fn line_format(key: &str) -> String {
        format!("\\033]133;L;k={key}\\007")
    }

    /// The end mark, as a `printf` format that takes the status. A program may have left an escape
    /// sequence open or the cursor above old text: the format ends the sequence first (ST) and
    /// erases the text below last.
    pub(super) fn end_format(key: &str) -> String {
        format!("\\033\\134\\033]133;D;%s;k={key}\\007\\033[J")
    }

    /// Parses the text between `MARK_PREFIX` and the terminator.
    fn parse(body: &str) -> Option<Self> {
        let mut fields = body.split(';');
        let letter = fields.next()?;
        let status = fields.next()?;
        let (kind, key) = match letter {
            "C" => (MarkKind::Start, status),
            "L" => (MarkKind::Line, status),
            "D" if status == "?" => (MarkKind::End(None), fields.next()?),
            "D" => (MarkKind::End(Some(exit_code(status.parse().ok()?))), fields.next()?),
            _ => return None,
        };
        let key = key.strip_prefix("k=")?.to_owned();
        fields.next().is_none().then_some(Self { key, kind })
    }
}

/// The keys whose marks count for one command. They differ, so that none is printed before the mark
/// that it makes valid.
#[derive(Debug, Clone)]
pub(super) struct MarkKeys {
    /// Key of the question for the place of the typed line, if the command file asks.
    pub(super) line: Option<String>,
    /// Key of the start mark.
    pub(super) start: String,
    /// Key of the end mark that the command file prints; `None` for a command that is typed as it is.
    pub(super) end: Option<String>,
    /// Key of the end mark that a shell with our start-up script prints at its prompt.
    pub(super) hook: String,
    /// Key of the end mark that answers a status query.
    pub(super) query: String,
}

impl MarkKeys {
    /// Random bytes in a key.
    const KEY_BYTES: usize = 12;

    /// New random keys.
    pub(super) fn new() -> io::Result<Self> {
        let key = || random::hex(Self::KEY_BYTES);
        Ok(Self { line: None, start: key()?, end: Some(key()?), hook: key()?, query: key()? })
    }

    /// The keys of a command that is typed as it is into a shell with this key.
    pub(super) fn of_shell(shell: &str) -> io::Result<Self> {
        let (start, hook) = (shell.to_owned(), shell.to_owned());
        Ok(Self { line: None, start, end: None, hook, query: random::hex(Self::KEY_BYTES)? })
    }

    /// These keys, with one for the question where the typed line is.
    pub(super) fn asking_for_line(self) -> io::Result<Self> {
        Ok(Self { line: Some(random::hex(Self::KEY_BYTES)?), ..self })
    }
}

/// A status as most shells report it: ksh uses 256 plus the signal where others use 128.
fn exit_code(status: i32) -> i32 {
    if status > 256 { status - 128 } else { status }
}

/// A piece of a pane's output stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum StreamPiece<'a> {
    /// Bytes that are not a mark.
    Text(&'a [u8]),
    /// A mark.
    Mark(Mark),
}

/// Splits a stream into text and marks, whatever the size of its chunks.
#[derive(Debug, Default)]
pub(super) struct MarkScanner {
    /// Bytes at the end of the last chunk that may be the beginning of a mark.
    held: Vec<u8>,
}

impl MarkScanner {
    pub(super) fn feed(&mut self, bytes: &[u8], mut sink: impl FnMut(StreamPiece<'_>)) {
        if self.held.is_empty() {
            self.held = scan(bytes, &mut sink).to_vec();
        } else {
            let mut joined = std::mem::take(&mut self.held);
            joined.extend_from_slice(bytes);
            self.held = scan(&joined, &mut sink).to_vec();
        }
    }
}

/// Passes every decided piece to `sink` and returns the undecided rest.
fn scan<'a>(bytes: &'a [u8], sink: &mut impl FnMut(StreamPiece<'_>)) -> &'a [u8] {
    let mut rest = bytes;
    let mut from = 0;
    while let Some(at) = rest.get(from..).and_then(|tail| memchr(0x1b, tail)).map(|n| from + n) {
        let (text, candidate) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        match match_mark(candidate) {
            MarkMatch::Complete(mark, length) => {
                if !text.is_empty() {
                    sink(StreamPiece::Text(text));
                }
                sink(StreamPiece::Mark(mark));
                rest = candidate.get(length..).unwrap_or_default();
                from = 0;
            }
            MarkMatch::Partial => {
                if !text.is_empty() {
                    sink(StreamPiece::Text(text));
                }
                return candidate;
            }
            MarkMatch::NotAMark => from = at + 1,
        }
    }
    if !rest.is_empty() {
        sink(StreamPiece::Text(rest));
    }
    &[]
}

/// Whether bytes begin with a mark.
enum MarkMatch {
    /// A mark, and its length in bytes.
    Complete(Mark, usize),
    /// More bytes are needed to decide.
    Partial,
    NotAMark,
}

/// Matches bytes that begin with ESC against a mark.
fn match_mark(bytes: &[u8]) -> MarkMatch {
    if bytes.len() < MARK_PREFIX.len() {
        return if MARK_PREFIX.starts_with(bytes) {
            MarkMatch::Partial
        } else {
            MarkMatch::NotAMark
        };
    }
    let Some(body) = bytes.strip_prefix(MARK_PREFIX) else {
        return MarkMatch::NotAMark;
    };
    let within = body.get(..MAX_MARK_BYTES.min(body.len())).unwrap_or(body);
    match within.iter().position(|&byte| !(0x20..0x7f).contains(&byte)) {
        None if within.len() < MAX_MARK_BYTES => MarkMatch::Partial,
        Some(end) if body.get(end) == Some(&0x07) => body
            .get(..end)
            .and_then(|body| std::str::from_utf8(body).ok())
            .and_then(Mark::parse)
            .map_or(MarkMatch::NotAMark, |mark| {
                MarkMatch::Complete(mark, MARK_PREFIX.len() + end + 1)
            }),
        _ => MarkMatch::NotAMark,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pieces of a stream, with adjacent text joined.
    fn pieces(chunks: &[&[u8]]) -> Vec<Result<Vec<u8>, Mark>> {
        let mut scanner = MarkScanner::default();
        let mut found: Vec<Result<Vec<u8>, Mark>> = Vec::new();
        for chunk in chunks {
            scanner.feed(chunk, |piece| match piece {
                StreamPiece::Text(text) => match found.last_mut() {
                    Some(Ok(last)) => last.extend_from_slice(text),
                    _ => found.push(Ok(text.to_vec())),
                },
                StreamPiece::Mark(mark) => found.push(Err(mark)),
            });
        }
        found
    }

    fn end(status: i32, key: &str) -> Result<Vec<u8>, Mark> {
        Err(Mark { key: key.to_owned(), kind: MarkKind::End(Some(status)) })
    }

    #[test]
    fn marks_are_separated_from_text() {
        let stream = [b"echo".as_slice(), b"\x1b]133;C;k=K\x07", b"out\r\n\x1b]133;D;42;k=K\x07$ "];
        let expected = [
            Ok(b"echo".to_vec()),
            Err(Mark { key: "K".into(), kind: MarkKind::Start }),
            Ok(b"out\r\n".to_vec()),
            end(42, "K"),
            Ok(b"$ ".to_vec()),
        ];
        assert_eq!(pieces(&[&stream.concat()]), expected);
    }

    #[test]
    fn ksh_signal_status_is_normalised() {
        assert_eq!(pieces(&[b"\x1b]133;D;258;k=K\x07"]), [end(130, "K")]);
    }

    #[test]
    fn sequences_without_a_valid_key_are_text() {
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
    fn mark_is_found_inside_an_open_sequence() {
        // A program may end in the middle of a sequence; the mark after it must be found.
        let stream = b"\x1b]133;D;\x1b]133;D;7;k=K\x07";
        assert_eq!(pieces(&[stream]), [Ok(b"\x1b]133;D;".to_vec()), end(7, "K")]);
    }

    /// Pieces of marks, in any order: broken, unterminated, far too long, and whole ones.
    fn hostile_stream() -> impl Strategy<Value = Vec<u8>> {
        let long = [b"\x1b]133;D;0;k=".as_slice(), &[b'a'; 300]].concat();
        let parts: Vec<Vec<u8>> = vec![
            b"\x1b".to_vec(),
            b"\x1b]".to_vec(),
            b"\x1b]133;".to_vec(),
            b"\x1b]133;D;".to_vec(),
            b"\x1b]133;D;99999999999;k=K\x07".to_vec(),
            b"\x1b]133;D;1;k=K\x07".to_vec(),
            b"\x1b]133;C;k=K\x07".to_vec(),
            b"\x1b]133;L;k=K\x07".to_vec(),
            b"k=K\x07".to_vec(),
            b"text \xff\xc3\r\n".to_vec(),
            long,
        ];
        prop::collection::vec(prop::sample::select(parts), 0..40).prop_map(|parts| parts.concat())
    }

    #[test]
    fn half_marks_are_passed_on_promptly() {
        let mut scanner = MarkScanner::default();
        let stream = b"\x1b]133;D;0;k=".repeat(100_000);
        let mut seen = 0;
        for byte in &stream {
            scanner.feed(&[*byte], |piece| match piece {
                StreamPiece::Text(text) => seen += text.len(),
                StreamPiece::Mark(mark) => panic!("{mark:?}"),
            });
            assert!(scanner.held.len() < MARK_PREFIX.len() + MAX_MARK_BYTES);
        }
        assert_eq!(seen + scanner.held.len(), stream.len());
    }

    proptest! {
        #[test]
        fn hostile_output_is_neither_lost_nor_changed(
            stream in hostile_stream(),
            sizes in prop::collection::vec(1usize..50, 1..20),
        ) {
            let mut chunks: Vec<&[u8]> = Vec::new();
            let mut rest = stream.as_slice();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (chunk, later) = rest.split_at((*size).min(rest.len()));
                chunks.push(chunk);
                rest = later;
            }
            // A line end decides whatever is held at the end of the stream.
            chunks.push(b"\n");
            let mut printed = Vec::new();
            for piece in pieces(&chunks) {
                match piece {
                    Ok(text) => printed.extend(text),
                    Err(Mark { kind: MarkKind::Start, .. }) => printed.extend(b"\x1b]133;C;k=K\x07"),
                    Err(Mark { kind: MarkKind::Line, .. }) => printed.extend(b"\x1b]133;L;k=K\x07"),
                    Err(Mark { kind: MarkKind::End(code), .. }) => {
                        let code = code.map_or("?".to_owned(), |code| code.to_string());
                        printed.extend(format!("\x1b]133;D;{code};k=K\x07").into_bytes());
                    }
                }
            }
            prop_assert_eq!(printed, [stream.as_slice(), b"\n"].concat());
        }

        #[test]
        fn pieces_do_not_depend_on_chunk_sizes(cuts in prop::collection::vec(0usize..60, 0..8)) {
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
