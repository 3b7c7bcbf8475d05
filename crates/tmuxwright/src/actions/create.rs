//! Creation of sessions, windows and panes: start directory, environment, program and ownership.

use std::collections::BTreeMap;

use tmux_control::{Command, Error, Row};

use crate::context::Cx;
use crate::contract::{Code, CreateLocation, ToolError, VariableReach, absolute, variable_name};
use crate::host::{CreatedPane, NewPane, with_environment};

/// The start directory as an absolute path that exists: tmux silently falls back to another directory
/// if it does not.
pub(crate) async fn start_directory(
    cx: &Cx,
    cwd: Option<String>,
) -> Result<Option<String>, ToolError> {
    let Some(cwd) = cwd else { return Ok(None) };
    let system = cx.host.system();
    let cwd = system.expand_remote_home(cwd).await;
    let path = absolute("cwd", &cwd)?;
    if !system.has_directory(&path).await {
        return Err(ToolError::invalid_argument(format!("`cwd`: `{cwd}` is not a directory"))
            .hint("give the absolute path of an existing directory"));
    }
    Ok(Some(path.to_string_lossy().into_owned()))
}

/// Refuses invalid names of environment variables, and those that the policy protects.
pub(crate) fn check_environment(cx: &Cx, env: &BTreeMap<String, String>) -> Result<(), ToolError> {
    env.keys().try_for_each(|name| {
        variable_name("env", name)?;
        cx.may_set_variable(name, VariableReach::OwnPrograms)
    })
}

/// Refuses names with control characters: depending on its version, tmux escapes them, ignores the name
/// or refuses it.
pub(crate) fn check_name(argument: &str, name: Option<&str>) -> Result<(), ToolError> {
    match name {
        Some(name) if name.contains(char::is_control) => {
            Err(ToolError::invalid_argument(format!("`{argument}` contains a control character"))
                .hint("give a name without newlines, tabs and escape sequences"))
        }
        _ => Ok(()),
    }
}

/// The error of a command that names a session; says so if the name is taken.
pub(crate) fn explain_duplicate(error: Error, name: &str) -> ToolError {
    if !error.is_duplicate() {
        return error.into();
    }
    ToolError::new(Code::Exists, format!("session `{name}` exists already"))
        .hint(format!("use it as target `{name}`, or choose another name"))
}

/// Adds start directory, environment and program to a command that creates a pane, if the policy allows
/// them.
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

/// Runs a command that creates a pane and prints its ids, and marks the pane as this server's own.
/// Commands that must follow at once come after it in the same sequence.
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

/// Creates a pane in the own session.
pub(crate) async fn create_in_own_session(
    cx: &Cx,
    new_pane: NewPane,
) -> Result<CreatedPane, ToolError> {
    cx.may_create(CreateLocation::OwnSession)?;
    check_environment(cx, &new_pane.env)?;
    cx.may_run(new_pane.command.as_deref().unwrap_or_default())?;
    Ok(cx.host.new_pane(new_pane).await?)
}
