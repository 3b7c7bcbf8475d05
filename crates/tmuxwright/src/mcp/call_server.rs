//! The tmux server of a call: taken out of the arguments before the tool sees them, and named in the answer. Tools
//! do not know that there are several.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::app::{AppServer, McpClient};
use crate::contract::{Code, Reply, ToolError};
use crate::registry::SERVER_ARGUMENT;

/// The argument that names a command in every tool that takes one.
const COMMAND_ARGUMENT: &str = "command_id";

/// Limit of an unknown name in the audit log.
const MAX_NAME_CHARS: usize = 100;

/// The tmux server of a call.
pub(super) struct ServerChoice {
    /// The server, or the error for a name that none has.
    pub(super) server: Result<Arc<AppServer>, ToolError>,
    /// The name as it is recorded; `None` if there is only one server, or the call is for none.
    pub(super) recorded: Option<Arc<str>>,
}

/// Takes the server of a call out of its arguments.
pub(super) fn choose(
    client: &McpClient,
    tool: &str,
    arguments: &mut Map<String, Value>,
) -> ServerChoice {
    let servers = &client.app.servers;
    if !servers.are_several() || !client.app.registry.is_on_one_server(tool) {
        return ServerChoice { server: servers.find(None).map(Arc::clone), recorded: None };
    }
    let given = arguments.shift_remove(SERVER_ARGUMENT).filter(|given| !given.is_null());
    let name = given.as_ref().and_then(Value::as_str);
    let server = match (&given, name) {
        (Some(_), None) => {
            let message = format!("argument `{SERVER_ARGUMENT}`: a string is expected");
            Err(ToolError::invalid_argument(message).hint("list_servers shows the names"))
        }
        _ => servers.find(name).map(Arc::clone),
    };
    let recorded = match &server {
        Ok(server) => Some(Arc::clone(server.scope.name())),
        Err(_) => name.map(|name| name.chars().take(MAX_NAME_CHARS).collect::<String>().into()),
    };
    ServerChoice { server, recorded }
}

/// Refuses the id of a command that runs or ran on another server.
pub(super) fn check_command(
    client: &McpClient,
    server: &AppServer,
    arguments: &Map<String, Value>,
) -> Result<(), ToolError> {
    let Some(id) = arguments.get(COMMAND_ARGUMENT).and_then(Value::as_str) else { return Ok(()) };
    match client.server_of_command(id.trim(), server) {
        Some(other) => Err(server.scope.elsewhere(&format!("command `{}`", id.trim()), &other)),
        None => Ok(()),
    }
}

/// Names the server in an answer: as a field, and as the first line of the text if it is not the default one. A row
/// of its own cannot be taken for part of what a program printed.
pub(super) fn name_in(answer: &mut Result<Reply, ToolError>, server: &AppServer) {
    let scope = &server.scope;
    let name = scope.name();
    match answer {
        Ok(reply) => {
            if let Value::Object(fields) = &mut reply.structured {
                fields.insert(SERVER_ARGUMENT.to_owned(), Value::String(name.to_string()));
            }
            if !scope.is_default() {
                reply.text.insert_str(0, &heading(name));
            }
            for notice in &mut reply.notices {
                notice.facts.push((SERVER_ARGUMENT, name.to_string()));
            }
        }
        Err(error) => {
            if !scope.is_default() {
                error.message.insert_str(0, &error_prefix(name));
            }
            if error.code == Code::NotFound {
                let looked =
                    format!("`{name}` was searched; other servers: {}", scope.other_names());
                error.hint = Some(match error.hint.take() {
                    Some(hint) => format!("{hint}; {looked}"),
                    None => looked,
                });
            }
        }
    }
}

/// Removes the name of the server from the text of an answer, which will stand under a heading with the name.
pub(super) fn unname(answer: &mut Result<Reply, ToolError>, name: &str) {
    match answer {
        Ok(reply) => {
            if let Some(rest) = reply.text.strip_prefix(&heading(name)) {
                reply.text = rest.to_owned();
            }
        }
        Err(error) => {
            if let Some(rest) = error.message.strip_prefix(&error_prefix(name)) {
                error.message = rest.to_owned();
            }
        }
    }
}

/// The first line of a text that names its server.
pub(super) fn heading(name: &str) -> String {
    format!("{SERVER_ARGUMENT} {name}\n")
}

fn error_prefix(name: &str) -> String {
    format!("{SERVER_ARGUMENT} `{name}`: ")
}
