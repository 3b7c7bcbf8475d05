//! How a call fails: a code programs can branch on, a message with the value that was wrong, and
//! the next step.

use std::fmt;

use tmux_control::target::TargetError;

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// Every way a call can fail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Code {
            /// All codes, with what they mean.
            pub const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$variant, $name, concat!($($doc),*)),)*];

            /// The code as it is sent.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

codes! {
    /// An argument is missing, unknown, of the wrong type or out of range.
    InvalidArgument = "invalid_argument",
    /// There is no tool of this name, or it is not enabled.
    UnknownTool = "unknown_tool",
    /// There is no session, window, pane, client, buffer, option, variable or prompt of this name.
    NotFound = "not_found",
    /// The target fits more than one object.
    Ambiguous = "ambiguous",
    /// An object of this name exists already.
    Exists = "exists",
    /// The policy does not allow the call.
    Denied = "denied",
    /// The pane cannot take input now: its program has exited, it is in copy mode, or input is off.
    NotReady = "not_ready",
    /// Something else runs in the pane: a command, a program, or the shell itself.
    Busy = "busy",
    /// A file cannot be read or written.
    FileFailed = "file_failed",
    /// No tmux server is running.
    NoServer = "no_server",
    /// tmux is not installed, or is too old.
    TmuxMissing = "tmux_missing",
    /// tmux refused the command.
    TmuxRefused = "tmux_refused",
    /// tmux did not answer in time.
    Timeout = "timeout",
    /// The connection to tmux broke; nobody knows whether the call took effect.
    Lost = "lost",
    /// The audit log cannot be written, and nothing is done until it can.
    AuditFailed = "audit_failed",
    /// The client cancelled the call.
    Cancelled = "cancelled",
    /// A mistake of this program.
    Internal = "internal",
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// What kind of failure it is.
    pub code: Code,
    /// What was wrong, with the value.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl ToolError {
    /// An error without a next step.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// An argument the caller can correct.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// A mistake of ours.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message).hint(
            "this is a bug in tmuxwright; call list_panes to see whether the call took effect",
        )
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\nNext: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<tmux_control::Error> for ToolError {
    fn from(error: tmux_control::Error) -> Self {
        use tmux_control::Error;
        let code = match &error {
            Error::Missing { .. } | Error::TooOld { .. } => Code::TmuxMissing,
            Error::NoServer { .. } => Code::NoServer,
            Error::Refused { .. } if error.is_not_found() => Code::NotFound,
            Error::Refused { .. } => Code::TmuxRefused,
            Error::Timeout { .. } => Code::Timeout,
            Error::Lost { .. } => Code::Lost,
            Error::BadSocket { .. } | Error::NulByte { .. } => Code::InvalidArgument,
            Error::Unexpected { .. } | Error::Io { .. } => Code::Internal,
        };
        let hint = match code {
            Code::TmuxMissing => {
                "install tmux 3.2a or newer (apt install tmux, dnf install tmux, brew install \
                 tmux), or start tmuxwright with --tmux PATH"
            }
            Code::NoServer => "create_session or create_pane starts one",
            Code::NotFound => "list_panes shows what there is",
            Code::Timeout | Code::Lost => {
                "list_panes or capture_pane shows whether it took effect; then call again"
            }
            Code::InvalidArgument => "correct it and call again",
            _ => "list_panes shows the present state",
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<TargetError> for ToolError {
    fn from(error: TargetError) -> Self {
        match &error {
            TargetError::NotFound { candidates, level, .. } => {
                let hint = if candidates.is_empty() {
                    "there is none at all; create_session or create_pane makes one".to_owned()
                } else {
                    format!("use one of these {level}s: {}", shorten(candidates))
                };
                Self::new(Code::NotFound, error.to_string()).hint(hint)
            }
            TargetError::Ambiguous { candidates, .. } => {
                Self::new(Code::Ambiguous, error.to_string())
                    .hint(format!("use the id: {}", shorten(candidates)))
            }
        }
    }
}

/// A list that stays short however much there is.
pub(crate) fn shorten(candidates: &[String]) -> String {
    const MOST: usize = 20;
    let shown = candidates.get(..MOST.min(candidates.len())).unwrap_or(candidates).join(", ");
    match candidates.len().checked_sub(MOST) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tmux_control::Error;

    use super::*;

    #[test]
    fn whatever_goes_wrong_with_tmux_has_a_code_and_a_next_step() {
        let command = || "x".to_owned();
        let refused =
            |message: &str| Error::Refused { command: command(), message: message.into() };
        let table = [
            (Error::Missing { program: "tmux".into() }, "tmux_missing"),
            (Error::TooOld { found: "2.9".into() }, "tmux_missing"),
            (Error::NoServer { socket: "/s".into() }, "no_server"),
            (refused("can't find pane: %9"), "not_found"),
            (refused("no space for new pane"), "tmux_refused"),
            (Error::Timeout { command: command(), after: Duration::from_secs(5) }, "timeout"),
            (Error::Lost { command: command() }, "lost"),
            (Error::NulByte { command: command() }, "invalid_argument"),
            (Error::Unexpected { command: command(), detail: "?".into() }, "internal"),
        ];
        for (error, code) in table {
            let text = error.to_string();
            let error = ToolError::from(error);
            assert_eq!(error.code.name(), code, "{text}");
            assert!(error.hint.is_some() && error.message == text, "{error}");
        }
    }

    #[test]
    fn a_long_list_of_candidates_stays_short() {
        let many: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        assert!(shorten(&many).ends_with("19 and 30 more"));
        assert_eq!(shorten(&many[..2]), "0, 1");
    }
}
