//! What may be done. Pure decisions over declarations and rules: the registry asks which tools are
//! offered, `Cx` what a call may reach, type, read and write. Nothing else asks.

mod ceiling;
mod command_filter;
mod files;
mod reach;
mod tool_filter;
mod variables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use tmux_control::Socket;
use tmux_control::target::Level;

use crate::contract::{
    Code, CreateLocation, Group, Guard, Meta, PaneIdentity, ShellLine, TargetObject, Tier,
    ToolError, Toolset,
};
pub use ceiling::Ceiling;
pub use command_filter::{CommandFilter, CommandFilterMode};
pub use files::FileRules;
pub use reach::ReachRules;
pub use tool_filter::{TIER_GROUPS, ToolFilter, group_names};
pub use variables::VariableRules;

/// The rules in force.
#[derive(Debug, Clone)]
pub struct Policy {
    /// How far calls may go.
    pub ceiling: Ceiling,
    /// Which tools are offered.
    pub toolset: Toolset,
    /// Whether the paste buffers of others are open to calls.
    pub all_buffers: bool,
    /// Whether prompts are offered as tools, in every toolset.
    pub prompts_as_tools: bool,
    /// Which of these, by name and group.
    pub tool_filter: Option<ToolFilter>,
    /// Which servers, sessions and panes can be reached.
    pub reach: ReachRules,
    /// What may become a line for a shell.
    pub command_filter: CommandFilter,
    /// Which files may be read and written.
    pub files: FileRules,
    /// Which environment variables may be set.
    pub variables: VariableRules,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            ceiling: Ceiling::Mutating,
            toolset: Toolset::Agent,
            all_buffers: false,
            prompts_as_tools: false,
            tool_filter: None,
            reach: ReachRules::default(),
            command_filter: CommandFilter::default(),
            files: FileRules::default(),
            variables: VariableRules::default(),
        }
    }
}

impl Policy {
    /// Refuses rules that cannot be meant, or that shut out the server to be driven.
    pub fn check(&self, socket: &Socket) -> Result<(), String> {
        self.command_filter.check()?;
        self.reach.check_server(socket)
    }

    /// Whether the tool is listed and can be called.
    pub fn offers(&self, meta: &Meta) -> bool {
        let in_set = self.toolset == Toolset::All || meta.sets.contains(&self.toolset);
        let wanted = self.prompts_as_tools || meta.group != Group::Prompt;
        in_set && wanted && self.permits(meta)
    }

    /// Whether the tool can do its work for a resource: a toolset is about what a model is shown.
    pub fn permits(&self, meta: &Meta) -> bool {
        let chosen = self.tool_filter.as_ref().is_none_or(|choice| choice.offers(meta));
        chosen && self.ceiling >= Ceiling::for_tier(meta.tier)
    }

    /// Why a tool that exists is not offered.
    pub fn refusal(&self, meta: &Meta) -> ToolError {
        let needed = Ceiling::for_tier(meta.tier);
        if self.ceiling < needed {
            return ToolError::new(
                Code::Denied,
                format!(
                    "`{}` needs the tier `{needed}`, this server has `{}`",
                    meta.name, self.ceiling
                ),
            )
            .hint(format!("a person can start tmuxwright with --tier {needed}"));
        }
        if let Some(choice) = self.tool_filter.as_ref().filter(|choice| !choice.offers(meta)) {
            let what = format!("`{}` is left out by the rule `tools`: {choice}", meta.name);
            return ToolError::new(Code::Denied, what)
                .hint("a person can start tmuxwright with other --tools");
        }
        if meta.group == Group::Prompt && !self.prompts_as_tools {
            let what = format!("`{}` is not offered: prompts are no tools here", meta.name);
            return ToolError::new(Code::Denied, what)
                .hint("a person can start tmuxwright with --prompts-as-tools");
        }
        ToolError::new(Code::Denied, format!("`{}` is not in the enabled toolset", meta.name))
            .hint("a person can start tmuxwright with --toolset all")
    }
}

impl Guard for Policy {
    fn admit_object(&self, meta: &Meta, subject: &TargetObject<'_>) -> Result<(), ToolError> {
        let TargetObject { level, id, target, .. } = subject;
        let destroys = matches!(meta.tier, Tier::DestroyOwn | Tier::Destroy);
        if subject.holds_caller && (destroys || meta.types()) {
            return Err(ToolError::new(
                Code::Denied,
                format!("{level} `{target}` ({id}) is where this server itself runs"),
            )
            .hint("choose another; list_panes marks this one with is_caller"));
        }
        let own_only = destroys || meta.tier == Tier::MutateOwn;
        if own_only && self.ceiling < Ceiling::Destructive && !subject.foreign.is_empty() {
            let why = match level {
                Level::Pane => "this server did not make it for you".to_owned(),
                _ => {
                    let foreign: Vec<String> =
                        subject.foreign.iter().map(ToString::to_string).collect();
                    format!("this server did not make its pane {} for you", foreign.join(", "))
                }
            };
            return Err(ToolError::new(Code::Denied, format!("{level} `{target}` ({id}): {why}"))
                .hint(format!(
                    "`{}` works on own panes at any time; for others a person can start tmuxwright with --tier destructive",
                    meta.name
                )));
        }
        Ok(())
    }

    fn admit_buffer(&self, _: &Meta, name: &str, own: bool) -> Result<(), ToolError> {
        if own || self.all_buffers {
            return Ok(());
        }
        Err(ToolError::new(
            Code::Denied,
            format!("this server did not make buffer `{name}` for you"),
        )
        .hint(
            "list_buffers shows those it made; for others a person can set `all_buffers = true` \
             under `[policy]` in the config file",
        ))
    }

    fn reaches(&self, socket: &Socket) -> bool {
        self.reach.check_server(socket).is_ok()
    }

    fn hides_panes(&self) -> bool {
        self.reach.is_limited()
    }

    fn hides(&self, spot: &PaneIdentity<'_>) -> Option<&'static str> {
        self.reach.hides(spot)
    }

    fn admit_creation(&self, place: CreateLocation<'_>) -> Result<(), ToolError> {
        self.reach.create(place)
    }

    fn filters_commands(&self) -> bool {
        self.command_filter.is_on()
    }

    fn admit_line(&self, line: ShellLine<'_>) -> Result<(), ToolError> {
        self.command_filter.enter(line)
    }

    fn admit_variable(&self, name: &str) -> Result<(), ToolError> {
        self.variables.check(name, self.command_filter.is_on())
    }

    fn admit_read(&self, path: &Path) -> Result<PathBuf, ToolError> {
        self.files.read(path)
    }

    fn admit_write(&self, path: &Path) -> Result<PathBuf, ToolError> {
        if self.ceiling < Ceiling::Mutating {
            let what = format!(
                "`{}` may not be written: this server has the tier `{}`",
                path.display(),
                self.ceiling
            );
            return Err(ToolError::new(Code::Denied, what)
                .hint("leave the path out; a person can start tmuxwright with --tier mutating"));
        }
        self.files.write(path)
    }
}
