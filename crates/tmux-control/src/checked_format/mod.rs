//! Formats from untrusted callers, checked against an allow list before tmux sees them.
//!
//! The format language of tmux can run programs (`#(…)`), expand the value of an option as a format of
//! its own (`E`, `T`), exhaust memory (`#{p2147483646:x}`) and run regular expressions without end. tmux
//! offers no way to switch these off for one format. So a format is parsed here, and every part must be
//! one that is known to do nothing but read: a listed variable, a listed modifier with bounded
//! arguments, or plain text. Everything else is refused, also what a later version of tmux may add.

mod arguments;
mod modifiers;
mod names;
mod parser;
mod pattern;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::{Command, PaneId};

pub use names::{FORMAT_MODIFIERS, FORMAT_VARIABLES, FormatModifier, FormatVariable};
use parser::Parser;

/// Longest format in bytes.
const MAX_FORMAT_BYTES: usize = 4096;

/// How tmux will expand a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatUse {
    /// Once, without `strftime`: as the `-F` of `list-panes` does.
    Once,
    /// As the value of an option: with `strftime` first, any number of times, and by `#{E:…}` in formats
    /// of the person perhaps twice. So `##`, which leaves a `#` behind, is refused.
    Stored,
}

/// What a checked format shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FormatScope {
    /// Whether it shows sessions, windows, panes or tmux clients other than those of its pane.
    pub shows_others: bool,
    /// The user options (`@…`) that it names, for callers that keep some to themselves.
    pub user_options: Vec<String>,
}

/// The reason for which a format is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// What is wrong, with the offending part.
    pub message: String,
    /// The correction.
    pub hint: String,
    /// The variable that does not exist, if that is the reason.
    pub unknown_variable: Option<String>,
}

impl FormatError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), unknown_variable: None }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.hint)
    }
}

impl std::error::Error for FormatError {}

/// Checks a format. `Ok` if tmux can do nothing but read when it expands it.
pub fn check_format(format: &str, usage: FormatUse) -> Result<FormatScope, FormatError> {
    if format.len() > MAX_FORMAT_BYTES && format.contains('#') {
        return Err(FormatError::new(
            format!("the format has {} bytes; the limit is {MAX_FORMAT_BYTES}", format.len()),
            "split it into several formats",
        ));
    }
    Parser::new(format, usage).parse()
}

/// The command that prints a checked format for a pane. Unlike `display-message`, it does not pass the
/// format through `strftime`, where a `%p` may become empty and join the characters around it.
pub fn print_format(pane: PaneId, format: &str) -> Command {
    let only = format!("#{{==:#{{pane_id}},{pane}}}");
    Command::query("list-panes").option("-t", pane).option("-f", only).option("-F", format)
}
