//! Answers of tools, put together as one body. Pure.

use serde_json::Value;

use super::Found;
use crate::contract::{Code, ToolError};
use terminal::text::inline;

/// How the answers to a resource's calls become one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// The answer.
    Answer,
    /// The answer's text alone.
    Text,
    /// A session, and `windows`.
    Session,
    /// A session, and `windows` with `panes` in each.
    Tree,
    /// A window, and `panes`.
    Window,
    /// A pane, with its state.
    Pane,
}

/// The body that a resource has with these answers, which are in the order of its calls.
pub fn body(found: &Found, answers: Vec<Value>) -> Result<String, ToolError> {
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
            put(&mut whole, "windows", grown(windows, take(next(), "panes")));
        }
        Body::Window => {
            must_be(found, &whole, "window")?;
            // A window that is in several sessions has its panes in each.
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

/// Names are looked up as tools do it, and `dev:2` is no session.
fn must_be(found: &Found, whole: &Value, kind: &'static str) -> Result<(), ToolError> {
    match whole.get("kind").and_then(Value::as_str) {
        Some(other) if other != kind => {
            let name = inline(&found.value(kind));
            let what = format!("`{name}` is a {other}, not a {kind}");
            Err(ToolError::new(Code::NotFound, what)
                .hint(format!("read tmux://{other}s/… for it, or name a {kind}")))
        }
        _ => Ok(()),
    }
}

/// Windows with their panes in them.
fn grown(mut windows: Vec<Value>, panes: Vec<Value>) -> Vec<Value> {
    for window in &mut windows {
        let id = window.get("window_id").cloned();
        let inside = panes.iter().filter(|pane| pane.get("window_id") == id.as_ref());
        // How many there are can be counted.
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

    fn made(uri: &str, answers: Vec<Value>) -> Result<Value, String> {
        let body = body(&find(uri).unwrap(), answers).map_err(|error| error.to_string())?;
        Ok(serde_json::from_str(&body).unwrap())
    }

    #[test]
    fn a_tree_has_each_pane_in_its_window() {
        let info = json!({"kind": "session", "session": {"name": "dev"}});
        let windows =
            json!({"windows": [{"window_id": "@1", "panes": 2}, {"window_id": "@2", "panes": 1}]});
        let panes = json!({"panes": [{"pane_id": "%1", "window_id": "@1"},
            {"pane_id": "%2", "window_id": "@2"}, {"pane_id": "%3", "window_id": "@1"}]});
        let tree = made("tmux://sessions/dev/tree", vec![info, windows, panes]).unwrap();
        assert_eq!(tree.pointer("/windows/0/panes/1/pane_id"), Some(&json!("%3")));
        assert_eq!(
            tree.pointer("/windows/1/panes"),
            Some(&json!([{"pane_id": "%2", "window_id": "@2"}]))
        );
    }

    #[test]
    fn what_is_of_another_kind_is_not_found() {
        let info = || json!({"kind": "window", "session": {}});
        let error = made("tmux://sessions/dev:2", vec![info(), json!({})]).unwrap_err();
        assert!(error.contains("not_found") && error.contains("`dev:2` is a window"), "{error}");
        let error = made("tmux://windows/dev", vec![json!({"kind": "session"})]).unwrap_err();
        assert!(error.contains("tmux://sessions/"), "{error}");
    }

    #[test]
    fn a_window_in_two_sessions_is_shown_in_one() {
        let info = json!({"kind": "window", "session": {"session_id": "$1"}});
        let panes = json!({"panes": [{"pane_id": "%1", "session_id": "$0"}, {"pane_id": "%1", "session_id": "$1"}]});
        let window = made("tmux://windows/%401", vec![info, panes]).unwrap();
        assert_eq!(window["panes"], json!([{"pane_id": "%1", "session_id": "$1"}]));
    }

    #[test]
    fn a_panes_state_is_part_of_it() {
        let info = json!({"kind": "pane", "pane": {"pane_id": "%1", "tty": "/dev/pts/1"}});
        let state = json!({"pane_id": "%1", "at_prompt": true});
        let pane = made("tmux://panes/%251", vec![info, state]).unwrap();
        assert_eq!(pane["pane"], json!({"pane_id": "%1", "tty": "/dev/pts/1", "at_prompt": true}));
    }
}
