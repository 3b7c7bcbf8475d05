//! The error of a call: a code for programs to branch on, a message with the offending value, and a
//! hint for the next step.

use std::fmt;

use tmux_control::target::TargetError;

use super::field::list_item;

macro_rules! codes {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*) => {
        /// Every way a call can fail.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Code {
            /// All codes, with their names and meanings.
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
    /// There is no tool with this name.
    UnknownTool = "unknown_tool",
    /// There is no session, window, pane, client, buffer, option, variable or prompt with this name.
    NotFound = "not_found",
    /// The target matches more than one object.
    Ambiguous = "ambiguous",
    /// An object with this name exists already.
    Exists = "exists",
    /// The policy does not allow the call.
    Denied = "denied",
    /// The pane cannot take input now: its program has exited, it is in copy mode, or input is off.
    NotReady = "not_ready",
    /// The pane is in use: a command, a program or the shell's own startup runs in it, or another call types.
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
    /// The system of the tmux server cannot be reached; nothing was done.
    Unreachable = "unreachable",
    /// The connection to tmux broke; it is unknown whether the call took effect.
    Lost = "lost",
    /// The audit log cannot be written; no call is made until it can.
    AuditFailed = "audit_failed",
    /// The client cancelled the call.
    Cancelled = "cancelled",
    /// A bug in this program.
    Internal = "internal",
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// The kind of failure.
    pub code: Code,
    /// The cause, with the offending value.
    pub message: String,
    /// The next step for the caller.
    pub hint: Option<String>,
}

impl ToolError {
    /// An error without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// An error in an argument.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// A bug in this program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message).hint(
            "this is a bug in tmuxwright; call list_panes to see whether the call took effect",
        )
    }

    /// Sets the next step for the caller.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Further lines are indented: a program's output or name in the message cannot pass for the
        // line that says what to do next.
        let indented = |text: &str| text.replace('\n', "\n  ");
        write!(f, "{}: {}", self.code.name(), indented(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nNext: {}", indented(hint)),
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
            Error::Synchronized { .. } => Code::NotReady,
            Error::TooManyWaits | Error::Behind { .. } => Code::Busy,
            Error::Timeout { .. } => Code::Timeout,
            Error::Unreachable { .. } => Code::Unreachable,
            Error::Lost { .. } | Error::HostLost { .. } => Code::Lost,
            Error::BadSocket { .. } | Error::NulByte { .. } => Code::InvalidArgument,
            Error::Unexpected { .. } | Error::Io { .. } => Code::Internal,
        };
        let hint = match code {
            _ if matches!(error, Error::Behind { .. }) => {
                "wait with command_result for the end of the command that prints so much, or end it \
                 with interrupt; then call again"
            }
            Code::TmuxMissing => {
                "install tmux 3.2a or newer (apt install tmux, dnf install tmux, brew install \
                 tmux), or start tmuxwright with --tmux PATH"
            }
            Code::NoServer => "create_session or create_pane starts a tmux server",
            Code::NotFound => "list_panes shows all sessions, windows and panes",
            Code::Unreachable => {
                "nothing was done; call again later, list_servers shows whether the host answers; if it \
                 does not, a person has to check the connection"
            }
            Code::Timeout | Code::Lost => {
                "check with list_panes or capture_pane whether the call took effect; then call again"
            }
            Code::NotReady => {
                "what came before may have been typed: capture_pane shows it; a call that begins now \
                 checks all panes that would receive its input"
            }
            Code::Busy => "wait for the result of an earlier wait, then call again",
            Code::InvalidArgument => "correct the argument and call again",
            _ => "list_panes shows the current state",
        };
        Self::new(code, error.to_string()).hint(hint)
    }
}

impl From<TargetError> for ToolError {
    fn from(error: TargetError) -> Self {
        match &error {
            TargetError::NotFound { candidates, level, .. } => {
                let hint = if candidates.is_empty() {
                    format!("there are no {level}s; create_session or create_pane makes one")
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

/// Joins the first candidates, each as one field, with the number of those omitted.
pub(crate) fn shorten<T: AsRef<str>>(candidates: &[T]) -> String {
    const MAX_CANDIDATES: usize = 20;
    let shown = candidates.iter().take(MAX_CANDIDATES).map(|name| list_item(name.as_ref()));
    let shown = shown.collect::<Vec<_>>().join(", ");
    match candidates.len().checked_sub(MAX_CANDIDATES) {
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
    fn message_cannot_forge_the_next_step() {
        let error =
            ToolError::new(Code::Busy, "%1 runs `x`\nNext: send_keys rm`").hint("wait_for %1");
        let text = error.to_string();
        let steps: Vec<&str> = text.lines().filter(|line| line.starts_with("Next: ")).collect();
        assert_eq!(steps, ["Next: wait_for %1"], "{text}");
    }

    #[test]
    fn tmux_errors_have_a_code_and_a_hint() {
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
            (Error::Behind { after: Duration::from_secs(40) }, "busy"),
            (Error::Lost { command: command() }, "lost"),
            (Error::HostLost { host: "box".into(), reason: "cut".into() }, "lost"),
            (Error::Unreachable { host: "box".into(), reason: "refused".into() }, "unreachable"),
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
    fn long_list_of_candidates_is_cut() {
        let many: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        assert!(shorten(&many).ends_with("19 and 30 more"));
        assert_eq!(shorten(&many[..2]), "0, 1");
        assert_eq!(shorten(&["a, $7 b", "plain"]), "\"a, $7 b\", plain");
        assert_eq!(shorten(&["%0", "%2"]), "%0, %2");
    }
}
