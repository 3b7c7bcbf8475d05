//! The body of a resource, composed from tool results. Pure.

use serde_json::Value;

use super::MatchedResource;
use crate::contract::{Code, ToolError};
use terminal::text::inline;

/// How the results of a resource's calls become its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// The structured content of the only result.
    Answer,
    /// The `text` field of the only result.
    Text,
    /// A session with `windows`.
    Session,
    /// A session with `windows`, each with `panes`.
    Tree,
    /// A window with `panes`.
    Window,
    /// A pane with its state.
    Pane,
}

/// Composes the body of a resource. The answers are in the order of its calls.
pub fn body(found: &MatchedResource, answers: Vec<Value>) -> Result<String, ToolError> {
    let mut answers = answers.into_iter();
    let mut next = || answers.next().unwrap_or_default();
    let mut whole = next();
    match found.resource.body {
        Body::Answer => {}
        Body::Text => return Ok(take_text(&mut whole, "text")),
        Body::Session => {
            must_be(found, &whole, "session")?;
            put(&mut whole, "windows", take(next(), "windows"));
        }
        Body::Tree => {
            must_be(found, &whole, "session")?;
            let windows = take(next(), "windows");
            put(&mut whole, "windows", with_panes(windows, take(next(), "panes")));
        }
        Body::Window => {
            must_be(found, &whole, "window")?;
            // The panes of a window linked to several sessions are listed once for each session.
            let here = whole.pointer("/session/session_id").cloned();
            let mut panes = take(next(), "panes");
            panes.retain(|pane| pane.get("session_id") == here.as_ref());
            put(&mut whole, "panes", panes);
        }
        Body::Pane => {
            let state = next();
            if let (Some(Value::Object(pane)), Value::Object(state)) =
                (whole.get_mut("pane"), state)
            {
                pane.extend(state);
            }
        }
    }
    Ok(whole.to_string())
}

/// Checks the kind of object. Targets are resolved as tools do it, so `dev:2` in the URI of a session
/// finds a window.
fn must_be(found: &MatchedResource, whole: &Value, kind: &'static str) -> Result<(), ToolError> {
    match whole.get("kind").and_then(Value::as_str) {
        Some(other) if other != kind => {
            let name = inline(&found.value(kind));
            let what = format!("`{name}` is a {other}, not a {kind}");
            Err(ToolError::new(Code::NotFound, what)
                .hint(format!("read tmux://{other}s/… instead, or give a {kind}")))
        }
        _ => Ok(()),
    }
}

/// Adds each window's panes to it.
fn with_panes(mut windows: Vec<Value>, panes: Vec<Value>) -> Vec<Value> {
    for window in &mut windows {
        let id = window.get("window_id").cloned();
        let inside = panes.iter().filter(|pane| pane.get("window_id") == id.as_ref());
        // Replaces the number of panes, which is in the same field.
        put(window, "panes", inside.cloned().collect());
    }
    windows
}

fn put(value: &mut Value, name: &str, list: Vec<Value>) {
    if let Value::Object(fields) = value {
        fields.insert(name.to_owned(), Value::Array(list));
    }
}

fn take(answer: Value, list: &str) -> Vec<Value> {
    match answer {
        Value::Object(mut fields) => match fields.remove(list) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn take_text(answer: &mut Value, field: &str) -> String {
    match answer.get_mut(field).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::find;
    use super::*;

    fn body_of(uri: &str, answers: Vec<Value>) -> Result<Value, String> {
        let body = body(&find(uri).unwrap(), answers).map_err(|error| error.to_string())?;
        Ok(serde_json::from_str(&body).unwrap())
    }

    #[test]
    fn tree_has_each_pane_in_its_window() {
        let info = json!({"kind": "session", "session": {"name": "dev"}});
        let windows =
            json!({"windows": [{"window_id": "@1", "panes": 2}, {"window_id": "@2", "panes": 1}]});
        let panes = json!({"panes": [{"pane_id": "%1", "window_id": "@1"},
            {"pane_id": "%2", "window_id": "@2"}, {"pane_id": "%3", "window_id": "@1"}]});
        let tree = body_of("tmux://sessions/dev/tree", vec![info, windows, panes]).unwrap();
        assert_eq!(tree.pointer("/windows/0/panes/1/pane_id"), Some(&json!("%3")));
        assert_eq!(
            tree.pointer("/windows/1/panes"),
            Some(&json!([{"pane_id": "%2", "window_id": "@2"}]))
        );
    }

    #[test]
    fn object_of_another_kind_is_not_found() {
        let info = || json!({"kind": "window", "session": {}});
        let error = body_of("tmux://sessions/dev:2", vec![info(), json!({})]).unwrap_err();
        assert!(error.contains("not_found") && error.contains("`dev:2` is a window"), "{error}");
        let error = body_of("tmux://windows/dev", vec![json!({"kind": "session"})]).unwrap_err();
        assert!(error.contains("tmux://sessions/"), "{error}");
    }

    #[test]
    fn linked_window_has_the_panes_of_one_session() {
        let info = json!({"kind": "window", "session": {"session_id": "$1"}});
        let panes = json!({"panes": [{"pane_id": "%1", "session_id": "$0"}, {"pane_id": "%1", "session_id": "$1"}]});
        let window = body_of("tmux://windows/%401", vec![info, panes]).unwrap();
        assert_eq!(window["panes"], json!([{"pane_id": "%1", "session_id": "$1"}]));
    }

    #[test]
    fn pane_includes_its_state() {
        let info = json!({"kind": "pane", "pane": {"pane_id": "%1", "tty": "/dev/pts/1"}});
        let state = json!({"pane_id": "%1", "at_prompt": true});
        let pane = body_of("tmux://panes/%251", vec![info, state]).unwrap();
        assert_eq!(pane["pane"], json!({"pane_id": "%1", "tty": "/dev/pts/1", "at_prompt": true}));
    }
}
