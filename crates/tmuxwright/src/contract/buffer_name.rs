//! The one way to name a paste buffer.

use schemars::JsonSchema;
use serde::Deserialize;

/// What a caller writes: the whole name of a buffer, or the label of one of our own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, extend("x-clear" = true))]
pub struct BufferName(pub String);
