//! `--tools`: a choice of tools by name and by group.

use std::fmt;
use std::str::FromStr;

use crate::contract::{Group, Meta, Tier, nearest};

/// Groups that are no subject but a kind of work, with what they hold.
pub const TIER_GROUPS: &[(&str, &str)] = &[
    ("read", "all that read"),
    ("mutate", "all that change something and destroy nothing"),
    ("destroy", "all that destroy something"),
    ("all", "everything"),
];

/// The tools that are offered, of those that toolset and tier allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFilter {
    /// Whether the list names what is offered, or what is not.
    allows: bool,
    names: Vec<Name>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Tool(String),
    Group(Group),
    Kind(&'static str),
}

impl Name {
    fn parse(word: &str) -> Result<Self, String> {
        let Some(group) = word.strip_prefix('@') else {
            return Ok(Self::Tool(word.to_owned()));
        };
        let kind = || {
            TIER_GROUPS.iter().find(|(name, _)| *name == group).map(|(name, _)| Self::Kind(name))
        };
        let found = Group::ALL.iter().find(|known| known.name() == group);
        found.map(|group| Self::Group(*group)).or_else(kind).ok_or_else(|| {
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

    fn holds(&self, meta: &Meta) -> bool {
        match self {
            Self::Tool(name) => name == meta.name,
            Self::Group(group) => *group == meta.group,
            Self::Kind(kind) => match meta.tier {
                _ if *kind == "all" => true,
                Tier::Read => *kind == "read",
                Tier::Mutate | Tier::MutateOwn => *kind == "mutate",
                Tier::DestroyOwn | Tier::Destroy => *kind == "destroy",
                Tier::AsCalled => false,
            },
        }
    }
}

/// All groups a user can name, without the `@`.
pub fn group_names() -> impl Iterator<Item = &'static str> {
    Group::ALL.iter().map(|group| group.name()).chain(TIER_GROUPS.iter().map(|(name, _)| *name))
}

impl ToolFilter {
    /// Whether it offers the tool.
    pub fn offers(&self, meta: &Meta) -> bool {
        self.names.iter().any(|name| name.holds(meta)) == self.allows
    }

    /// Refuses names that no tool has.
    pub fn check(&self, tools: &[&str]) -> Result<(), String> {
        let named = self.names.iter().filter_map(|name| match name {
            Name::Tool(name) => Some(name.as_str()),
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
        let (allows, rest) = match text.split_once(':') {
            Some(("allow", rest)) => (true, rest),
            Some(("deny", rest)) => (false, rest),
            Some((word, _)) => return Err(format!("`{word}:` is neither `allow:` nor `deny:`")),
            None => (true, text),
        };
        let words = rest.split([',', ' ', '\n', '\t']).filter(|word| !word.is_empty());
        let names = words.map(Name::parse).collect::<Result<Vec<_>, _>>()?;
        if names.is_empty() {
            return Err("it names no tool; write `allow:NAME,@GROUP` or `deny:NAME,@GROUP`".into());
        }
        Ok(Self { allows, names, text: text.to_owned() })
    }
}

impl fmt::Display for ToolFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
