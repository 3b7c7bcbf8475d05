//! The contract of a tool: its declaration, arguments, answer and errors, and the interface to the policy.
//! Pure: no engine, no connection to tmux, no MCP.
//!
//! - `meta`: [`Meta`], [`Tier`], [`Group`]. `toolset`: [`Toolset`].
//! - `schema`: JSON schemas that every client accepts. `arguments`: parsing a call's arguments.
//! - `output`: [`Output`] and [`Reply`]. `error`: [`ToolError`] and its codes.
//! - `guard`: [`Guard`], the interface between the call context and the policy.
//! - `fleet`: [`Fleet`], calls on several tmux servers at once.
//! - `consent`: the answer of a person who was asked about a call.
//! - `disclosure`, `digest`, `ids`: the part of a call that may be written to a log.
//! - `target`, `channel_name`, `buffer_name`, `file_path`: types of arguments.

pub(crate) mod arguments;
mod buffer_name;
mod channel_name;
mod checks;
mod consent;
pub(crate) mod digest;
mod disclosure;
mod error;
mod field;
mod file_path;
mod fleet;
mod guard;
mod ids;
mod meta;
mod nearest;
mod output;
pub(crate) mod schema;
mod target;
mod toolset;

pub use buffer_name::BufferName;
pub use channel_name::ChannelName;
pub(crate) use checks::{
    format_refused, is_reserved, no_nul, not_empty, not_reserved, variable_name,
};
pub use consent::{AskedPerson, PersonAnswer};
pub use disclosure::{CLEAR, Disclosure};
pub(crate) use error::shorten;
pub use error::{Code, ToolError};
pub(crate) use field::{escape_invisible, field, json_line};
pub use file_path::FilePath;
pub(crate) use file_path::{absolute, expand_home, file_failed};
pub use fleet::{Fleet, FleetEach, FleetFirst, FleetList, FleetPart};
pub use guard::{
    Admission, CreateLocation, Guard, OptionReach, PaneIdentity, ShellLine, TargetObject,
    VariableReach,
};
pub use ids::ObjectIds;
pub use meta::{Group, Load, Meta, Tier};
pub(crate) use nearest::nearest;
pub use output::{Form, Image, Notice, Output, Reply};
pub use target::Target;
pub use toolset::Toolset;
