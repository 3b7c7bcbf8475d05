//! Errors of talking to a tmux server.

use std::io;
use std::time::Duration;

/// The reason why talking to tmux failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tmux program does not exist or may not be executed.
    #[error("there is no tmux program at `{program}`")]
    Missing {
        /// The path or name that was tried.
        program: String,
    },
    /// The tmux server is older than this crate supports.
    #[error("tmux {found} is too old, {} or newer is needed", crate::version::OLDEST_SUPPORTED)]
    TooOld {
        /// The version that was found.
        found: String,
    },
    /// No tmux server listens on the socket.
    #[error("no tmux server is running on {socket}")]
    NoServer {
        /// The path of the socket.
        socket: String,
    },
    /// tmux refused a command; the message is tmux's own.
    #[error("tmux {command}: {message}")]
    Refused {
        /// The name of the command.
        command: String,
        /// The message of tmux.
        message: String,
    },
    /// Input was not sent: `synchronize-panes` would copy it to panes it is not meant for.
    #[error("the panes of the window of {pane} are synchronized: others would receive the input")]
    Synchronized {
        /// The pane that was typed into.
        pane: String,
    },
    /// The limit of waits for channels is reached.
    #[error(
        "{} waits for channels are in progress, and no more can begin",
        crate::channel::MAX_CHANNEL_WAITS
    )]
    TooManyWaits,
    /// No reply came before the deadline.
    #[error("tmux {command} sent no reply within {after:?}")]
    Timeout {
        /// The name of the command.
        command: String,
        /// The time allowed.
        after: Duration,
    },
    /// The reply is behind output that tmux sends on the same connection, and that does not end.
    #[error(
        "a pane of the same session prints faster than its output can be read: the reply of tmux is \
         still behind that output after {after:?}"
    )]
    Behind {
        /// The time waited.
        after: Duration,
    },
    /// The connection broke after the command was sent, so it is unknown whether tmux executed it.
    #[error("the connection to tmux broke before the reply to `{command}` came")]
    Lost {
        /// The name of the command.
        command: String,
    },
    /// The reply of tmux cannot be parsed.
    #[error("tmux {command} sent an unexpected reply: {detail}")]
    Unexpected {
        /// The name of the command.
        command: String,
        /// The beginning of the reply, or the fault in it.
        detail: String,
    },
    /// The text is not a valid socket name or path.
    #[error("`{socket}` cannot be a tmux socket: {why}")]
    BadSocket {
        /// The name or path as given.
        socket: String,
        /// The reason.
        why: &'static str,
    },
    /// An argument holds a NUL byte, which no tmux command can.
    #[error("an argument of tmux {command} holds a NUL byte")]
    NulByte {
        /// The name of the command.
        command: String,
    },
    /// The system on which the tmux server runs cannot be reached.
    #[error("`{host}` cannot be reached: {reason}")]
    Unreachable {
        /// The name of the system.
        host: String,
        /// The reason.
        reason: String,
    },
    /// The connection to the system broke after something was sent, so it is unknown whether it ran.
    #[error("the connection to `{host}` was lost: {reason}")]
    HostLost {
        /// The name of the system.
        host: String,
        /// The reason.
        reason: String,
    },
    /// An operating system call failed.
    #[error("{operation}: {source}")]
    Io {
        /// The operation that failed.
        operation: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// The error for a reply that cannot be parsed.
    pub fn unexpected(command: &str, reply: &[u8]) -> Self {
        let detail = String::from_utf8_lossy(reply).chars().take(200).collect();
        Self::Unexpected { command: command.to_owned(), detail }
    }

    /// Whether tmux reported that the command's target does not exist.
    pub fn is_not_found(&self) -> bool {
        const WORDS: [&str; 4] = ["can't find", "no such", "no buffer ", "unknown buffer"];
        matches!(self, Self::Refused { message, .. }
            if WORDS.iter().any(|words| message.contains(words)))
    }

    /// Whether tmux reported that the session name is taken.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains("duplicate session"))
    }

    /// Whether another attempt would fail in the same way: tmux is missing or too old, or its system cannot
    /// be reached.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::TooOld { .. } | Self::Unreachable { .. })
    }

    /// Whether no tmux server is running.
    pub fn is_no_server(&self) -> bool {
        matches!(self, Self::NoServer { .. })
    }
}
