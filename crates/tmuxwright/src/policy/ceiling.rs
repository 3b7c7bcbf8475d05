//! The ceiling: the highest tier that the person allows (`--tier`).

use crate::contract::Tier;

/// The highest tier that the person allows.
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
    /// Tools that read.
    Readonly,
    /// Also tools that change something. Only own objects can be destroyed or renamed.
    Mutating,
    /// All tools, on all objects.
    Destructive,
}

impl Ceiling {
    /// The lowest ceiling at which a tool of this tier is offered.
    pub(super) fn for_tier(tier: Tier) -> Self {
        match tier {
            Tier::Read | Tier::AsCalled => Self::Readonly,
            Tier::Mutate | Tier::MutateOwn | Tier::DestroyOwn => Self::Mutating,
            Tier::Destroy => Self::Destructive,
        }
    }
}
