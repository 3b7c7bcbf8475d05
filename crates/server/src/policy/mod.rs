//! What may be done. Pure decisions over declarations; the pipeline asks them once per call.

use std::fmt;
use std::str::FromStr;

use crate::tool::{Code, Group, Guard, Meta, Subject, Tier, ToolError, Toolset};

/// How far this server may go, from a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ceiling {
    /// Only look.
    Readonly,
    /// Change things, destroy only what this server made.
    Mutating,
    /// Anything.
    Destructive,
}

impl Ceiling {
    /// The values a user can give.
    pub const CHOICES: &'static [&'static str] = &["readonly", "mutating", "destructive"];
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

/// The rules in force.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// How far calls may go.
    pub ceiling: Ceiling,
    /// Which tools are offered.
    pub toolset: Toolset,
    /// Whether the paste buffers of others are open to calls.
    pub all_buffers: bool,
}

impl Policy {
    /// Whether the tool is listed and can be called.
    pub fn offers(&self, meta: &Meta) -> bool {
        let in_set = self.toolset == Toolset::All || meta.sets.contains(&self.toolset);
        in_set && self.ceiling >= Self::needed(meta.tier)
    }

    /// Why a tool that exists is not offered.
    pub fn refusal(&self, meta: &Meta) -> ToolError {
        let needed = Self::needed(meta.tier);
        if self.ceiling < needed {
            return ToolError::new(
                Code::Denied,
                format!(
                    "`{}` needs the tier `{needed}`, this server has `{}`",
                    meta.name, self.ceiling
                ),
            )
            .hint(format!("a person can start tmux-mcp with --tier {needed}"));
        }
        ToolError::new(Code::Denied, format!("`{}` is not in the enabled toolset", meta.name))
            .hint("a person can start tmux-mcp with --toolset all")
    }

    fn needed(tier: Tier) -> Ceiling {
        match tier {
            Tier::Read | Tier::AsCalled => Ceiling::Readonly,
            Tier::Mutate | Tier::DestroyOwn => Ceiling::Mutating,
            Tier::Destroy => Ceiling::Destructive,
        }
    }
}

impl Guard for Policy {
    fn admit(&self, meta: &Meta, subject: &Subject<'_>) -> Result<(), ToolError> {
        let Subject { level, id, target, .. } = subject;
        let destroys = matches!(meta.tier, Tier::DestroyOwn | Tier::Destroy);
        if subject.holds_caller && (destroys || meta.group == Group::Input) {
            return Err(ToolError::new(
                Code::Denied,
                format!("{level} `{target}` ({id}) is where this server itself runs"),
            )
            .hint("choose another; list_panes marks this one with is_caller"));
        }
        if destroys && self.ceiling < Ceiling::Destructive && !subject.foreign.is_empty() {
            let why = match level {
                tmux::target::Level::Pane => "this server did not make it".to_owned(),
                _ => {
                    let foreign: Vec<String> =
                        subject.foreign.iter().map(ToString::to_string).collect();
                    format!("this server did not make its pane {}", foreign.join(", "))
                }
            };
            return Err(ToolError::new(Code::Denied, format!("{level} `{target}` ({id}): {why}"))
                .hint("own panes can be killed at any time; for others a person can start tmux-mcp with --tier destructive"));
        }
        Ok(())
    }

    fn admit_buffer(&self, _: &Meta, name: &str, own: bool) -> Result<(), ToolError> {
        if own || self.all_buffers {
            return Ok(());
        }
        Err(ToolError::new(Code::Denied, format!("this server did not make buffer `{name}`")).hint(
            "list_buffers shows those it made; for others a person can set `all_buffers = true` \
             under `[policy]` in the config file",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Load, Target};

    fn meta(tier: Tier, group: Group, sets: &'static [Toolset]) -> Meta {
        Meta {
            name: "sample",
            title: "",
            description: "",
            group,
            tier,
            sets,
            idempotent: false,
            open_world: false,
            load: Load::OnDemand,
        }
    }

    fn policy(ceiling: Ceiling) -> Policy {
        Policy { ceiling, toolset: Toolset::Agent, all_buffers: false }
    }

    #[test]
    fn each_tier_opens_just_what_it_should() {
        let table = [
            (Ceiling::Readonly, [true, false, false, false]),
            (Ceiling::Mutating, [true, true, true, false]),
            (Ceiling::Destructive, [true, true, true, true]),
        ];
        let tiers = [Tier::Read, Tier::Mutate, Tier::DestroyOwn, Tier::Destroy];
        for (ceiling, expected) in table {
            let offered = tiers
                .map(|tier| policy(ceiling).offers(&meta(tier, Group::Pane, &[Toolset::Agent])));
            assert_eq!(offered, expected, "{ceiling}");
        }
    }

    #[test]
    fn a_tool_outside_the_toolset_is_not_offered() {
        let tool = meta(Tier::Read, Group::Pane, &[Toolset::Primitives]);
        assert!(!policy(Ceiling::Destructive).offers(&tool));
        let all = Policy { toolset: Toolset::All, ..policy(Ceiling::Readonly) };
        assert!(all.offers(&tool));
    }

    #[test]
    fn the_callers_own_pane_is_neither_destroyed_nor_typed_into() {
        let target = Target("%1".into());
        let subject = Subject {
            level: tmux::target::Level::Pane,
            id: "%1".into(),
            foreign: vec![],
            holds_caller: true,
            target: &target,
        };
        let admits = |tier, group| {
            policy(Ceiling::Destructive).admit(&meta(tier, group, &[]), &subject).is_ok()
        };
        assert!(!admits(Tier::DestroyOwn, Group::Pane));
        assert!(!admits(Tier::Mutate, Group::Input));
        assert!(admits(Tier::Read, Group::Screen));
        assert!(admits(Tier::Mutate, Group::Pane));
    }

    #[test]
    fn buffers_of_others_are_closed_unless_opened() {
        for tier in [Tier::Read, Tier::Mutate] {
            let meta = meta(tier, Group::Buffer, &[]);
            let closed = policy(Ceiling::Destructive);
            let error = closed.admit_buffer(&meta, "buffer0", false).unwrap_err();
            assert!(error.to_string().contains("all_buffers = true"), "{error}");
            assert!(closed.admit_buffer(&meta, "mcp_h.1.2_x_notes", true).is_ok());
            let open = Policy { all_buffers: true, ..closed };
            assert!(open.admit_buffer(&meta, "buffer0", false).is_ok());
        }
    }

    #[test]
    fn an_unknown_tier_is_an_error_and_never_a_wider_one() {
        assert!("all".parse::<Ceiling>().is_err());
        assert!("".parse::<Ceiling>().is_err());
        assert!("Destructive".parse::<Ceiling>().is_err());
    }
}
