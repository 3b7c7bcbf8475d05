//! The raw output of a command for somebody who watches it: from where it begins, with the place
//! where it ends, and what the pane prints afterwards.

use std::sync::Arc;

use tmux_control::stream::PaneStream;

use super::follow::Keys;
use super::job::Job;
use super::marks::{Piece, Scanner, What};
use crate::host::PaneState;

/// A command that was typed.
pub struct Started {
    /// The command.
    pub job: Arc<Job>,
    /// Where it runs.
    pub pane: PaneState,
    /// The shell that runs it.
    pub(crate) shell: u32,
    /// All that the pane prints, from before it was typed.
    pub(crate) stream: PaneStream,
    /// Finds its output in that.
    pub(crate) trail: Trail,
}

/// Tells a command's output from the rest.
pub(crate) struct Trail {
    scanner: Scanner,
    keys: Keys,
    begun: bool,
    ended: bool,
}

/// A part of what a pane printed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Output, of the command or of whatever comes after it.
    Text(Vec<u8>),
    /// The command has ended with this code.
    End(i32),
}

impl Trail {
    pub(super) fn new(keys: Keys) -> Self {
        Self { scanner: Scanner::default(), keys, begun: false, ended: false }
    }

    /// Takes all that comes from now on for output: bytes were lost, maybe those that said so.
    pub(crate) fn begin(&mut self) {
        self.begun = true;
    }

    /// Whether the command's output has begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The parts of what was printed. What comes before the command's output is none.
    pub(crate) fn parts(&mut self, bytes: &[u8]) -> Vec<Part> {
        let mut parts = Vec::new();
        let Self { scanner, keys, begun, ended } = self;
        scanner.feed(bytes, |piece| match piece {
            Piece::Text(text) if *begun => parts.push(Part::Text(text.to_owned())),
            Piece::Text(_) => {}
            Piece::Mark(mark) => match mark.what {
                What::Start => *begun |= mark.key == keys.command,
                What::End(code) => {
                    let ours = mark.key == keys.command || keys.shell.as_ref() == Some(&mark.key);
                    if *begun && ours && !std::mem::replace(ended, true) {
                        parts.push(Part::End(code));
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
    fn a_command_begins_and_ends_at_its_own_marks() {
        let keys = Keys { command: "a".to_owned(), shell: Some("s".to_owned()) };
        let mut trail = Trail::new(keys);
        let text = |text: &str| Part::Text(text.as_bytes().to_owned());
        assert_eq!(trail.parts(b"$ echo\x1b]133;C;k=x\x07 x"), []);
        assert_eq!(trail.parts(b"\x1b]133;C;k=a\x07one\x1b]133;D;0;k=x\x07"), [text("one")]);
        let end = [text("two"), Part::End(3), text("$ ")];
        assert_eq!(trail.parts(b"two\x1b]133;D;3;k=a\x07$ "), end);
        assert_eq!(trail.parts(b"later\x1b]133;D;3;k=s\x07"), [text("later")]);
    }
}
