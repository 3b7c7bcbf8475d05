//! The tool filter (`--tools`): an allow or deny list of tool names and groups.

use std::fmt;
use std::str::FromStr;

use crate::contract::{Group, Meta, Tier, nearest};

/// Groups by tier, with their description for docs/tools.md. All other groups are a [`Group`].
pub const TIER_GROUPS: &[(&str, &str)] = &[
    ("read", "tools that read"),
    ("mutate", "tools that change something and destroy nothing"),
    ("destroy", "tools that destroy something"),
    ("all", "all tools"),
];

/// An allow or deny list. It narrows the tools that toolset and tier offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFilter {
    /// Whether this is an allow list; otherwise a deny list.
    is_allow_list: bool,
    names: Vec<ListedName>,
    /// The list as the person wrote it.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ListedName {
    Tool(String),
    Group(Group),
    /// One of [`TIER_GROUPS`].
    TierGroup(&'static str),
}

impl ListedName {
    fn parse(word: &str) -> Result<Self, String> {
        let Some(group) = word.strip_prefix('@') else {
            return Ok(Self::Tool(word.to_owned()));
        };
        let tier_group = || {
            TIER_GROUPS
                .iter()
                .find(|(name, _)| *name == group)
                .map(|(name, _)| Self::TierGroup(name))
        };
        let found = Group::ALL.iter().find(|known| known.name() == group);
        found.map(|group| Self::Group(*group)).or_else(tier_group).ok_or_else(|| {
            let all = || group_names().map(|name| format!("@{name}"));
            match nearest(group, group_names()) {
                Some(near) => format!("there is no group `{word}`; did you mean `@{near}`?"),
                None => format!(
                    "there is no group `{word}`; the groups are {}",
                    all().collect::<Vec<_>>().join(", ")
                ),
            }
        })
    }

    fn matches(&self, meta: &Meta) -> bool {
        match self {
            Self::Tool(name) => name == meta.name,
            Self::Group(group) => *group == meta.group,
            Self::TierGroup(name) => match meta.tier {
                _ if *name == "all" => true,
                Tier::Read => *name == "read",
                Tier::Mutate | Tier::MutateOwn => *name == "mutate",
                Tier::DestroyOwn | Tier::Destroy => *name == "destroy",
                Tier::AsCalled => false,
            },
        }
    }
}

/// The names of all groups, without the `@`.
pub fn group_names() -> impl Iterator<Item = &'static str> {
    Group::ALL.iter().map(|group| group.name()).chain(TIER_GROUPS.iter().map(|(name, _)| *name))
}

impl ToolFilter {
    /// Whether the list lets the tool be offered.
    pub fn offers(&self, meta: &Meta) -> bool {
        self.names.iter().any(|name| name.matches(meta)) == self.is_allow_list
    }

    /// Refuses names that no tool has.
    pub fn check(&self, tools: &[&str]) -> Result<(), String> {
        let named = self.names.iter().filter_map(|name| match name {
            ListedName::Tool(name) => Some(name.as_str()),
            _ => None,
        });
        let Some(name) = named.into_iter().find(|name| !tools.contains(name)) else {
            return Ok(());
        };
        let group = group_names().find(|group| *group == name);
        Err(match (group, nearest(name, tools.iter().copied())) {
            (Some(group), _) => {
                format!("there is no tool `{name}`; did you mean the group `@{group}`?")
            }
            (None, Some(near)) => format!("there is no tool `{name}`; did you mean `{near}`?"),
            (None, None) => format!("there is no tool `{name}`; docs/tools.md lists them"),
        })
    }
}

impl FromStr for ToolFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (is_allow_list, rest) = match text.split_once(':') {
            Some(("allow", rest)) => (true, rest),
            Some(("deny", rest)) => (false, rest),
            Some((word, _)) => return Err(format!("`{word}:` is neither `allow:` nor `deny:`")),
            None => (true, text),
        };
        let words = rest.split([',', ' ', '\n', '\t']).filter(|word| !word.is_empty());
        let names = words.map(ListedName::parse).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Err(
                "the list names no tool; write `allow:NAME,@GROUP` or `deny:NAME,@GROUP`".into()
            );
        }
        Ok(Self { is_allow_list, names, text: text.to_owned() })
    }
}

impl fmt::Display for ToolFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
