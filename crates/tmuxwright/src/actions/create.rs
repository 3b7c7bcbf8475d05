//! What the tools that create something have in common: where it starts, with which environment,
//! and what they answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tmux_control::{Command, Error, Row};

use crate::context::Cx;
use crate::contract::{Code, CreateLocation, Form, Output, ToolError, absolute};
use crate::host::{CreatedPane, NewPane, with_environment};
use terminal::text::inline;

/// The ids of what was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewIds {
    /// The session.
    pub(crate) session_id: String,
    /// The window.
    pub(crate) window_id: String,
    /// The pane.
    pub(crate) pane_id: String,
    /// The window's index.
    pub(crate) index: u32,
    /// The session's name.
    pub(crate) session: String,
}

impl From<CreatedPane> for NewIds {
    fn from(created: CreatedPane) -> Self {
        Self {
            session_id: created.session.to_string(),
            window_id: created.window.to_string(),
            pane_id: created.pane.to_string(),
            index: created.index,
            session: created.session_name,
        }
    }
}

impl Output for NewIds {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { session_id, window_id, pane_id, index, session } = self;
        format!(
            "pane {pane_id} · window {window_id} (index {index}) · session {session_id} {}",
            inline(session)
        )
    }
}

/// The directory to start in, as tmux needs it. tmux itself would fall back to another one in
/// silence if it is not there.
pub(crate) fn start_directory(cwd: Option<String>) -> Result<Option<String>, ToolError> {
    let Some(cwd) = cwd else { return Ok(None) };
    let path = absolute("cwd", &cwd)?;
    if !path.is_dir() {
        return Err(ToolError::invalid_argument(format!("`cwd`: `{cwd}` is not a directory"))
            .hint("give the absolute path of one that exists"));
    }
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Refuses names that no environment can hold, and those that may not be set.
pub(crate) fn check_environment(cx: &Cx, env: &BTreeMap<String, String>) -> Result<(), ToolError> {
    if let Some(name) = env.keys().find(|name| !is_variable(name)) {
        return Err(ToolError::invalid_argument(format!("`env`: `{name}` is no variable's name"))
            .hint("write {\"NAME\": \"value\"}"));
    }
    env.keys().try_for_each(|name| cx.may_set_variable(name))
}

/// Whether an environment can hold a variable of this name.
pub(crate) fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Refuses names that no tmux takes as they are: it spells control characters in another way,
/// ignores the name, or refuses it.
pub(crate) fn check_name(argument: &str, name: Option<&str>) -> Result<(), ToolError> {
    match name {
        Some(name) if name.contains(char::is_control) => {
            Err(ToolError::invalid_argument(format!("`{argument}` holds a control character"))
                .hint("give a name without line ends, tabs and escape sequences"))
        }
        _ => Ok(()),
    }
}

/// Says that a session's name is taken, if that is what went wrong.
pub(crate) fn explain_duplicate(error: Error, name: &str) -> ToolError {
    if !error.is_duplicate() {
        return error.into();
    }
    ToolError::new(Code::Exists, format!("there is a session `{name}` already"))
        .hint(format!("use it as target `{name}`, or choose another name"))
}

/// Adds start directory, environment and program to a command that starts something, if they may be
/// used.
pub(crate) fn with_start(
    cx: &Cx,
    command: Command,
    cwd: Option<&str>,
    env: &BTreeMap<String, String>,
    program: Option<&str>,
) -> Result<Command, ToolError> {
    check_environment(cx, env)?;
    cx.may_run(program.unwrap_or_default())?;
    let command = command.option_if("-c", cwd.map(tmux_control::escape_format));
    let command = with_environment(command, env.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    Ok(match program {
        Some(program) => command.arg("--").arg(program),
        None => command,
    })
}

/// Makes something with a command that prints what it has made, and marks it as ours. What must
/// follow without a break comes behind it.
pub(crate) async fn create(
    cx: &Cx,
    place: CreateLocation<'_>,
    commands: impl Into<Vec<Command>>,
) -> Result<CreatedPane, ToolError> {
    cx.may_create(place)?;
    let printed = cx.tmux().sequence(commands.into()).await.map_err(|error| match place {
        CreateLocation::NewSession(Some(name)) => explain_duplicate(error, name),
        _ => error.into(),
    })?;
    let printed: Vec<u8> = printed.into_iter().flat_map(|reply| reply.0).collect();
    let created = CreatedPane::parse_one("a new pane", &printed)?;
    cx.host.claim(created.pane).await?;
    Ok(created)
}

/// Makes a pane in our own session.
pub(crate) async fn create_at_home(cx: &Cx, wish: NewPane) -> Result<CreatedPane, ToolError> {
    cx.may_create(CreateLocation::OwnSession)?;
    check_environment(cx, &wish.env)?;
    cx.may_run(wish.command.as_deref().unwrap_or_default())?;
    Ok(cx.host.new_pane(wish).await?)
}
