//! Which tools are offered together.

/// A choice of tools for a kind of work.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum Toolset {
    /// A handful, for looking after a few processes.
    Debug,
    /// The tools a coding agent needs; the default.
    Agent,
    /// tmux's own operations, one by one.
    Primitives,
    /// Every tool.
    All,
}
