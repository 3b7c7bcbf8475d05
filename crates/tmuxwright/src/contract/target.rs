//! The argument type for sessions, windows and panes.

use schemars::JsonSchema;
use serde::Deserialize;

/// A session, window or pane: `%3`, `@1`, `$0`, `dev`, `dev:2`, `dev:logs`, `dev:2.0`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, description = "", extend("x-clear" = true))]
pub struct Target(pub String);

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
