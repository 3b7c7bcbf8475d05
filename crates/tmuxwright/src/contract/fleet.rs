//! Fleet calls: how a call of a tool is made on several tmux servers at once, and how its answers become one.

use super::{Reply, ToolError};

/// How a call of a tool is made on several tmux servers at once.
#[derive(Debug)]
pub enum Fleet {
    /// Not at all.
    None,
    /// On each server; the answers stand side by side.
    Each(FleetEach),
    /// On all servers; the first answer that ends the wait is the answer.
    First(FleetFirst),
}

/// A tool whose answers of several servers stand side by side.
#[derive(Debug)]
pub struct FleetEach {
    /// The argument that lists the servers.
    pub list: FleetList,
    /// Arguments that do not go with it, each with the next step for the caller.
    pub excluded: &'static [(&'static str, &'static str)],
    /// A number that the calls share, with its default.
    pub shared: Option<(&'static str, usize)>,
    /// A number of the answers that is summed.
    pub summed: Option<&'static str>,
    /// The text of all answers; the first line is their summary.
    pub text: fn(&[FleetPart]) -> String,
}

/// A tool whose first answer counts. The argument `targets` has targets of several servers.
#[derive(Debug)]
pub struct FleetFirst {
    /// Arguments that do not go with several servers, each with the next step for the caller.
    pub excluded: &'static [(&'static str, &'static str)],
    /// The field of an answer that says how the wait ended.
    pub end: &'static str,
    /// Its value if nothing ended the wait.
    pub timeout: &'static str,
}

/// The argument by which a fleet call names its servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetList {
    /// `servers`: names.
    Servers,
    /// `targets`: targets, each with the name of its server before it (`build1/dev`).
    Targets,
}

/// One call of a fleet call, with its answer.
#[derive(Debug)]
pub struct FleetPart {
    /// The name of its server.
    pub server: String,
    /// Its target on that server, if the list names one.
    pub target: Option<String>,
    /// Its answer, which does not name the server.
    pub answer: Result<Reply, ToolError>,
}
