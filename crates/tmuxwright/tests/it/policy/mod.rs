//! Tests of the policy: limits that hold for every call, whatever its arguments.

pub(crate) mod command_filter;
pub(crate) mod confirm;
pub(crate) mod confirm_wire;
pub(crate) mod fenced_tools;
pub(crate) mod fences;
pub(crate) mod forged_rows;
pub(crate) mod hands_off;
pub(crate) mod hostile;
pub(crate) mod own_files;
pub(crate) mod polite;
pub(crate) mod reading;
pub(crate) mod redaction;
pub(crate) mod redaction_cuts;
pub(crate) mod secrets;
pub(crate) mod security;
pub(crate) mod tool_selection;

use std::collections::BTreeSet;

use testkit::Mcp;

/// The names of the tools that are listed.
async fn listed_tools(mcp: &Mcp) -> BTreeSet<String> {
    mcp.tools().await.iter().map(|tool| tool.name.to_string()).collect()
}
