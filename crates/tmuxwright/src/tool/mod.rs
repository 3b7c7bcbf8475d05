//! What a tool is: its declaration, its arguments, its answer. No tmux, no MCP, no policy.
//!
//! A tool is one file in [`crate::tools`] with a type that implements [`Tool`], and one line in its
//! group's list. Everything else follows from [`Meta`] and the two schemas.

mod args;
mod around;
mod buffer;
mod calls;
mod channel;
mod cx;
mod error;
mod guard;
mod line;
pub(crate) mod path;
mod reach;
mod schema;
mod target;
mod toolset;
mod turn;

use std::fmt;
use std::future::Future;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::audit::Shape;

pub(crate) use args::nearest;
pub use buffer::BufferName;
pub(crate) use buffer::{buffer_failed, no_buffer};
pub use calls::{Calls, Request, Touched};
pub use channel::ChannelName;
pub use cx::{Cx, Progress, Step, Surroundings};
pub use error::{Code, ToolError};
pub use guard::{Entered, Guard, NewPlace, Spot, Subject};
pub(crate) use line::Stroke;
pub use path::FilePath;
pub use reach::{Resolved, Tree};
pub use target::Target;
pub use toolset::Toolset;
pub use turn::Lines;
pub(crate) use turn::Turn;

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

/// What a tool is about. Tool lists in the policy can name a whole group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Waiting for things to happen.
    Watch,
    /// Signals between programs.
    Channel,
    /// Paste buffers.
    Buffer,
    /// Options, environment, hooks and formats.
    Option,
    /// The people who are attached, and what they are shown.
    Client,
    /// Several calls at once.
    Batch,
    /// Workflows, for clients that know no prompts.
    Prompt,
}

impl Group {
    /// All groups.
    pub const ALL: &'static [Self] = &[
        Self::Server,
        Self::Session,
        Self::Window,
        Self::Pane,
        Self::Object,
        Self::Input,
        Self::Screen,
        Self::Command,
        Self::Watch,
        Self::Channel,
        Self::Buffer,
        Self::Option,
        Self::Client,
        Self::Batch,
        Self::Prompt,
    ];

    /// The name, as people write it behind an `@`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Session => "session",
            Self::Window => "window",
            Self::Pane => "pane",
            Self::Object => "object",
            Self::Input => "input",
            Self::Screen => "screen",
            Self::Command => "command",
            Self::Watch => "watch",
            Self::Channel => "channel",
            Self::Buffer => "buffer",
            Self::Option => "option",
            Self::Client => "client",
            Self::Batch => "batch",
            Self::Prompt => "prompt",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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

/// How an answer is shown to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Structured content, and the same facts as short rows of text.
    Data,
    /// Text from a terminal: plain text alone, since several clients drop it beside structure.
    Text,
    /// Answers of other tools, each as its client would see it; shown like text.
    Calls,
}

/// What a tool answers with.
pub trait Output: Serialize + JsonSchema + Send {
    /// How it is shown.
    const FORM: Form;

    /// The answer as text: facts first, then what the terminal showed.
    fn text(&self) -> String;

    /// Shortens the text from the terminal to `max` characters and notes what was cut.
    fn limit(&mut self, max: usize) {
        let _ = max;
    }

    /// Refuses an answer longer than `max` that would be worthless if it were cut.
    fn fits(&self, max: usize) -> Result<(), ToolError> {
        let _ = max;
        Ok(())
    }

    /// The answer with all there is to show, as far as `max` allows. `limit` comes after it.
    fn whole(&mut self, max: usize) -> String {
        self.limit(max);
        self.text()
    }

    /// Whether the text may keep its colours.
    fn colors(&self) -> bool {
        false
    }

    /// What there is to look at; it is handed out once.
    fn images(&mut self) -> Vec<Image> {
        Vec::new()
    }

    /// What to tell a client that is at something else by now.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }

    /// How many secrets were taken out of the answers of other tools in this one.
    fn redacted(&self) -> usize {
        0
    }
}

/// A picture for the model to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// What kind of file it is.
    pub mime: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Something that happened, in facts: nothing that a terminal showed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// All of it in a sentence.
    pub text: String,
    /// Its parts; the names are plain words.
    pub facts: Vec<(&'static str, String)>,
}

/// One tool.
pub trait Tool: 'static {
    /// Its declaration.
    const META: Meta;
    /// Its arguments; their doc comments are what the model reads.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// Its answer.
    type Output: Output;

    /// Does the work.
    fn call(
        cx: &Cx,
        args: Self::Args,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// An answer whose type no longer matters.
#[derive(Debug)]
pub struct Reply {
    /// How it is shown.
    pub form: Form,
    /// The answer as text.
    pub text: String,
    /// Whether the text may keep its colours.
    pub colors: bool,
    /// What there is to look at.
    pub images: Vec<Image>,
    /// The answer as data.
    pub structured: Value,
    /// What to tell a client that is at something else by now.
    pub notices: Vec<Notice>,
    /// How many secrets were taken out.
    pub redacted: usize,
    /// The text of a terminal before it was shortened, if that was asked for.
    pub whole: Option<String>,
}

/// The most characters that are kept of an answer as a whole.
const MOST_WHOLE: usize = 10_000_000;

/// Checks arguments against their schema, does the work, and keeps the answer within the limit.
pub type Call = for<'a> fn(
    cx: &'a Cx,
    schema: &'a Map<String, Value>,
    args: Map<String, Value>,
) -> BoxFuture<'a, Result<Reply, ToolError>>;

/// A tool whose type no longer matters: what the registry holds.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The tool's declaration.
    pub meta: &'static Meta,
    /// The schema of its arguments, clean enough for every client.
    pub input_schema: fn() -> Map<String, Value>,
    /// What may be written down of its arguments.
    pub shape: fn() -> Shape,
    /// The schema of its answer.
    pub output_schema: fn() -> Map<String, Value>,
    /// Checks the arguments and does the work.
    pub call: Call,
}

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: Tool>() -> Self {
        Self {
            meta: &T::META,
            input_schema: schema::input::<T::Args>,
            shape: schema::shape::<T::Args>,
            output_schema: schema::output::<T::Output>,
            call: |cx, schema, args| Box::pin(call::<T>(cx, schema, args)),
        }
    }
}

async fn call<T: Tool>(
    cx: &Cx,
    schema: &Map<String, Value>,
    args: Map<String, Value>,
) -> Result<Reply, ToolError> {
    let args = args::read::<T::Args>(schema, args)?;
    let mut output = T::call(cx, args).await?;
    output.fits(cx.request.max)?;
    let is_whole = cx.request.whole && T::Output::FORM == Form::Text;
    let whole = is_whole.then(|| output.whole(MOST_WHOLE));
    output.limit(cx.request.max);
    let structured = serde_json::to_value(&output)
        .map_err(|error| ToolError::internal(format!("the answer has no JSON form: {error}")))?;
    Ok(Reply {
        form: T::Output::FORM,
        text: output.text(),
        colors: output.colors(),
        images: output.images(),
        structured,
        notices: output.notices(),
        redacted: output.redacted(),
        whole,
    })
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.meta.name).finish()
    }
}
