//! How far calls may go.

use crate::contract::Tier;

/// How far this server may go, from a setting.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::Display,
    strum::EnumString,
    strum::VariantNames,
)]
#[strum(serialize_all = "snake_case")]
pub enum Ceiling {
    /// Only look.
    Readonly,
    /// Change things, destroy and rename only what this server made.
    Mutating,
    /// Anything.
    Destructive,
}

impl Ceiling {
    /// What a tool of this tier needs to be offered at all.
    pub(super) fn for_tier(tier: Tier) -> Self {
        match tier {
            Tier::Read | Tier::AsCalled => Self::Readonly,
            Tier::Mutate | Tier::MutateOwn | Tier::DestroyOwn => Self::Mutating,
            Tier::Destroy => Self::Destructive,
        }
    }
}
