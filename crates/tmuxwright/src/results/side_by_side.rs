//! Texts of the answers of several tmux servers: a summary, then the answers, those that say the same as one.

use serde_json::Value;

use super::words::{FactRow, count, field, seconds};
use crate::contract::{FleetPart, Reply, ToolError};

/// Fields that may differ between commands whose results are shown as one.
const OWN_FIELDS: [&str; 4] = ["server", "command_id", "pane_id", "duration"];

/// The results of a command on several servers.
pub(crate) fn commands(parts: &[FleetPart]) -> String {
    let groups = groups(parts);
    let mut states: Vec<(String, Vec<&FleetPart>)> = Vec::new();
    for part in parts {
        let state = part.answer.as_ref().map_or_else(|_| "failed".to_owned(), state);
        match states.iter_mut().find(|(other, _)| *other == state) {
            Some((_, same)) => same.push(part),
            None => states.push((state, vec![part])),
        }
    }
    let mut summary = FactRow::new(count(parts.len() as u64, "server"));
    for (state, same) in states {
        let number = same.len();
        summary = summary.fact(match state.as_str() {
            "exit 0" => format!("{number} {state}"),
            _ => format!("{number} {state} ({})", names(&same)),
        });
    }
    let mut text = String::from(summary);
    for group in groups {
        let Some(first) = group.first() else { continue };
        match &first.answer {
            Ok(reply) => {
                let facts = match group.as_slice() {
                    // The text begins with the facts.
                    [_] => reply.text.lines().next().unwrap_or_default().to_owned(),
                    _ => common_facts(reply, &group),
                };
                let output = text_of(reply, "output").unwrap_or_default();
                add_block(&mut text, &names(&group), &facts, output.lines());
            }
            Err(error) => add_failure(&mut text, &names(&group), error),
        }
    }
    text
}

/// The matching lines on several servers.
pub(crate) fn searches(parts: &[FleetPart]) -> String {
    let mut servers: Vec<&str> = parts.iter().map(|part| part.server.as_str()).collect();
    servers.sort_unstable();
    servers.dedup();
    let replies = || parts.iter().filter_map(|part| part.answer.as_ref().ok());
    let total: u64 =
        replies().filter_map(|reply| value_of(reply, "total").and_then(Value::as_u64)).sum();
    let failed: Vec<&FleetPart> = parts.iter().filter(|part| part.answer.is_err()).collect();
    let failures = format!("{} failed ({})", failed.len(), names(&failed));
    let mut text = String::from(
        FactRow::new(count(servers.len() as u64, "server"))
            .fact(count(total, "matching line"))
            .flag(!failed.is_empty(), &failures),
    );
    for part in parts {
        match &part.answer {
            Ok(reply) => {
                let mut lines = reply.text.lines();
                let facts = lines.next().unwrap_or_default();
                add_block(&mut text, &name(part), facts, lines);
            }
            Err(error) => add_failure(&mut text, &name(part), error),
        }
    }
    text
}

/// Adds the answer of one or several servers. The lines below its first are indented: no line that a terminal shows
/// can be read as the answer of another server.
fn add_block<'a>(text: &mut String, of: &str, facts: &str, lines: impl Iterator<Item = &'a str>) {
    text.push_str(&format!("\n{of}: {facts}"));
    for line in lines {
        text.push_str(&format!("\n  {line}"));
    }
}

fn add_failure(text: &mut String, of: &str, error: &ToolError) {
    let shown = error.to_string();
    let mut lines = shown.lines();
    add_block(text, of, lines.next().unwrap_or_default(), lines);
}

/// Answers that say the same, in the order of their first.
fn groups(parts: &[FleetPart]) -> Vec<Vec<&FleetPart>> {
    let mut groups: Vec<Vec<&FleetPart>> = Vec::new();
    for part in parts {
        let same =
            groups.iter_mut().find(|group| group.first().is_some_and(|it| says_same(it, part)));
        match same {
            Some(group) => group.push(part),
            None => groups.push(vec![part]),
        }
    }
    groups
}

fn says_same(one: &FleetPart, other: &FleetPart) -> bool {
    match (&one.answer, &other.answer) {
        (Ok(one), Ok(other)) => {
            let (Some(one), Some(other)) =
                (one.structured.as_object(), other.structured.as_object())
            else {
                return false;
            };
            // Of output that is cut, the rest may differ.
            let is_whole = one.get("truncated") != Some(&Value::Bool(true));
            let shared = |name: &&String| !OWN_FIELDS.contains(&name.as_str());
            let covers = |one: &serde_json::Map<String, Value>, other: &serde_json::Map<_, _>| {
                one.keys().filter(shared).all(|name| one.get(name) == other.get(name))
            };
            is_whole && covers(one, other) && covers(other, one)
        }
        (Err(one), Err(other)) => one == other,
        _ => false,
    }
}

/// The first line of results that are shown as one.
fn common_facts(first: &Reply, group: &[&FleetPart]) -> String {
    let replies = || group.iter().filter_map(|part| part.answer.as_ref().ok());
    let texts = |name: &str| -> Vec<String> {
        replies().filter_map(|reply| Some(text_of(reply, name)?.to_owned())).collect()
    };
    let durations =
        || replies().filter_map(|reply| value_of(reply, "duration").and_then(Value::as_f64));
    let shortest = seconds(durations().fold(f64::INFINITY, f64::min));
    let longest = seconds(durations().fold(0.0, f64::max));
    let duration = if shortest == longest { longest } else { format!("{shortest} to {longest}") };
    let lines = value_of(first, "total_lines").and_then(Value::as_u64).unwrap_or_default();
    let text = |name: &str| text_of(first, name);
    let (ids, panes) = (texts("command_id").join(", "), texts("pane_id").join(", "));
    FactRow::new(state(first))
        .maybe(text("waiting").map(|input| format!("waits for input ({input}): send_keys")))
        .fact(duration)
        .fact(count(lines, "line"))
        .fact(format!("commands {ids} in {panes}"))
        .maybe(text("ran_as").map(|identity| format!("as {}", field(identity))))
        .maybe(text("note"))
        .into()
}

/// The state of a command.
fn state(reply: &Reply) -> String {
    match value_of(reply, "exit_code").and_then(Value::as_i64) {
        Some(code) => format!("exit {code}"),
        None => text_of(reply, "status").unwrap_or_default().to_owned(),
    }
}

fn value_of<'a>(reply: &'a Reply, name: &str) -> Option<&'a Value> {
    reply.structured.get(name)
}

fn text_of<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    value_of(reply, name).and_then(Value::as_str)
}

fn names(parts: &[&FleetPart]) -> String {
    parts.iter().map(|part| name(part)).collect::<Vec<_>>().join(", ")
}

/// The server of an answer, with the target if the call named one.
fn name(part: &FleetPart) -> String {
    match &part.target {
        Some(target) => field(&format!("{}/{target}", part.server)),
        None => field(&part.server),
    }
}
