//! The declaration of a tool: name, description, group, tier, toolsets. Everything a client or a policy
//! learns about a tool before it is called follows from it.

use super::Toolset;

/// How much a tool can do to what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Reads and changes nothing.
    Read,
    /// Creates, types, selects, resizes.
    Mutate,
    /// Changes what a person may have set up; at the tier `mutating` only what this server made.
    MutateOwn,
    /// Destroys; at the tier `mutating` only what this server made.
    DestroyOwn,
    /// Destroys; not offered below the tier `destructive`.
    Destroy,
    /// Does only what the calls do that it makes, and these are judged one by one.
    AsCalled,
}

/// What a tool is about. Tool lists in the policy can name a whole group, behind an `@`.
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
    /// The people who are attached, and the messages they are shown.
    Client,
    /// Several calls at once.
    Batch,
    /// Workflows, for MCP clients without support for prompts.
    Prompt,
}

impl Group {
    /// All groups.
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name, as people write it behind an `@`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Whether a client should show the tool to its model from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// When the model looks for it.
    OnDemand,
    /// Always.
    Always,
}

/// Everything there is to say about a tool. There are no defaults: what is not said does not compile.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// The name, snake_case, verb first.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// When to use it and what comes back, in a sentence or two.
    pub description: &'static str,
    /// What it is about.
    pub group: Group,
    /// How much it can do.
    pub tier: Tier,
    /// The toolsets it is in, beside `all`.
    pub sets: &'static [Toolset],
    /// Whether calling it twice does no more than calling it once.
    pub idempotent: bool,
    /// Whether it reaches programs whose behaviour nobody can foresee.
    pub open_world: bool,
    /// Whether clients should load it up front.
    pub load: Load,
}

impl Meta {
    /// Whether a person should agree to each call: what ends a whole server takes everybody's work
    /// with it.
    pub fn needs_a_person(&self) -> bool {
        self.tier == Tier::Destroy && self.group == Group::Server
    }

    /// Whether it types into the pane it is told.
    pub fn types(&self) -> bool {
        let typing = [Group::Input, Group::Command, Group::Watch];
        self.tier == Tier::Mutate && typing.contains(&self.group)
    }
}
