//! Tests of paste buffers.

pub(crate) mod foreign;
pub(crate) mod own;
pub(crate) mod search;
pub(crate) mod text;

use serde_json::json;
use testkit::Mcp;

use crate::support::string;

/// Sets a buffer by its label and returns its full name.
async fn set_buffer(mcp: &Mcp, label: &str, text: &str) -> String {
    string(&mcp.call("set_buffer", json!({"name": label, "text": text})).await.ok()["name"])
}
