//! The declaration of a tool: name, description, group, tier, toolsets. Everything that MCP clients and
//! the policy know about a tool before a call follows from it.

use super::Toolset;

/// The strongest effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Reads and changes nothing.
    Read,
    /// Creates, types, selects, resizes.
    Mutate,
    /// Changes state that a person may have set up; below the ceiling `destructive` only own objects.
    MutateOwn,
    /// Destroys; below the ceiling `destructive` only own objects.
    DestroyOwn,
    /// Destroys; not offered below the ceiling `destructive`.
    Destroy,
    /// Has only the effects of the calls it makes, and each of them is checked by itself.
    AsCalled,
}

/// The subject of a tool. `--tools` can name a whole group, with an `@` before it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Group {
    /// The tmux server itself.
    Server,
    /// Sessions.
    Session,
    /// Windows.
    Window,
    /// Panes.
    Pane,
    /// Sessions, windows and panes alike.
    Object,
    /// Typing.
    Input,
    /// Reading the screen.
    Screen,
    /// Running commands.
    Command,
    /// Waiting for events in panes.
    Watch,
    /// Signals between programs.
    Channel,
    /// Paste buffers.
    Buffer,
    /// Options, environment, hooks and formats.
    Option,
    /// tmux clients of people, and messages to them.
    Client,
    /// Several calls at once.
    Batch,
    /// Workflows, for MCP clients without support for prompts.
    Prompt,
}

impl Group {
    /// All groups.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name, which `--tools` takes after an `@`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether a client should show the tool to its model from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// When the model searches for it.
    OnDemand,
    /// Always.
    Always,
}

/// The declaration of a tool. There are no defaults: a tool without a tier does not compile.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// The name, snake_case, verb first.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// When to use the tool and what it returns, in a sentence or two.
    pub description: &'static str,
    /// Its subject.
    pub group: Group,
    /// Its strongest effect.
    pub tier: Tier,
    /// The toolsets it is in, besides `all`.
    pub sets: &'static [Toolset],
    /// Whether a second identical call has no further effect.
    pub idempotent: bool,
    /// Whether it can start programs with arbitrary effects (MCP `openWorldHint`).
    pub open_world: bool,
    /// Whether clients should load it up front.
    pub load: Load,
}

impl Meta {
    /// Whether a person should confirm each call: ending a tmux server ends everybody's work on it.
    pub fn needs_confirmation(&self) -> bool {
        self.tier == Tier::Destroy && self.group == Group::Server
    }

    /// Whether it types into its target pane.
    pub fn types(&self) -> bool {
        let typing = [Group::Input, Group::Command, Group::Watch];
        self.tier == Tier::Mutate && typing.contains(&self.group)
    }
}
