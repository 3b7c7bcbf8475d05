//! What can go wrong between us and a tmux server.

use std::io;
use std::time::Duration;

/// Every way in which talking to tmux fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tmux program could not be started because it is not there.
    #[error("there is no tmux program at `{program}`")]
    Missing {
        /// The path or name that was tried.
        program: String,
    },
    /// The tmux program is older than what this crate speaks.
    #[error("tmux {found} is too old, {} or newer is needed", crate::version::OLDEST)]
    TooOld {
        /// The version that was found.
        found: String,
    },
    /// No tmux server listens on the socket.
    #[error("no tmux server is running on {socket}")]
    NoServer {
        /// The socket that was tried.
        socket: String,
    },
    /// tmux refused a command; the message is tmux's own.
    #[error("tmux {command}: {message}")]
    Refused {
        /// The name of the command.
        command: String,
        /// What tmux said.
        message: String,
    },
    /// No reply came in time.
    #[error("tmux {command} gave no answer within {after:?}")]
    Timeout {
        /// The name of the command.
        command: String,
        /// How long was waited.
        after: Duration,
    },
    /// The connection broke after the command was sent, so nobody knows whether it was carried out.
    #[error("the connection to tmux broke while `{command}` was on its way")]
    Lost {
        /// The name of the command.
        command: String,
    },
    /// tmux answered with something that makes no sense.
    #[error("tmux {command} answered with something unexpected: {detail}")]
    Unexpected {
        /// The name of the command.
        command: String,
        /// What was wrong with the answer.
        detail: String,
    },
    /// A socket name or path that cannot be used.
    #[error("`{socket}` cannot be a tmux socket: {why}")]
    BadSocket {
        /// The name or path as it was given.
        socket: String,
        /// Why it cannot be used.
        why: &'static str,
    },
    /// Text with a NUL byte, which no tmux command can carry.
    #[error("an argument of tmux {command} holds a NUL byte")]
    NulByte {
        /// The name of the command.
        command: String,
    },
    /// The operating system refused something.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// The error for a reply that cannot be read.
    pub fn unexpected(command: &str, reply: &[u8]) -> Self {
        let detail = String::from_utf8_lossy(reply).chars().take(200).collect();
        Self::Unexpected { command: command.to_owned(), detail }
    }

    /// Whether tmux said that the object the command names does not exist.
    pub fn is_not_found(&self) -> bool {
        const WORDS: [&str; 4] = ["can't find", "no such", "no buffer ", "unknown buffer"];
        matches!(self, Self::Refused { message, .. }
            if WORDS.iter().any(|words| message.contains(words)))
    }

    /// Whether tmux said that the name is taken.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains("duplicate session"))
    }

    /// Whether there is no server to talk to.
    pub fn is_no_server(&self) -> bool {
        matches!(self, Self::NoServer { .. })
    }
}
