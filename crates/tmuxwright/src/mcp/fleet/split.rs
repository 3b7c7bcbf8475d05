//! The calls that the arguments of a fleet call ask for: one for each server of `servers`, or for the targets of each
//! server in `targets`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{FleetCalls, FleetMerge, MAX_FLEET_CALLS, ServerCall};
use crate::app::{AppServer, McpClient, Servers};
use crate::context::Request;
use crate::contract::{Fleet, FleetEach, FleetFirst, FleetList, ToolError};
use crate::registry::{SERVER_ARGUMENT, SERVERS_ARGUMENT, TARGETS_ARGUMENT};

/// Targets of a call, with their server.
type OnServer<T> = (Arc<AppServer>, T);

/// A call as its arguments ask for it.
pub(in crate::mcp) enum FleetSplit {
    /// A call on one server, with its arguments.
    OneServer(Map<String, Value>),
    /// A call on several, with the arguments for its record.
    Fleet(Map<String, Value>, Result<FleetCalls, ToolError>),
}

/// Splits a call into those on each server.
pub(in crate::mcp) fn split(
    client: &McpClient,
    tool: &str,
    arguments: Map<String, Value>,
    request: &Request,
) -> FleetSplit {
    let app = &client.app;
    // Without a choice the arguments do not exist. A resource is of one server.
    if !app.servers.are_several() || request.via.is_some() {
        return FleetSplit::OneServer(arguments);
    }
    match app.registry.find(tool).map(|tool| tool.entry.fleet) {
        Ok(Fleet::Each(each)) => split_each(&app.servers, each, arguments),
        Ok(Fleet::First(first)) => split_first(&app.servers, first, arguments),
        Ok(Fleet::None) | Err(_) => FleetSplit::OneServer(arguments),
    }
}

fn split_each(
    servers: &Servers,
    each: &'static FleetEach,
    mut arguments: Map<String, Value>,
) -> FleetSplit {
    let name = match each.list {
        FleetList::Servers => SERVERS_ARGUMENT,
        FleetList::Targets => TARGETS_ARGUMENT,
    };
    let Some(given) = arguments.get(name).filter(|given| !given.is_null()) else {
        return FleetSplit::OneServer(arguments);
    };
    let calls = texts(name, given).and_then(|list| {
        check_count(name, list.len())?;
        check_excluded(each.excluded, name, &arguments)?;
        let chosen = match each.list {
            FleetList::Servers => named_servers(servers, &list)?,
            FleetList::Targets => {
                let default = default_server(servers, &arguments)?;
                named_targets(servers, &default, &list)?
            }
        };
        Ok(FleetCalls { calls: calls_on(each, chosen, &arguments), merge: FleetMerge::Each(each) })
    });
    arguments.shift_remove(SERVER_ARGUMENT);
    FleetSplit::Fleet(arguments, calls)
}

/// One call for each choice, with an equal share of the number that they share.
fn calls_on(
    each: &FleetEach,
    chosen: Vec<OnServer<Option<String>>>,
    arguments: &Map<String, Value>,
) -> Vec<ServerCall> {
    let count = chosen.len();
    let calls = chosen.into_iter().enumerate().map(|(number, (server, target))| {
        let mut arguments = for_server(arguments, &server);
        if let Some(target) = &target {
            arguments.insert("target".to_owned(), target.as_str().into());
        }
        if let Some((name, default)) = each.shared {
            let total = match arguments.get(name) {
                None | Some(Value::Null) => Some(default),
                Some(given) => given.as_u64().and_then(|given| usize::try_from(given).ok()),
            };
            // The tool refuses a value that is not a number, and 0.
            if let Some(total) = total.filter(|total| *total > 0) {
                let share = total / count + usize::from(number < total % count);
                arguments.insert(name.to_owned(), share.max(1).into());
            }
        }
        ServerCall { server, target, arguments }
    });
    calls.collect()
}

fn split_first(
    servers: &Servers,
    first: &'static FleetFirst,
    mut arguments: Map<String, Value>,
) -> FleetSplit {
    let given = arguments.get(TARGETS_ARGUMENT).map(|given| texts(TARGETS_ARGUMENT, given));
    // A wait without servers in its targets is an ordinary call, errors included.
    let Some(Ok(list)) = given else { return FleetSplit::OneServer(arguments) };
    if !list.iter().any(|entry| prefixed(servers, entry).is_some()) {
        return FleetSplit::OneServer(arguments);
    }
    let groups = default_server(servers, &arguments)
        .and_then(|default| targets_by_server(servers, &default, &list));
    let on = |server: &Arc<AppServer>, targets: Vec<String>| {
        let mut arguments = for_server(&arguments, server);
        arguments.insert(TARGETS_ARGUMENT.to_owned(), targets.into());
        arguments
    };
    if let Ok([(server, targets)]) = groups.as_deref() {
        return FleetSplit::OneServer(on(server, targets.clone()));
    }
    let calls = groups.and_then(|groups| {
        check_count(TARGETS_ARGUMENT, groups.len())?;
        check_excluded(first.excluded, TARGETS_ARGUMENT, &arguments)?;
        let calls = groups.into_iter().map(|(server, targets)| {
            let arguments = on(&server, targets);
            ServerCall { server, target: None, arguments }
        });
        Ok(FleetCalls { calls: calls.collect(), merge: FleetMerge::First(first) })
    });
    arguments.shift_remove(SERVER_ARGUMENT);
    FleetSplit::Fleet(arguments, calls)
}

/// The arguments of the call on one server, without its targets.
fn for_server(arguments: &Map<String, Value>, server: &AppServer) -> Map<String, Value> {
    let mut arguments = arguments.clone();
    for name in [SERVERS_ARGUMENT, TARGETS_ARGUMENT] {
        arguments.shift_remove(name);
    }
    arguments.insert(SERVER_ARGUMENT.to_owned(), Value::from(&**server.scope.name()));
    arguments
}

/// The server of targets without a name before them.
fn default_server(
    servers: &Servers,
    arguments: &Map<String, Value>,
) -> Result<Arc<AppServer>, ToolError> {
    match arguments.get(SERVER_ARGUMENT).filter(|given| !given.is_null()) {
        None => servers.find(None).map(Arc::clone),
        Some(Value::String(name)) => servers.find(Some(name)).map(Arc::clone),
        Some(_) => {
            let message = format!("argument `{SERVER_ARGUMENT}`: a string is expected");
            Err(ToolError::invalid_argument(message).hint("list_servers shows the names"))
        }
    }
}

/// The server and the target of `NAME/TARGET`, if a server has exactly this name. Names may hold slashes: the longest
/// one counts.
fn prefixed<'a>(servers: &Servers, entry: &'a str) -> Option<(Arc<AppServer>, &'a str)> {
    let found = servers.all().iter().filter_map(|server| {
        let rest = entry.strip_prefix(&**server.scope.name())?.strip_prefix('/')?;
        Some((Arc::clone(server), rest))
    });
    found.min_by_key(|(_, rest)| rest.len())
}

/// The servers of a list of names, each once.
fn named_servers(
    servers: &Servers,
    names: &[String],
) -> Result<Vec<OnServer<Option<String>>>, ToolError> {
    let mut chosen: Vec<OnServer<Option<String>>> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let at = format!("{SERVERS_ARGUMENT}[{place}]");
        let server = servers.find_for(&at, Some(name))?;
        if chosen.iter().any(|(other, _)| Arc::ptr_eq(other, server)) {
            return Err(twice(&at, server.scope.name()));
        }
        chosen.push((Arc::clone(server), None));
    }
    Ok(chosen)
}

/// The servers and targets of a list, each once. `NAME/` is a whole server.
fn named_targets(
    servers: &Servers,
    default: &Arc<AppServer>,
    entries: &[String],
) -> Result<Vec<OnServer<Option<String>>>, ToolError> {
    let mut chosen: Vec<OnServer<Option<String>>> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let (server, target) =
            prefixed(servers, entry).unwrap_or_else(|| (Arc::clone(default), entry.as_str()));
        let is_whole = target.is_empty() && !entry.is_empty();
        let target = (!is_whole).then(|| target.to_owned());
        let is_twice = chosen.iter().any(|(other, theirs)| {
            let is_part = theirs.is_none() || target.is_none() || *theirs == target;
            Arc::ptr_eq(other, &server) && is_part
        });
        if is_twice {
            return Err(twice(&format!("{TARGETS_ARGUMENT}[{place}]"), entry));
        }
        chosen.push((server, target));
    }
    Ok(chosen)
}

/// The targets of each server, in the order of the list.
fn targets_by_server(
    servers: &Servers,
    default: &Arc<AppServer>,
    entries: &[String],
) -> Result<Vec<OnServer<Vec<String>>>, ToolError> {
    let mut groups: Vec<OnServer<Vec<String>>> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        let (server, target) =
            prefixed(servers, entry).unwrap_or_else(|| (Arc::clone(default), entry.as_str()));
        if target.is_empty() {
            let message = format!("`{TARGETS_ARGUMENT}[{place}]`: `{entry}` names no pane");
            return Err(ToolError::invalid_argument(message)
                .hint("write the pane behind the name of its server, as in `build1/%3`"));
        }
        match groups.iter_mut().find(|(other, _)| Arc::ptr_eq(other, &server)) {
            Some((_, targets)) => targets.push(target.to_owned()),
            None => groups.push((server, vec![target.to_owned()])),
        }
    }
    Ok(groups)
}

/// A list of texts, also if it was sent as one text, as some MCP clients do.
fn texts(name: &str, given: &Value) -> Result<Vec<String>, ToolError> {
    let parsed = given.as_str().and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
    let list = match given {
        Value::Array(items) => {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        _ => parsed,
    };
    list.ok_or_else(|| {
        ToolError::invalid_argument(format!("argument `{name}`: a list of strings is expected"))
            .hint("list_servers shows the names of the servers")
    })
}

/// Refuses an empty list, and one with more calls than are made at once.
fn check_count(name: &str, count: usize) -> Result<(), ToolError> {
    if (1..=MAX_FLEET_CALLS).contains(&count) {
        return Ok(());
    }
    Err(ToolError::invalid_argument(format!("`{name}` is for {count} calls"))
        .hint(format!("give 1 to {MAX_FLEET_CALLS}, or leave `{name}` out")))
}

/// Refuses arguments that do not go with the list.
fn check_excluded(
    excluded: &[(&str, &str)],
    list: &str,
    arguments: &Map<String, Value>,
) -> Result<(), ToolError> {
    let given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
    match excluded.iter().find(|(name, _)| given(name)) {
        Some((name, hint)) => {
            let message = format!("`{name}` does not go with `{list}`");
            Err(ToolError::invalid_argument(message).hint(*hint))
        }
        None => Ok(()),
    }
}

fn twice(argument: &str, entry: &str) -> ToolError {
    let shown: String = entry.chars().take(100).collect();
    ToolError::invalid_argument(format!("`{argument}`: `{shown}` is in the list already"))
        .hint("give each once, and a whole server without its parts")
}
