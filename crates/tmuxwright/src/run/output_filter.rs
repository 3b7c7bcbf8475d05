//! Filter for a pane's raw output: finds the text from the beginning of a command's output on, and the
//! command's exit code.
//!
//! An end mark is held until the caller knows that the shell is back at its prompt. The shell prints its
//! mark after all that the command's programs have printed, so the last one that came before counts.
//! Text that follows a mark is held with it, since a later mark makes that text output.

use super::marks::{MarkKeys, MarkKind, MarkScanner, StreamPiece};

/// Limit for the held text. A prompt is far shorter.
const MAX_HELD_BYTES: usize = 1 << 20;

/// Drops text that a pane prints before a command's output, and finds the end of the command.
#[derive(Debug)]
pub(crate) struct OutputFilter {
    scanner: MarkScanner,
    keys: MarkKeys,
    begun: bool,
    /// Text from before the command's output: the echo of the typed line.
    echo: Vec<u8>,
    held: Option<HeldEnd>,
    ended: bool,
}

/// An end mark that is not confirmed yet, and the text that came after it.
#[derive(Debug)]
struct HeldEnd {
    code: i32,
    /// Whether the shell's hook printed it, not the command file.
    by_hook: bool,
    /// Whether the hook's mark followed that of the command file, or is the only one.
    at_prompt: bool,
    after: Vec<u8>,
    /// Bytes beyond the limit.
    dropped: u64,
}

/// A part of the filtered output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputPart {
    /// Text that the command printed, or the pane after the command's end.
    Text(Vec<u8>),
    /// This many bytes were lost here.
    Lost(u64),
}

impl OutputFilter {
    pub(super) fn new(keys: MarkKeys) -> Self {
        let scanner = MarkScanner::default();
        Self { scanner, keys, begun: false, echo: Vec::new(), held: None, ended: false }
    }

    /// Treats all further bytes as output. For a gap in the stream, which may have held the start
    /// mark.
    pub(crate) fn begin(&mut self) {
        self.begun = true;
    }

    /// Whether the command's output has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Takes the text that came before the command's output.
    pub(super) fn take_echo(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.echo)
    }

    /// Whether an end mark is held.
    pub(super) fn holds_end(&self) -> bool {
        self.held.is_some()
    }

    /// Whether the held mark was followed by the one that the shell prints at its prompt, so that no
    /// further mark is on its way.
    pub(super) fn holds_last_mark(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.at_prompt)
    }

    /// Whether the held mark is that of the command file, and the one at the prompt may follow.
    pub(super) fn awaits_last_mark(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.by_hook && !held.at_prompt)
    }

    /// Filters the next bytes of the pane. Text after a held end mark is held too.
    pub(crate) fn parts(&mut self, bytes: &[u8]) -> Vec<OutputPart> {
        let mut parts = Vec::new();
        let Self { scanner, keys, begun, echo, held, ended } = self;
        scanner.feed(bytes, |piece| match piece {
            StreamPiece::Text(text) if !*begun => {
                let room = MAX_HELD_BYTES.saturating_sub(echo.len());
                echo.extend(text.iter().take(room));
            }
            StreamPiece::Text(text) => match held {
                Some(held) => held.add(text),
                None => parts.push(OutputPart::Text(text.to_owned())),
            },
            StreamPiece::Mark(mark) => match mark.kind {
                MarkKind::Start => *begun |= mark.key == keys.start,
                MarkKind::End(code) if *begun && !*ended => {
                    let by_hook = mark.key == keys.hook;
                    match held {
                        // The shell prints a hook's mark after that of the command file, or twice.
                        Some(held) if by_hook && held.code == code => {
                            held.at_prompt |= !held.by_hook;
                        }
                        _ if by_hook
                            || keys.end.as_ref() == Some(&mark.key)
                            || mark.key == keys.query =>
                        {
                            // A command that is typed as it is has no other mark.
                            let at_prompt = by_hook && keys.end.is_none();
                            let end = HeldEnd::new(code, by_hook, at_prompt);
                            let output = held.replace(end).map(HeldEnd::into_output);
                            parts.extend(output.into_iter().flatten());
                        }
                        _ => {}
                    }
                }
                MarkKind::End(_) => {}
            },
        });
        parts
    }

    /// Confirms the held end mark: the shell is back at its prompt, and all that it printed before was
    /// filtered. Returns the command's exit code, and the text after the mark.
    pub(crate) fn confirm(&mut self) -> Option<(i32, Vec<u8>)> {
        let held = self.held.take()?;
        self.ended = true;
        Some((held.code, held.after))
    }
}

impl HeldEnd {
    fn new(code: i32, by_hook: bool, at_prompt: bool) -> Self {
        Self { code, by_hook, at_prompt, after: Vec::new(), dropped: 0 }
    }

    fn add(&mut self, text: &[u8]) {
        let room = MAX_HELD_BYTES.saturating_sub(self.after.len()).min(text.len());
        let (kept, dropped) = text.split_at_checked(room).unwrap_or((text, &[]));
        self.after.extend_from_slice(kept);
        self.dropped += dropped.len() as u64;
    }

    /// The text after the mark as output, since the mark was not the last one.
    fn into_output(self) -> impl Iterator<Item = OutputPart> {
        let text = (!self.after.is_empty()).then_some(OutputPart::Text(self.after));
        let lost = (self.dropped > 0).then_some(OutputPart::Lost(self.dropped));
        text.into_iter().chain(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> OutputFilter {
        let [start, end, hook, query] = ["a", "b", "h", "q"].map(str::to_owned);
        OutputFilter::new(MarkKeys { start, end: Some(end), hook, query })
    }

    fn text(text: &str) -> OutputPart {
        OutputPart::Text(text.as_bytes().to_owned())
    }

    #[test]
    fn output_is_delimited_by_marks_with_known_keys() {
        let mut filter = filter();
        assert_eq!(filter.parts(b"$ echo\x1b]133;C;k=x\x07 x\x1b]133;D;0;k=b\x07"), []);
        assert_eq!(filter.take_echo(), b"$ echo x");
        assert_eq!(filter.parts(b"\x1b]133;C;k=a\x07one\x1b]133;D;0;k=x\x07"), [text("one")]);
        assert_eq!(filter.parts(b"two\x1b]133;D;0;k=a\x07"), [text("two")]);
        assert_eq!((filter.confirm(), filter.holds_end()), (None, false));
        assert_eq!(filter.parts(b"\x1b]133;D;3;k=b\x07$ "), []);
        assert!(filter.holds_end());
        assert_eq!(filter.confirm(), Some((3, b"$ ".to_vec())));
        assert_eq!(filter.parts(b"later\x1b]133;D;3;k=b\x07"), [text("later")]);
    }

    #[test]
    fn last_end_mark_before_the_prompt_counts() {
        let mut filter = filter();
        let early = b"\x1b]133;C;k=a\x07\x1b]133;D;0;k=b\x07hidden\x1b]133;D;3;k=b\x07$ ";
        assert_eq!(filter.parts(early), [text("hidden")]);
        assert_eq!(filter.confirm(), Some((3, b"$ ".to_vec())));
    }

    #[test]
    fn mark_of_a_hook_counts_unless_it_repeats() {
        let mut repeated = filter();
        let marks = b"\x1b]133;C;k=a\x07x\x1b]133;D;3;k=b\x07%\x1b]133;D;3;k=h\x07$ ";
        assert_eq!(repeated.parts(marks), [text("x")]);
        assert!(repeated.holds_last_mark());
        assert_eq!(repeated.confirm(), Some((3, b"%$ ".to_vec())));
        let mut other = filter();
        let marks = b"\x1b]133;C;k=a\x07x\x1b]133;D;0;k=b\x07y\x1b]133;D;130;k=h\x07$ ";
        assert_eq!(other.parts(marks), [text("x"), text("y")]);
        assert_eq!(other.parts(b"\x1b]133;D;130;k=h\x07"), []);
        assert!(!other.holds_last_mark());
        assert_eq!(other.confirm(), Some((130, b"$ ".to_vec())));
    }

    #[test]
    fn held_text_beyond_the_limit_is_reported_lost() {
        let mut filter = filter();
        filter.parts(b"\x1b]133;C;k=a\x07\x1b]133;D;0;k=b\x07");
        let much = vec![b'x'; MAX_HELD_BYTES + 7];
        assert_eq!(filter.parts(&much), []);
        let kept = OutputPart::Text(much[..MAX_HELD_BYTES].to_vec());
        assert_eq!(filter.parts(b"\x1b]133;D;1;k=b\x07"), [kept, OutputPart::Lost(7)]);
    }
}
