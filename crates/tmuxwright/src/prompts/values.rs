//! The values of a prompt's arguments, validated.

use serde_json::{Map, Number, Value};

use super::{Argument, Presence, Prompt, SERVER};
use crate::completion::CompletionKind;
use crate::contract::{ToolError, nearest, shorten};

/// Upper bound of `timeout` in tool calls.
const MAX_TIMEOUT_SECONDS: f64 = 600.0;

/// Values of a prompt's arguments, as JSON for tool calls.
#[derive(Debug)]
pub(crate) struct ArgumentValues(Map<String, Value>);

impl ArgumentValues {
    /// Validates arguments. A blank text counts as left out: clients send one for an empty field.
    pub(super) fn read(prompt: &Prompt, mut given: Map<String, Value>) -> Result<Self, ToolError> {
        given.retain(|_, value| !is_blank(value));
        for name in given.keys() {
            prompt.argument(name)?;
        }
        let mut values = Map::new();
        for argument in prompt.arguments {
            let value = match (given.remove(argument.name), argument.presence) {
                (Some(value), _) => value,
                (None, Presence::Default(value)) => Value::String(value.to_owned()),
                (None, Presence::Optional) => continue,
                (None, Presence::Required) => {
                    let what = format!("argument `{}` is missing", argument.name);
                    let hint = format!("`{}`: {}", argument.name, argument.description);
                    return Err(ToolError::invalid_argument(what).hint(hint));
                }
            };
            values.insert(argument.name.to_owned(), read(argument, value)?);
        }
        Ok(Self(values))
    }

    /// An argument's value; null if it was not given.
    pub(crate) fn value(&self, name: &str) -> Value {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Whether an argument was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The chosen tmux server; `None` for the default one.
pub(super) fn server(given: Option<Value>, known: &[String]) -> Result<Option<String>, ToolError> {
    let Some(given) = given.filter(|value| !is_blank(value)) else { return Ok(None) };
    let Value::String(name) = read(&SERVER, given)? else { return Ok(None) };
    if known.contains(&name) {
        return Ok(Some(name));
    }
    let what = format!("argument `{}`: there is no server `{name}`", SERVER.name);
    let all = shorten(known);
    Err(ToolError::invalid_argument(what).hint(
        match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? the servers are: {all}"),
            None => format!("the servers are: {all}"),
        },
    ))
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn read(argument: &Argument, value: Value) -> Result<Value, ToolError> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => {
            let what = format!("argument `{}`: expected text", argument.name);
            return Err(ToolError::invalid_argument(what).hint(argument.description));
        }
    };
    if argument.kind != CompletionKind::Seconds {
        return Ok(Value::String(text));
    }
    let number: Option<Number> = text.trim().parse().ok();
    let in_range =
        |number: &Number| number.as_f64().is_some_and(|n| (1.0..=MAX_TIMEOUT_SECONDS).contains(&n));
    number.filter(in_range).map(Value::Number).ok_or_else(|| {
        let what = format!("argument `{}`: `{text}` is not a number of seconds", argument.name);
        ToolError::invalid_argument(what).hint(format!("give 1 to {MAX_TIMEOUT_SECONDS}"))
    })
}
