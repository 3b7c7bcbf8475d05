//! The argument type for paste buffers.

use schemars::JsonSchema;
use serde::Deserialize;

/// The full name of a buffer, or the label of an own one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, extend("x-clear" = true))]
pub struct BufferName(pub String);
