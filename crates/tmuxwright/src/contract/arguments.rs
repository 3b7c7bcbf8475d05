//! Parsing of a call's arguments against the schema of the tool. Errors name the offending argument.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{ToolError, nearest, schema};

/// Parses arguments against their schema.
pub(crate) fn read<T: DeserializeOwned + JsonSchema>(
    schema: &Map<String, Value>,
    mut args: Map<String, Value>,
) -> Result<T, ToolError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> =
        properties.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect();
    // Models send `null` for an argument they leave out.
    args.retain(|_, value| !value.is_null());
    for (name, value) in &mut args {
        let Some(property) = properties.and_then(|map| map.get(name)) else {
            return Err(unknown(name, &known));
        };
        coerce(property, value);
    }
    if let Some(Value::Array(required)) = schema.get("required") {
        let missing = required.iter().filter_map(Value::as_str).find(|n| !args.contains_key(*n));
        if let Some(name) = missing {
            return Err(ToolError::invalid_argument(format!("argument `{name}` is missing"))
                .hint(format!("the arguments are: {}", known.join(", "))));
        }
    }
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let path = error.path().to_string();
        let mut reason = error.into_inner().to_string();
        if !schema::disclosure::<T>().at(&path).is_shown() {
            reason = without_value(&reason);
        }
        ToolError::invalid_argument(format!("argument `{path}`: {reason}")).hint(
            match property_hint(properties, &path) {
                Some(description) => format!("`{path}`: {description}"),
                None => "correct the argument and call again".to_owned(),
            },
        )
    })
}

/// A parser's message without the value in it, which may be a secret.
fn without_value(reason: &str) -> String {
    let names_only = ["missing field", "unknown field"].iter().any(|it| reason.starts_with(it));
    match reason.rsplit_once(", expected ") {
        _ if names_only => reason.to_owned(),
        Some((_, wanted)) => format!("{wanted} is expected"),
        None => "the value is invalid".to_owned(),
    }
}

fn unknown(name: &str, known: &[&str]) -> ToolError {
    let error = ToolError::invalid_argument(format!("there is no argument `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(near) => {
            error.hint(format!("did you mean `{near}`? the arguments are: {}", known.join(", ")))
        }
        None if known.is_empty() => error.hint("this tool takes no arguments"),
        None => error.hint(format!("the arguments are: {}", known.join(", "))),
    }
}

fn property_hint(properties: Option<&Map<String, Value>>, path: &str) -> Option<String> {
    let name = path.split(['.', '[']).next()?;
    let property = properties?.get(name)?;
    let description = property.get("description")?.as_str()?;
    Some(match property.get("enum").and_then(Value::as_array) {
        Some(values) => {
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            format!("{description} One of: {}", values.join(", "))
        }
        None => description.to_owned(),
    })
}

/// Parses a number, flag, list or object that was sent as a string, as some MCP clients do.
fn coerce(property: &Value, value: &mut Value) {
    let Some(wanted) = property.get("type").and_then(Value::as_str) else { return };
    let Value::String(text) = &*value else { return };
    if wanted == "string" {
        return;
    }
    let Ok(parsed) = serde_json::from_str::<Value>(text) else { return };
    let fits = match wanted {
        "integer" => parsed.is_i64() || parsed.is_u64(),
        "number" => parsed.is_number(),
        "boolean" => parsed.is_boolean(),
        "array" => parsed.is_array(),
        "object" => parsed.is_object(),
        _ => false,
    };
    if fits {
        *value = parsed;
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::super::schema;
    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Args {
        /// Where.
        target: String,
        /// How many.
        lines: Option<u32>,
        /// Which.
        keys: Option<Vec<String>>,
        /// Whether.
        enter: Option<bool>,
        /// The side.
        side: Option<Side>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Side {
        Left,
        Right,
    }

    fn parse(args: Value) -> Result<Args, ToolError> {
        let Value::Object(args) = args else { panic!("not an object") };
        read(&schema::input::<Args>(), args)
    }

    fn message(args: Value) -> String {
        parse(args).unwrap_err().to_string()
    }

    #[test]
    fn unknown_argument_is_named_with_the_nearest() {
        let text = message(json!({"taget": "%1"}));
        assert!(text.contains("no argument `taget`") && text.contains("`target`"), "{text}");
    }

    #[test]
    fn missing_argument_is_named() {
        let text = message(json!({"lines": 3}));
        assert!(text.contains("`target` is missing"), "{text}");
    }

    #[test]
    fn invalid_value_is_named_with_its_argument() {
        let text = message(json!({"target": "%1", "lines": "many"}));
        assert!(
            text.contains("`lines`") && text.contains("many") && text.contains("How many."),
            "{text}"
        );
        let text = message(json!({"target": "%1", "side": "top"}));
        assert!(text.contains("top") && text.contains("left, right"), "{text}");
        let text = message(json!({"target": "%1", "lines": -4}));
        assert!(text.contains("`lines`") && text.contains("-4"), "{text}");
        let text = message(json!({"target": "%1", "keys": ["a", 3]}));
        assert!(text.contains("keys[1]"), "{text}");
    }

    #[test]
    fn possibly_secret_value_is_not_repeated() {
        let text = message(json!({"target": "%1", "keys": "hunter2, expected x"}));
        assert!(text.contains("`keys`: a sequence is expected"), "{text}");
        let text = message(json!({"target": 271828}));
        assert!(text.contains("a string is expected") && !text.contains("271828"), "{text}");
    }

    #[test]
    fn strings_are_coerced_and_null_means_absent() {
        let args = parse(json!({
            "target": "5", "lines": "7", "keys": "[\"a\"]", "enter": "true", "side": null
        }));
        assert_eq!(
            args.unwrap(),
            Args {
                target: "5".into(),
                lines: Some(7),
                keys: Some(vec!["a".into()]),
                enter: Some(true),
                side: None
            }
        );
    }
}
