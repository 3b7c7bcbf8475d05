//! Parser for one line of the control-mode protocol. Pure.

use std::borrow::Cow;

use crate::id::{PaneId, SessionId, WindowId};

/// The three numbers after `%begin`, `%end` and `%error`. They are equal at both ends of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyGuard {
    /// When the command ran, in seconds since the epoch.
    pub time: u64,
    /// The command's number on this server.
    pub number: u64,
    /// Whether this client sent the command; otherwise it is of a hook or of the attach itself.
    pub ours: bool,
}

/// A protocol line: a delimiter of a reply, or a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ControlLine<'a> {
    /// A reply begins.
    Begin(ReplyGuard),
    /// A successful reply ends.
    End(ReplyGuard),
    /// A failed reply ends; its text is the error message.
    Error(ReplyGuard),
    /// Output of a pane's program.
    Output {
        /// The pane.
        pane: PaneId,
        /// The output, unescaped.
        bytes: Cow<'a, [u8]>,
    },
    /// tmux sends no more output of a pane to this client, and has discarded the unsent output.
    PanePaused(PaneId),
    /// tmux sends the output of a paused pane again.
    PaneContinued(PaneId),
    /// tmux ends this client.
    Exit,
    /// The list of sessions has changed.
    SessionsChanged,
    /// A session was renamed.
    SessionRenamed(SessionId),
    /// A window was created in a session, or linked into it.
    WindowAdded(WindowId),
    /// A window was closed, or unlinked from a session.
    WindowClosed(WindowId),
    /// A window was renamed.
    WindowRenamed(WindowId),
    /// Panes of a window were created, closed, moved or resized.
    LayoutChanged(WindowId),
    /// A pane entered or left a mode such as copy mode.
    PaneModeChanged(PaneId),
    /// Another window of a session became the current one.
    WindowSelected(SessionId),
    /// Another pane of a window became the active one.
    PaneSelected(WindowId),
    /// A tmux client attached, detached or switched to another session.
    ClientsChanged,
    /// This client is attached to this session now.
    Attached(SessionId),
    /// The value of a subscribed format has changed.
    SubscriptionChanged,
    /// Any other line that starts with `%`.
    Other(&'a [u8]),
}

impl<'a> ControlLine<'a> {
    /// Parses a line without its line end. `None` if it is not a line of the protocol.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"%")?;
        let (name, args) = split_word(rest);
        Some(match name {
            b"output" => {
                let (pane, data) = split_word(args);
                Self::Output { pane: id(pane)?, bytes: unescape(data) }
            }
            b"extended-output" => {
                // `%3 AGE … : DATA`: later versions may add fields before the colon.
                let (pane, more) = split_word(args);
                let colon = memchr::memmem::find(more, b": ").map(|at| at + 2)?;
                Self::Output { pane: id(pane)?, bytes: unescape(more.get(colon..)?) }
            }
            b"begin" => Self::Begin(guard(args)?),
            b"end" => Self::End(guard(args)?),
            b"error" => Self::Error(guard(args)?),
            b"pause" => Self::PanePaused(id(split_word(args).0)?),
            b"continue" => Self::PaneContinued(id(split_word(args).0)?),
            b"exit" => Self::Exit,
            b"sessions-changed" => Self::SessionsChanged,
            b"session-renamed" => match id(split_word(args).0) {
                Some(session) => Self::SessionRenamed(session),
                None => Self::SessionsChanged,
            },
            b"window-add" | b"unlinked-window-add" => Self::WindowAdded(id(split_word(args).0)?),
            b"window-close" | b"unlinked-window-close" => {
                Self::WindowClosed(id(split_word(args).0)?)
            }
            b"window-renamed" | b"unlinked-window-renamed" => {
                Self::WindowRenamed(id(split_word(args).0)?)
            }
            b"layout-change" => Self::LayoutChanged(id(split_word(args).0)?),
            b"pane-mode-changed" => Self::PaneModeChanged(id(split_word(args).0)?),
            b"session-window-changed" => Self::WindowSelected(id(split_word(args).0)?),
            b"window-pane-changed" => Self::PaneSelected(id(split_word(args).0)?),
            b"session-changed" => Self::Attached(id(split_word(args).0)?),
            b"client-session-changed" | b"client-detached" => Self::ClientsChanged,
            b"subscription-changed" => Self::SubscriptionChanged,
            _ => Self::Other(rest),
        })
    }
}

fn split_word(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b' ', bytes).and_then(|at| bytes.split_at_checked(at)) {
        Some((word, rest)) => (word, rest.get(1..).unwrap_or_default()),
        None => (bytes, &[]),
    }
}

fn id<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn guard(args: &[u8]) -> Option<ReplyGuard> {
    let mut numbers = std::str::from_utf8(args).ok()?.split(' ').map(|n| n.parse::<u64>().ok());
    let (time, number, flags) = (numbers.next()??, numbers.next()??, numbers.next()??);
    Some(ReplyGuard { time, number, ours: flags & 1 == 1 })
}

/// Undoes the octal escapes (`\033`) of control bytes and backslashes in `%output`.
pub fn unescape(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', data) else {
        return Cow::Borrowed(data);
    };
    let (clean, mut rest) = data.split_at(first);
    let mut out = Vec::with_capacity(data.len());
    out.extend_from_slice(clean);
    loop {
        rest = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                tail
            }
            [byte, tail @ ..] => {
                out.push(*byte);
                tail
            }
            [] => return Cow::Owned(out),
        };
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let (clean, tail) = rest.split_at(plain);
        out.extend_from_slice(clean);
        rest = tail;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn output(line: &str) -> (u32, Vec<u8>) {
        match ControlLine::parse(line.as_bytes()) {
            Some(ControlLine::Output { pane, bytes }) => (pane.0, bytes.into_owned()),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn output_is_unescaped() {
        assert_eq!(output(r"%output %3 a\033[1mb\134\015\012"), (3, b"a\x1b[1mb\\\r\n".to_vec()));
        assert_eq!(output("%output %3 "), (3, vec![]));
        assert_eq!(output("%extended-output %7 120 : x : y"), (7, b"x : y".to_vec()));
    }

    #[test]
    fn reply_guards_are_parsed() {
        assert_eq!(
            ControlLine::parse(b"%begin 1700000000 42 1"),
            Some(ControlLine::Begin(ReplyGuard { time: 1_700_000_000, number: 42, ours: true }))
        );
        assert_eq!(ControlLine::parse(b"%begin 1 2"), None);
        assert_eq!(ControlLine::parse(b"%end x y z"), None);
    }

    #[test]
    fn lines_outside_the_protocol_are_refused() {
        assert_eq!(ControlLine::parse(b""), None);
        assert_eq!(ControlLine::parse(b"plain text"), None);
        assert_eq!(ControlLine::parse(b"%output nothing"), None);
        assert_eq!(
            ControlLine::parse(b"%config-error x"),
            Some(ControlLine::Other(b"config-error x"))
        );
    }

    #[test]
    fn session_renames_of_every_version_are_parsed() {
        assert_eq!(
            ControlLine::parse(b"%session-renamed $2 new name"),
            Some(ControlLine::SessionRenamed(SessionId(2)))
        );
        assert_eq!(
            ControlLine::parse(b"%session-renamed name"),
            Some(ControlLine::SessionsChanged)
        );
    }

    #[test]
    fn selection_client_and_subscription_notifications_are_parsed() {
        let parse = |line: &'static str| ControlLine::parse(line.as_bytes()).unwrap();
        assert_eq!(
            parse("%session-window-changed $1 @4"),
            ControlLine::WindowSelected(SessionId(1))
        );
        assert_eq!(parse("%window-pane-changed @4 %6"), ControlLine::PaneSelected(WindowId(4)));
        assert_eq!(parse("%session-changed $3 a"), ControlLine::Attached(SessionId(3)));
        assert_eq!(parse("%client-session-changed /dev/pts/1 $0 a"), ControlLine::ClientsChanged);
        assert_eq!(parse("%client-detached client-77"), ControlLine::ClientsChanged);
        assert_eq!(
            parse("%subscription-changed x $0 - - - : %end 1 2 3"),
            ControlLine::SubscriptionChanged
        );
    }

    /// Escapes bytes as tmux does in `%output`.
    fn escape(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for &byte in bytes {
            if byte < b' ' || byte == b'\\' {
                out.extend_from_slice(format!("\\{byte:03o}").as_bytes());
            } else {
                out.push(byte);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn unescape_inverts_the_escaping_of_tmux(bytes: Vec<u8>) {
            let escaped = escape(&bytes);
            prop_assert_eq!(unescape(&escaped).into_owned(), bytes);
        }

        #[test]
        fn parser_never_panics(line: Vec<u8>) {
            let _ = ControlLine::parse(&line);
            let _ = ControlLine::parse(&[b"%output %1 ", &line[..]].concat());
            let _ = ControlLine::parse(&[b"%begin ", &line[..]].concat());
        }
    }
}
