//! The answer of a person who was asked whether a call may destroy what this server did not make.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of a person, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonAnswer {
    /// The person allowed the call.
    Accepted,
    /// The person refused the call.
    Declined,
    /// The person closed the question without an answer.
    Dismissed,
    /// The time for an answer is over.
    Expired,
    /// The MCP client cannot ask a person.
    CannotAsk,
    /// The question was not answered properly, for this reason.
    Failed(String),
}

impl PersonAnswer {
    /// The answer as it is logged.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Declined => "declined",
            Self::Dismissed => "dismissed",
            Self::Expired => "expired",
            Self::CannotAsk => "cannot_ask",
            Self::Failed(_) => "failed",
        }
    }
}

/// A question to a person, for the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AskedPerson {
    /// The panes, buffers or tmux clients that the question named.
    pub about: Vec<String>,
    /// The answer; `none` if the call ended before there was one.
    pub answer: String,
    /// The time until the answer, in seconds.
    pub seconds: f64,
}
