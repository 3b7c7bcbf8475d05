//! Filter for a pane's raw output: finds the text from the beginning of a command's output on, and the
//! command's exit code.

use super::marks::{MarkKeys, MarkKind, MarkScanner, StreamPiece};

/// Drops text that a pane prints before a command's output, and finds the end of the command.
pub(crate) struct OutputFilter {
    scanner: MarkScanner,
    keys: MarkKeys,
    begun: bool,
    ended: bool,
}

/// A part of the filtered output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OutputPart {
    /// Text that the command printed, or the pane after the command's end.
    Text(Vec<u8>),
    /// The command has ended with this code.
    End(i32),
}

impl OutputFilter {
    pub(super) fn new(keys: MarkKeys) -> Self {
        Self { scanner: MarkScanner::default(), keys, begun: false, ended: false }
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

    /// Filters the next bytes of the pane.
    pub(crate) fn parts(&mut self, bytes: &[u8]) -> Vec<OutputPart> {
        let mut parts = Vec::new();
        let Self { scanner, keys, begun, ended } = self;
        scanner.feed(bytes, |piece| match piece {
            StreamPiece::Text(text) if *begun => parts.push(OutputPart::Text(text.to_owned())),
            StreamPiece::Text(_) => {}
            StreamPiece::Mark(mark) => match mark.kind {
                MarkKind::Start => *begun |= mark.key == keys.command,
                MarkKind::End(code) => {
                    let ours = mark.key == keys.command || keys.shell.as_ref() == Some(&mark.key);
                    if *begun && ours && !std::mem::replace(ended, true) {
                        parts.push(OutputPart::End(code));
                    }
                }
            },
        });
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_delimited_by_marks_with_known_keys() {
        let keys = MarkKeys { command: "a".to_owned(), shell: Some("s".to_owned()) };
        let mut filter = OutputFilter::new(keys);
        let text = |text: &str| OutputPart::Text(text.as_bytes().to_owned());
        assert_eq!(filter.parts(b"$ echo\x1b]133;C;k=x\x07 x"), []);
        assert_eq!(filter.parts(b"\x1b]133;C;k=a\x07one\x1b]133;D;0;k=x\x07"), [text("one")]);
        let end = [text("two"), OutputPart::End(3), text("$ ")];
        assert_eq!(filter.parts(b"two\x1b]133;D;3;k=a\x07$ "), end);
        assert_eq!(filter.parts(b"later\x1b]133;D;3;k=s\x07"), [text("later")]);
    }
}
