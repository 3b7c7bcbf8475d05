//! Toolsets: selections of tools for a kind of work.

/// A selection of tools (`--toolset`).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum Toolset {
    /// A few tools, to inspect and control running processes.
    Debug,
    /// The tools a coding agent needs; the default.
    Agent,
    /// tmux's own operations, one by one.
    Primitives,
    /// Every tool.
    All,
}
