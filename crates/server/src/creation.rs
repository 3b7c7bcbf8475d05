//! What the tools that create something have in common: where it starts, with which environment,
//! and what they answer.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tmux::{Command, Error};

use crate::host::{Created, with_environment};
use crate::text::inline;
use crate::tool::{Code, Form, Output, ToolError, path};

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

impl From<Created> for NewIds {
    fn from(created: Created) -> Self {
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
    let path = path::absolute("cwd", &cwd)?;
    if !path.is_dir() {
        return Err(ToolError::invalid_argument(format!("`cwd`: `{cwd}` is not a directory"))
            .hint("give the absolute path of one that exists"));
    }
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Refuses names that no environment can hold.
pub(crate) fn check_environment(env: &BTreeMap<String, String>) -> Result<(), ToolError> {
    match env.keys().find(|name| !is_variable(name)) {
        Some(name) => {
            Err(ToolError::invalid_argument(format!("`env`: `{name}` is no variable's name"))
                .hint("write {\"NAME\": \"value\"}"))
        }
        None => Ok(()),
    }
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

/// Adds start directory, environment and program to a command that creates something.
pub(crate) fn with_start(
    command: Command,
    cwd: Option<&str>,
    env: &BTreeMap<String, String>,
    program: Option<&str>,
) -> Command {
    let command = command.option_if("-c", cwd.map(tmux::escape_format));
    let command = with_environment(command, env.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    match program {
        Some(program) => command.arg("--").arg(program),
        None => command,
    }
}
