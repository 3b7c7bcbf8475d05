//! Which tools are offered together.

use std::str::FromStr;

/// A choice of tools for a kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// A handful, for looking after a few processes.
    Debug,
    /// What a coding agent needs; the default.
    Agent,
    /// tmux's own operations, one by one.
    Primitives,
    /// Everything.
    All,
}

impl Toolset {
    /// The values a user can give.
    pub const CHOICES: &'static [&'static str] = &["debug", "agent", "primitives", "all"];
}

impl FromStr for Toolset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "debug" => Ok(Self::Debug),
            "agent" => Ok(Self::Agent),
            "primitives" => Ok(Self::Primitives),
            "all" => Ok(Self::All),
            _ => Err(format!("`{text}` is none of {}", Self::CHOICES.join(", "))),
        }
    }
}
