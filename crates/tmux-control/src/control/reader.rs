//! Splits the byte stream of a control client into replies and notifications. Pure.
//!
//! tmux never sends a notification within a reply, so there only the matching `%end` or `%error` is
//! special: a path that holds a line end and `%end` does not end the reply.

use crate::control::line::{ControlLine, ReplyGuard};

/// The reply to one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyBlock {
    /// Whether this client sent the command.
    pub ours: bool,
    /// Whether the command succeeded.
    pub ok: bool,
    /// The output of the command or the error message, line ends included.
    pub body: Vec<u8>,
}

/// A complete element of the byte stream.
#[derive(Debug, PartialEq, Eq)]
pub enum ControlItem<'a> {
    /// A reply.
    Reply(ReplyBlock),
    /// A line outside of replies.
    Line(ControlLine<'a>),
    /// A line that violates the protocol: the stream can no longer be trusted.
    Garbage(&'a [u8]),
}

/// A reply whose end has not come yet.
#[derive(Debug)]
struct OpenReply {
    guard: ReplyGuard,
    body: Vec<u8>,
}

/// The state of the reader between two reads.
#[derive(Debug, Default)]
pub struct ControlReader {
    open: Option<OpenReply>,
    /// The beginning of a line whose end has not come yet.
    partial: Vec<u8>,
}

impl ControlReader {
    /// Adds the bytes of one read and calls `sink` for every item that they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(ControlItem<'_>)) {
        while let Some((line, rest)) =
            memchr::memchr(b'\n', bytes).and_then(|at| bytes.split_at_checked(at))
        {
            bytes = rest.get(1..).unwrap_or_default();
            if self.partial.is_empty() {
                self.take_line(line, &mut sink);
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.take_line(&whole, &mut sink);
            }
        }
        self.partial.extend_from_slice(bytes);
    }

    fn take_line(&mut self, line: &[u8], sink: &mut impl FnMut(ControlItem<'_>)) {
        if let Some(open) = &mut self.open {
            let ok = match ControlLine::parse(line) {
                Some(ControlLine::End(guard)) if guard == open.guard => true,
                Some(ControlLine::Error(guard)) if guard == open.guard => false,
                _ => {
                    open.body.extend_from_slice(line);
                    open.body.push(b'\n');
                    return;
                }
            };
            if let Some(open) = self.open.take() {
                sink(ControlItem::Reply(ReplyBlock { ours: open.guard.ours, ok, body: open.body }));
            }
            return;
        }
        match ControlLine::parse(line) {
            Some(ControlLine::Begin(guard)) => {
                self.open = Some(OpenReply { guard, body: Vec::new() });
            }
            Some(ControlLine::End(_) | ControlLine::Error(_)) | None => {
                sink(ControlItem::Garbage(line));
            }
            Some(line) => sink(ControlItem::Line(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn items(chunks: &[&[u8]]) -> Vec<String> {
        let mut reader = ControlReader::default();
        let mut out = Vec::new();
        for chunk in chunks {
            reader.push(chunk, |item| out.push(format!("{item:?}")));
        }
        out
    }

    const SAMPLE: &[u8] = b"%begin 1 2 0\n%end 1 2 0\n%session-changed $0 a\n%begin 1 3 1\none\n\
        %end 1 2 1\ntwo\n%end 1 3 1\n%output %0 hi\\015\\012\n%begin 1 4 1\nbad\n%error 1 4 1\n%exit\n";

    #[test]
    fn foreign_end_line_within_a_reply_is_text() {
        let mut reader = ControlReader::default();
        let mut replies = Vec::new();
        reader.push(SAMPLE, |item| {
            if let ControlItem::Reply(reply) = item {
                replies.push(reply);
            }
        });
        assert_eq!(replies.len(), 3);
        assert_eq!(replies[1].body, b"one\n%end 1 2 1\ntwo\n");
        assert!(replies[1].ok && replies[1].ours && !replies[0].ours && !replies[2].ok);
    }

    #[test]
    fn lines_outside_the_protocol_are_garbage() {
        assert_eq!(items(&[b"%end 1 2 1\n"]).len(), 1);
        assert!(items(&[b"%end 1 2 1\n"])[0].starts_with("Garbage"));
        assert!(items(&[b"hello\n"])[0].starts_with("Garbage"));
    }

    proptest! {
        #[test]
        fn items_do_not_depend_on_read_sizes(cuts in proptest::collection::vec(0..SAMPLE.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&SAMPLE[from..cut]);
                from = cut;
            }
            chunks.push(&SAMPLE[from..]);
            prop_assert_eq!(items(&chunks), items(&[SAMPLE]));
        }

        #[test]
        fn reader_never_panics(bytes: Vec<u8>) {
            items(&[&bytes, b"\n", &bytes]);
        }
    }
}
