//! The argument type for channels (`tmux wait-for`).

use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolError, no_nul, not_empty};

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
        let hint = "give a short name, such as build-done";
        not_empty("channel", &self.0, hint)?;
        no_nul("channel", &self.0, hint)?;
        if self.0.len() > MAX_CHANNEL_NAME_BYTES {
            let message = format!("`channel` is longer than {MAX_CHANNEL_NAME_BYTES} bytes");
            return Err(ToolError::invalid_argument(message).hint(hint));
        }
        Ok(self.0)
    }
}
