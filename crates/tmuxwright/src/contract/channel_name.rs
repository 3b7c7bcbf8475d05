//! The name of a channel.

use schemars::JsonSchema;
use serde::Deserialize;

use super::ToolError;

/// The longest name; tmux takes about 16 kB in one command.
const LONGEST: usize = 4096;

/// What a caller writes: any text that tmux can carry, exactly as it is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, extend("x-clear" = true))]
pub struct ChannelName(String);

impl ChannelName {
    /// The name, unless it cannot be one.
    pub fn check(self) -> Result<String, ToolError> {
        let wrong = |what: &str| {
            let message = format!("`channel` {what}");
            Err(ToolError::invalid_argument(message).hint("give a short name, such as build-done"))
        };
        match self.0 {
            name if name.is_empty() => wrong("is empty"),
            name if name.contains('\0') => wrong("has a NUL byte in it"),
            name if name.len() > LONGEST => wrong("is longer than tmux takes"),
            name => Ok(name),
        }
    }
}
