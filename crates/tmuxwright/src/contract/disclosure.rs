//! Disclosure: which arguments of a tool may be written to the audit log as they are. It follows from
//! their declaration.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::digest::fingerprint;

/// The schema key that marks a string as harmless: `#[schemars(extend("x-clear" = true))]`. It is
/// removed before clients see the schema.
pub const CLEAR: &str = "x-clear";

/// A longer text is logged as a fingerprint even if it is marked.
const MAX_CLEAR_TEXT_BYTES: usize = 1000;

/// The part of an argument that may be logged. Only numbers, flags, choices and marked texts are
/// logged as they are, so that a new argument is hidden unless its author marks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disclosure {
    /// Only its fingerprint.
    Hidden,
    /// A marked text.
    Text,
    /// A number or a flag.
    Plain,
    /// One of these values.
    Choice(Vec<Value>),
    /// A list with items of this disclosure.
    Each(Box<Self>),
    /// An object with these fields.
    Fields(BTreeMap<String, Self>),
    /// A map with arbitrary names, and values of this disclosure.
    Values(Box<Self>),
}

impl Disclosure {
    /// The disclosure that a schema declares.
    pub fn of(schema: &Map<String, Value>) -> Self {
        let inner = |key: &str| match schema.get(key) {
            Some(Value::Object(schema)) => Box::new(Self::of(schema)),
            _ => Box::new(Self::Hidden),
        };
        if let Some(Value::Array(choices)) = schema.get("enum") {
            return Self::Choice(choices.clone());
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("integer" | "number" | "boolean") => Self::Plain,
            Some("string") if schema.get(CLEAR) == Some(&Value::Bool(true)) => Self::Text,
            // Fingerprints of single keys could be reversed, so the list gets one fingerprint.
            Some("array") => match inner("items") {
                items if *items == Self::Hidden => Self::Hidden,
                items => Self::Each(items),
            },
            Some("object") => {
                match (schema.get("properties"), schema.get("additionalProperties")) {
                    (Some(Value::Object(fields)), _) => Self::Fields(
                        fields
                            .iter()
                            .filter_map(|(name, field)| {
                                Some((name.clone(), Self::of(field.as_object()?)))
                            })
                            .collect(),
                    ),
                    (_, Some(Value::Object(_))) => Self::Values(inner("additionalProperties")),
                    _ => Self::Hidden,
                }
            }
            _ => Self::Hidden,
        }
    }

    /// The same, with one more argument: a list of harmless texts.
    #[must_use]
    pub(crate) fn with_texts(mut self, name: &str) -> Self {
        if let Self::Fields(fields) = &mut self {
            fields.insert(name.to_owned(), Self::Each(Box::new(Self::Text)));
        }
        self
    }

    /// The disclosure at a path such as `calls[1].tool`.
    pub fn at(&self, path: &str) -> &Self {
        let steps = path.split(['.', '[']).filter(|step| !step.is_empty());
        steps.fold(self, |shape, step| match shape {
            Self::Fields(fields) => fields.get(step).unwrap_or(&Self::Hidden),
            Self::Each(inner) | Self::Values(inner) => inner,
            other => other,
        })
    }

    /// Whether the whole value may be shown.
    pub fn is_shown(&self) -> bool {
        matches!(self, Self::Text | Self::Plain | Self::Choice(_))
    }

    /// The paths of all values that are shown, with a dot between names and `[]` for lists.
    pub fn clear(&self) -> Vec<String> {
        let below = |prefix: &str, shape: &Self| -> Vec<String> {
            shape.clear().iter().map(|name| format!("{prefix}{name}")).collect()
        };
        match self {
            Self::Hidden => Vec::new(),
            Self::Text | Self::Plain | Self::Choice(_) => vec![String::new()],
            Self::Each(inner) => below("[]", inner),
            Self::Fields(fields) => {
                fields.iter().flat_map(|(name, shape)| below(&format!(".{name}"), shape)).collect()
            }
            Self::Values(inner) if **inner == Self::Hidden => vec![" (names)".to_owned()],
            Self::Values(inner) => below(".*", inner),
        }
    }

    /// A value as it is logged. A value of another type than declared is hidden.
    pub(crate) fn show(&self, value: &Value) -> Value {
        match (self, value) {
            (_, Value::Null) => Value::Null,
            (Self::Text, Value::String(text)) if text.len() <= MAX_CLEAR_TEXT_BYTES => {
                value.clone()
            }
            (Self::Plain, Value::Number(_) | Value::Bool(_)) => value.clone(),
            (Self::Choice(choices), _) if choices.contains(value) => value.clone(),
            (Self::Each(shape), Value::Array(items)) => {
                items.iter().map(|item| shape.show(item)).collect()
            }
            (Self::Fields(_), Value::Object(fields)) => Value::Object(self.show_all(fields)),
            (Self::Values(shape), Value::Object(fields)) => {
                let shown = |(name, value): (&String, _)| (name.clone(), shape.show(value));
                Value::Object(fields.iter().map(shown).collect())
            }
            _ => fingerprint(value),
        }
    }

    /// All arguments of a call as they are logged. Unknown arguments are hidden, except their names.
    pub(crate) fn show_all(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let shape = |name: &str| match self {
            Self::Fields(fields) => fields.get(name).unwrap_or(&Self::Hidden),
            _ => &Self::Hidden,
        };
        arguments.iter().map(|(name, value)| (name.clone(), shape(name).show(value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape() -> Disclosure {
        let text = || json!({"type": "string"});
        let clear = || json!({"type": "string", "x-clear": true});
        let schema = json!({"type": "object", "properties": {
            "target": clear(),
            "targets": {"type": "array", "items": clear()},
            "text": text(),
            "keys": {"type": "array", "items": text()},
            "env": {"type": "object", "additionalProperties": text()},
            "free": {"type": "object", "additionalProperties": true},
            "lines": {"type": "integer"},
            "enter": {"type": "boolean"},
            "side": {"type": "string", "enum": ["left", "right"]},
            "calls": {"type": "array", "items": {"type": "object", "properties": {
                "tool": clear(), "arguments": {"type": "object", "additionalProperties": true}}}},
        }});
        Disclosure::of(schema.as_object().unwrap())
    }

    fn shown(arguments: Value) -> String {
        Value::Object(shape().show_all(arguments.as_object().unwrap())).to_string()
    }

    #[test]
    fn only_harmless_declared_values_are_shown() {
        let harmless = json!({"target": "%1", "targets": ["a", "b"], "lines": 3, "enter": true,
            "side": "left", "calls": [{"tool": "kill"}], "keys": null});
        assert_eq!(shown(harmless.clone()), harmless.to_string());
        for secret in [
            json!({"text": "hunter2"}),
            json!({"keys": ["hunter2"]}),
            json!({"free": {"x": "hunter2"}}),
            json!({"calls": [{"tool": "x", "arguments": {"text": "hunter2"}}]}),
            // Values of another type than declared.
            json!({"text": {"hunter2": 1}}),
            json!({"lines": "hunter2"}),
            json!({"side": "hunter2"}),
            json!({"target": ["hunter2"]}),
            json!({"targets": "hunter2"}),
            json!({"target": "hunter2".repeat(200)}),
            // An argument that is not declared.
            json!({"password": "hunter2"}),
        ] {
            let text = shown(secret);
            assert!(!text.contains("hunter2") && text.contains("\"len\""), "{text}");
        }
    }

    #[test]
    fn environment_shows_names_and_hides_values() {
        let text = shown(json!({"env": {"TOKEN": "hunter2"}}));
        assert!(text.contains("TOKEN") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn list_of_keys_has_one_fingerprint() {
        let text = shown(json!({"keys": ["h", "u", "n"]}));
        assert_eq!(text.matches("len").count(), 1, "{text}");
    }

    #[test]
    fn path_resolves_to_its_disclosure() {
        assert_eq!(*shape().at("calls[1].tool"), Disclosure::Text);
        assert_eq!(*shape().at("calls[1].arguments"), Disclosure::Hidden);
        assert_eq!(*shape().at("env.TOKEN"), Disclosure::Hidden);
        assert_eq!(*shape().at("lines"), Disclosure::Plain);
        assert_eq!(*shape().at("nothing"), Disclosure::Hidden);
    }

    #[test]
    fn clear_lists_the_shown_paths() {
        let clear = shape().clear();
        for name in [".target", ".targets[]", ".env (names)", ".calls[].tool", ".side"] {
            assert!(clear.contains(&name.to_owned()), "{name}: {clear:?}");
        }
        assert!(!clear.iter().any(|name| name.contains("text")), "{clear:?}");
    }
}
