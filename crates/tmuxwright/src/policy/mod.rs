//! The policy: which tools are offered, and what a call may see, type, read, write and destroy. Pure
//! decisions over tool declarations and rules. The registry asks which tools are offered; `Cx` asks
//! everything else, through the guard.

mod ceiling;
mod command_filter;
mod files;
mod options;
mod reach;
mod tool_filter;
mod variables;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use tmux_control::target::Level;
use tmux_control::{Route, Socket};

use crate::contract::{
    Admission, Code, CreateLocation, Group, Guard, Meta, OptionReach, PaneIdentity, ShellLine,
    TargetObject, Tier, ToolError, Toolset, VariableReach,
};
pub use ceiling::Ceiling;
pub use command_filter::{CommandFilter, CommandFilterMode};
pub use files::{FileRules, ProtectedPath};
pub use options::{OptionRule, OptionRules, OptionValue, SETTABLE_OPTIONS};
pub use reach::{ReachRules, ServerPlace};
pub use tool_filter::{TIER_GROUPS, ToolFilter, group_names};
pub use variables::{LOADING_VARIABLES, LoadingVariable, VariableRules};

/// The rules in force.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The highest tier that the person allows.
    pub ceiling: Ceiling,
    /// The toolset in use.
    pub toolset: Toolset,
    /// Whether calls may use paste buffers that this server did not make for the caller.
    pub all_buffers: bool,
    /// Whether a person is asked before a call destroys what this server did not make for the caller.
    pub confirm: bool,
    /// Whether prompts are offered as tools, in every toolset.
    pub prompts_as_tools: bool,
    /// The list of `--tools`, which narrows toolset and tier.
    pub tool_filter: Option<ToolFilter>,
    /// The tmux servers, sessions and panes that calls may see and use.
    pub reach: ReachRules,
    /// The lines that may be submitted to a shell.
    pub command_filter: CommandFilter,
    /// The files that may be read and written.
    pub files: FileRules,
    /// The environment variables that may be set.
    pub variables: VariableRules,
    /// The tmux options that may be set besides those of the table.
    pub options: OptionRules,
    /// The tmux server to which these rules apply, for messages.
    pub server: PolicyServer,
}

/// A tmux server as messages of the policy name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyServer {
    /// Its name, if several can be reached.
    pub name: Option<String>,
    /// Whether it has a tier of its own in the config file.
    pub has_own_tier: bool,
    /// Whether it runs on another system.
    pub is_remote: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            ceiling: Ceiling::Mutating,
            toolset: Toolset::Agent,
            all_buffers: false,
            confirm: false,
            prompts_as_tools: false,
            tool_filter: None,
            reach: ReachRules::default(),
            command_filter: CommandFilter::default(),
            files: FileRules::default(),
            variables: VariableRules::default(),
            options: OptionRules::default(),
            server: PolicyServer::default(),
        }
    }
}

impl Policy {
    /// Refuses incomplete rules.
    pub fn check(&self) -> Result<(), String> {
        self.command_filter.check()
    }

    /// These rules for one tmux server. `name` is given if several can be reached, `ceiling` if it has a tier of its
    /// own, `route` if it runs on another system.
    #[must_use]
    pub fn on_server(
        &self,
        name: Option<String>,
        ceiling: Option<Ceiling>,
        route: Option<Route>,
    ) -> Self {
        let (has_own_tier, is_remote) = (ceiling.is_some(), route.is_some());
        Self {
            ceiling: ceiling.unwrap_or(self.ceiling),
            reach: self.reach.on_system(route),
            server: PolicyServer { name, has_own_tier, is_remote },
            ..self.clone()
        }
    }

    /// The server of these rules, in words.
    fn server_words(&self) -> String {
        match &self.server.name {
            Some(name) => format!("server `{name}`"),
            None => "this server".to_owned(),
        }
    }

    /// The step by which a person can allow a tier.
    fn way_to_tier(&self, tier: Ceiling) -> String {
        match &self.server {
            PolicyServer { name: Some(name), has_own_tier: true, .. } => format!(
                "a person can set `tier = \"{tier}\"` under `[servers.{name}]` in the config file"
            ),
            _ => format!("a person can start tmuxwright with --tier {tier}"),
        }
    }

    /// Whether MCP clients see the tool and can call it.
    pub fn offers(&self, meta: &Meta) -> bool {
        let in_set = self.toolset == Toolset::All || meta.sets.contains(&self.toolset);
        let enabled = self.prompts_as_tools || meta.group != Group::Prompt;
        in_set && enabled && self.permits(meta)
    }

    /// Whether a resource may use the tool. The toolset does not count: it only limits the tools that
    /// a model is shown.
    pub fn permits(&self, meta: &Meta) -> bool {
        let listed = self.tool_filter.as_ref().is_none_or(|filter| filter.offers(meta));
        listed && self.ceiling >= Ceiling::for_tier(meta.tier)
    }

    /// The error for a call of a tool that exists but is not offered.
    pub fn refusal(&self, meta: &Meta) -> ToolError {
        let needed = Ceiling::for_tier(meta.tier);
        if self.ceiling < needed {
            return ToolError::new(
                Code::Denied,
                format!(
                    "`{}` needs the tier `{needed}`, {} has `{}`",
                    meta.name,
                    self.server_words(),
                    self.ceiling
                ),
            )
            .hint(self.way_to_tier(needed));
        }
        if let Some(filter) = self.tool_filter.as_ref().filter(|filter| !filter.offers(meta)) {
            let message = format!("`{}` is excluded by `--tools {filter}`", meta.name);
            return ToolError::new(Code::Denied, message)
                .hint("a person can start tmuxwright with a different --tools list");
        }
        if meta.group == Group::Prompt && !self.prompts_as_tools {
            let message =
                format!("`{}` is not offered: prompts are not offered as tools", meta.name);
            return ToolError::new(Code::Denied, message)
                .hint("a person can start tmuxwright with --prompts-as-tools");
        }
        ToolError::new(Code::Denied, format!("`{}` is not in the enabled toolset", meta.name))
            .hint("a person can start tmuxwright with --toolset all")
    }

    /// Refuses to write a file at a tier that only reads.
    fn admit_any_write(&self, path: &Path) -> Result<(), ToolError> {
        if self.ceiling >= Ceiling::Mutating {
            return Ok(());
        }
        let message = format!(
            "`{}` may not be written: {} has the tier `{}`",
            path.display(),
            self.server_words(),
            self.ceiling
        );
        let way = self.way_to_tier(Ceiling::Mutating);
        Err(ToolError::new(Code::Denied, message).hint(format!("leave the path out; {way}")))
    }
}

impl Guard for Policy {
    fn admit_object(&self, meta: &Meta, object: &TargetObject<'_>) -> Result<Admission, ToolError> {
        let TargetObject { level, id, target, .. } = object;
        let destroys = matches!(meta.tier, Tier::DestroyOwn | Tier::Destroy);
        if object.contains_caller && (destroys || meta.types()) {
            return Err(ToolError::new(
                Code::Denied,
                format!("{level} `{target}` ({id}) is where this server itself runs"),
            )
            .hint("choose another target; list_panes marks this one with is_caller"));
        }
        let own_only = destroys || meta.tier == Tier::MutateOwn;
        if own_only && self.ceiling < Ceiling::Destructive && !object.foreign.is_empty() {
            let why = match level {
                Level::Pane => "this server did not make it for you".to_owned(),
                _ => {
                    let foreign: Vec<String> =
                        object.foreign.iter().map(ToString::to_string).collect();
                    format!("this server did not make its pane {} for you", foreign.join(", "))
                }
            };
            return Err(ToolError::new(Code::Denied, format!("{level} `{target}` ({id}): {why}"))
                .hint(format!(
                    "use `{}` on panes that this server made; for others {}",
                    meta.name,
                    self.way_to_tier(Ceiling::Destructive)
                )));
        }
        Ok(match own_only && !object.foreign.is_empty() {
            true => self.admit_removal(),
            false => Admission::Granted,
        })
    }

    fn admit_removal(&self) -> Admission {
        if self.confirm { Admission::AskPerson } else { Admission::Granted }
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
            "use a buffer that list_buffers shows; for others a person can set `all_buffers = true` \
             under `[policy]` in the config file",
        ))
    }

    fn reaches(&self, socket: &Socket) -> bool {
        self.reach.admits_socket(socket)
    }

    fn hides_panes(&self) -> bool {
        self.reach.limits_panes()
    }

    fn hides(&self, identity: &PaneIdentity<'_>) -> Option<&'static str> {
        self.reach.hides(identity)
    }

    fn admit_creation(&self, location: CreateLocation<'_>) -> Result<(), ToolError> {
        self.reach.check_creation(location)
    }

    fn filters_commands(&self) -> bool {
        self.command_filter.is_on()
    }

    fn admit_line(&self, line: ShellLine<'_>) -> Result<(), ToolError> {
        self.command_filter.check_line(line)
    }

    fn admit_keys(&self, programs: &[String]) -> Result<(), ToolError> {
        self.command_filter.check_keys(programs)
    }

    fn admit_variable(&self, name: &str, reach: VariableReach) -> Result<(), ToolError> {
        self.variables.check(name, reach, self.command_filter.is_on())
    }

    fn admit_option(&self, name: &str, value: Option<&str>) -> Result<OptionReach, ToolError> {
        self.options.check(self.ceiling, name, value)
    }

    fn admit_read(&self, path: &Path) -> Result<PathBuf, ToolError> {
        self.files.read(path)
    }

    fn admit_write(&self, path: &Path) -> Result<PathBuf, ToolError> {
        self.admit_any_write(path)?;
        self.files.write(path, self.command_filter.is_on())
    }

    fn admit_write_by_tmux(&self, path: &Path) -> Result<PathBuf, ToolError> {
        self.admit_any_write(path)?;
        match self.server.is_remote {
            false => self.files.write(path, self.command_filter.is_on()),
            true => self.files.write_elsewhere(path, self.command_filter.is_on()),
        }
    }
}
