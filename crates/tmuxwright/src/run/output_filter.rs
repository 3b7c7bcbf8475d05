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
    phase: Phase,
    /// Text from before the command's output: the echo of the typed line.
    echo: Vec<u8>,
    /// Whether the shell has asked where its typed line is.
    line_asked: bool,
}

/// The phases of a command. Each follows the one above it; a later end mark replaces a held one.
#[derive(Debug)]
enum Phase {
    /// Its line is typed; its shell has not begun it.
    Typed,
    /// It prints.
    Running,
    /// An end mark has come, which counts once the shell is known to be back.
    Marked(HeldEnd),
    /// Its end is confirmed; what comes now is not its output.
    Ended,
}

/// An end mark that is not confirmed yet, and the text that came after it.
#[derive(Debug)]
struct HeldEnd {
    /// The status; `None` if the shell does not know it any more.
    code: Option<i32>,
    printer: Printer,
    after: Vec<u8>,
    /// Bytes beyond the limit.
    dropped: u64,
}

/// Who printed an end mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Printer {
    /// The command file, or the answer to a query. The mark at the prompt may follow.
    CommandFile,
    /// The shell at its prompt, without the command file: it was dropped.
    Hook,
    /// The shell at its prompt, where no further mark can follow.
    LastMark,
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
        let (scanner, echo) = (MarkScanner::default(), Vec::new());
        Self { scanner, keys, phase: Phase::Typed, echo, line_asked: false }
    }

    /// Treats all further bytes as output. For a gap in the stream, which may have held the start
    /// mark.
    pub(crate) fn begin(&mut self) {
        self.phase.begin();
    }

    /// Whether the command's output has begun.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.phase, Phase::Typed)
    }

    /// Takes the text that came before the command's output.
    pub(super) fn take_echo(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.echo)
    }

    /// Takes the shell's question where its typed line is. Returns whether there was one.
    pub(super) fn take_line_query(&mut self) -> bool {
        std::mem::take(&mut self.line_asked)
    }

    /// Whether an end mark is held.
    pub(super) fn holds_end(&self) -> bool {
        matches!(self.phase, Phase::Marked(_))
    }

    /// Whether no further mark is on its way after the held one.
    pub(super) fn holds_last_mark(&self) -> bool {
        self.phase.is_marked_by(Printer::LastMark)
    }

    /// Whether the held mark is that of the command file, and the one at the prompt may follow.
    pub(super) fn awaits_last_mark(&self) -> bool {
        self.phase.is_marked_by(Printer::CommandFile)
    }

    /// Filters the next bytes of the pane. Text after a held end mark is held too.
    pub(crate) fn parts(&mut self, bytes: &[u8]) -> Vec<OutputPart> {
        let mut parts = Vec::new();
        let Self { scanner, keys, phase, echo, line_asked } = self;
        scanner.feed(bytes, |piece| match piece {
            StreamPiece::Text(text) => match phase {
                Phase::Typed => {
                    let room = MAX_HELD_BYTES.saturating_sub(echo.len());
                    echo.extend(text.iter().take(room));
                }
                Phase::Marked(held) => held.add(text),
                Phase::Running | Phase::Ended => parts.push(OutputPart::Text(text.to_owned())),
            },
            StreamPiece::Mark(mark) => match mark.kind {
                MarkKind::Start if mark.key == keys.start => phase.begin(),
                MarkKind::End(code) => {
                    if let Some(printer) = keys.printer(&mark.key) {
                        parts.extend(phase.mark(code, printer));
                    }
                }
                MarkKind::Line if keys.line.as_ref() == Some(&mark.key) => *line_asked = true,
                MarkKind::Start | MarkKind::Line => {}
            },
        });
        parts
    }

    /// Confirms the held end mark: the shell is back at its prompt, and all that it printed before was
    /// filtered. Returns the command's exit code, if the shell knows it, and the text after the mark.
    pub(crate) fn confirm(&mut self) -> Option<(Option<i32>, Vec<u8>)> {
        if !self.holds_end() {
            return None;
        }
        match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Marked(held) => Some((held.code, held.after)),
            _ => None,
        }
    }
}

impl MarkKeys {
    /// Who prints end marks with this key; `None` for a stranger.
    fn printer(&self, key: &str) -> Option<Printer> {
        if key == self.hook {
            // A command that is typed as it is has no other mark.
            return Some(if self.end.is_none() { Printer::LastMark } else { Printer::Hook });
        }
        (self.end.as_deref() == Some(key) || key == self.query).then_some(Printer::CommandFile)
    }
}

impl Phase {
    fn begin(&mut self) {
        if matches!(self, Self::Typed) {
            *self = Self::Running;
        }
    }

    fn is_marked_by(&self, printer: Printer) -> bool {
        matches!(self, Self::Marked(held) if held.printer == printer)
    }

    /// Holds an end mark. Returns the output that the mark before it turns out not to have ended.
    fn mark(
        &mut self,
        code: Option<i32>,
        printer: Printer,
    ) -> impl Iterator<Item = OutputPart> + use<> {
        let mut output = None;
        match self {
            Self::Typed | Self::Ended => {}
            // The shell prints a hook's mark after that of the command file, or twice.
            Self::Marked(held)
                if printer != Printer::CommandFile && (code.is_none() || held.code == code) =>
            {
                if held.printer == Printer::CommandFile {
                    held.printer = Printer::LastMark;
                }
            }
            Self::Running | Self::Marked(_) => {
                let held = HeldEnd { code, printer, after: Vec::new(), dropped: 0 };
                if let Self::Marked(before) = std::mem::replace(self, Self::Marked(held)) {
                    output = Some(before.into_output());
                }
            }
        }
        output.into_iter().flatten()
    }
}

impl HeldEnd {
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
        OutputFilter::new(MarkKeys { line: None, start, end: Some(end), hook, query })
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
        assert_eq!(filter.confirm(), Some((Some(3), b"$ ".to_vec())));
        assert_eq!(filter.parts(b"later\x1b]133;D;3;k=b\x07"), [text("later")]);
    }

    #[test]
    fn last_end_mark_before_the_prompt_counts() {
        let mut filter = filter();
        let early = b"\x1b]133;C;k=a\x07\x1b]133;D;0;k=b\x07hidden\x1b]133;D;3;k=b\x07$ ";
        assert_eq!(filter.parts(early), [text("hidden")]);
        assert_eq!(filter.confirm(), Some((Some(3), b"$ ".to_vec())));
    }

    #[test]
    fn mark_of_a_hook_counts_unless_it_repeats() {
        let mut repeated = filter();
        let marks = b"\x1b]133;C;k=a\x07x\x1b]133;D;3;k=b\x07%\x1b]133;D;3;k=h\x07$ ";
        assert_eq!(repeated.parts(marks), [text("x")]);
        assert!(repeated.holds_last_mark());
        assert_eq!(repeated.confirm(), Some((Some(3), b"%$ ".to_vec())));
        let mut other = filter();
        let marks = b"\x1b]133;C;k=a\x07x\x1b]133;D;0;k=b\x07y\x1b]133;D;130;k=h\x07$ ";
        assert_eq!(other.parts(marks), [text("x"), text("y")]);
        assert_eq!(other.parts(b"\x1b]133;D;130;k=h\x07"), []);
        assert!(!other.holds_last_mark());
        assert_eq!(other.confirm(), Some((Some(130), b"$ ".to_vec())));
        // A hook that does not know the status confirms that of the command file.
        let mut unknown = filter();
        let marks = b"\x1b]133;C;k=a\x07x\x1b]133;D;5;k=b\x07y\x1b]133;D;?;k=h\x07$ ";
        assert_eq!(unknown.parts(marks), [text("x")]);
        assert!(unknown.holds_last_mark());
        assert_eq!(unknown.confirm(), Some((Some(5), b"y$ ".to_vec())));
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
