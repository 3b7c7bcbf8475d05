//! How far calls may go.

use std::fmt;
use std::str::FromStr;

use crate::contract::Tier;

/// How far this server may go, from a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ceiling {
    /// Only look.
    Readonly,
    /// Change things, destroy and rename only what this server made.
    Mutating,
    /// Anything.
    Destructive,
}

impl Ceiling {
    /// The values a user can give.
    pub const CHOICES: &'static [&'static str] = &["readonly", "mutating", "destructive"];

    /// What a tool of this tier needs to be offered at all.
    pub(super) fn for_tier(tier: Tier) -> Self {
        match tier {
            Tier::Read | Tier::AsCalled => Self::Readonly,
            Tier::Mutate | Tier::MutateOwn | Tier::DestroyOwn => Self::Mutating,
            Tier::Destroy => Self::Destructive,
        }
    }
}

impl FromStr for Ceiling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "readonly" => Ok(Self::Readonly),
            "mutating" => Ok(Self::Mutating),
            "destructive" => Ok(Self::Destructive),
            _ => Err(format!("`{text}` is none of {}", Self::CHOICES.join(", "))),
        }
    }
}

impl fmt::Display for Ceiling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Readonly => "readonly",
            Self::Mutating => "mutating",
            Self::Destructive => "destructive",
        })
    }
}
