//! The argument type for channels (`tmux wait-for`).

use schemars::JsonSchema;
use serde::Deserialize;

use super::ToolError;

/// tmux accepts about 16 kB in one command.
const MAX_CHANNEL_NAME_BYTES: usize = 4096;

/// The name of a channel: any text without NUL bytes, passed to tmux unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, extend("x-clear" = true))]
pub struct ChannelName(String);

impl ChannelName {
    /// The name, if tmux accepts it.
    pub fn check(self) -> Result<String, ToolError> {
        let wrong = |problem: &str| {
            let message = format!("`channel` {problem}");
            Err(ToolError::invalid_argument(message).hint("give a short name, such as build-done"))
        };
        match self.0 {
            name if name.is_empty() => wrong("is empty"),
            name if name.contains('\0') => wrong("contains a NUL byte"),
            name if name.len() > MAX_CHANNEL_NAME_BYTES => wrong("is too long for tmux"),
            name => Ok(name),
        }
    }
}
