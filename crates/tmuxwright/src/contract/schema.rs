//! JSON schemas that every MCP client accepts: flat, without `$ref`, nullable unions, `uint` formats or
//! combinators.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{CLEAR, Disclosure};

/// The schema of a tool's arguments.
pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = generate::<T>();
    without_marks(&mut schema);
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    schema
}

/// The disclosure of a tool's arguments.
pub(crate) fn disclosure<T: JsonSchema>() -> Disclosure {
    Disclosure::of(&generate::<T>())
}

/// The schema of a tool's answer.
pub(crate) fn output<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = generate::<T>();
    without_marks(&mut schema);
    relax_required(&mut schema, true);
    schema
}

/// A schema with an optional text added as its last property.
pub(crate) fn with_text(
    mut schema: Map<String, Value>,
    name: &str,
    description: &str,
) -> Map<String, Value> {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        let text = json!({"description": description, "type": "string"});
        properties.insert(name.to_owned(), text);
    }
    schema
}

/// A schema with an optional list of texts added as its last property.
pub(crate) fn with_texts(
    mut schema: Map<String, Value>,
    name: &str,
    description: &str,
) -> Map<String, Value> {
    let items = json!({"type": "string"});
    let list = json!({"description": description, "type": "array", "items": items});
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(name.to_owned(), list);
    }
    schema
}

/// A schema in which a property has another description.
pub(crate) fn described(
    mut schema: Map<String, Value>,
    name: &str,
    description: &str,
) -> Map<String, Value> {
    let property = schema.get_mut("properties").and_then(|all| all.get_mut(name));
    if let Some(Value::Object(property)) = property {
        property.insert("description".to_owned(), description.into());
    }
    schema
}

/// The schema of an answer that may be a list of `results` instead, each an object.
pub(crate) fn or_results(mut schema: Map<String, Value>, description: &str) -> Map<String, Value> {
    schema.remove("required");
    let items = json!({"type": "object"});
    let list = json!({"description": description, "type": "array", "items": items});
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert("results".to_owned(), list);
    }
    schema
}

/// Removes fields from `required` that an answer may omit. Empty and false fields are omitted, so only
/// numbers and top-level lists are always present.
fn relax_required(schema: &mut Map<String, Value>, top: bool) {
    let is_always_present = |property: Option<&Value>| {
        let kind = property.and_then(|p| p.get("type")).and_then(Value::as_str);
        matches!(kind, Some("integer" | "number")) || (top && kind == Some("array"))
    };
    // A property can be called `required`; then the value is a schema, not a list.
    let is_list = schema.get("required").is_some_and(Value::is_array);
    if is_list && let Some(Value::Array(required)) = schema.remove("required") {
        let properties = schema.get("properties");
        let kept: Vec<Value> = required
            .into_iter()
            .filter(|name| is_always_present(properties.and_then(|p| p.get(name.as_str()?))))
            .collect();
        if !kept.is_empty() {
            schema.insert("required".to_owned(), Value::Array(kept));
        }
    }
    for value in schema.values_mut() {
        if let Value::Object(inner) = value {
            relax_required(inner, false);
        }
    }
}

/// Removes the marks of harmless texts, which are not for MCP clients.
fn without_marks(schema: &mut Map<String, Value>) {
    schema.remove(CLEAR);
    for inner in schema.values_mut().filter_map(Value::as_object_mut) {
        without_marks(inner);
    }
}

fn generate<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    clean(&mut schema);
    match schema {
        Value::Object(mut map) => {
            map.remove("description");
            map
        }
        _ => Map::new(),
    }
}

/// Rewrites the output of schemars into the subset that all MCP clients understand.
fn clean(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(map) => {
            for key in ["$schema", "title", "format", "default", "minimum"] {
                // A property can have a keyword as its name; then the value is a schema.
                if !map.get(key).is_some_and(Value::is_object) {
                    map.remove(key);
                }
            }
            drop_null(map);
            flatten_enum(map);
            map.values_mut().for_each(clean);
        }
        _ => {}
    }
}

/// Removes `null` from `["string", "null"]` and `anyOf […, null]`. It only means that a field is
/// optional, which `required` expresses already.
fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|t| t != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(options)) = map.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    let Some(Value::Array(options)) = map.get_mut("anyOf") else { return };
    options.retain(|option| option.get("type") != Some(&json!("null")));
    if let [Value::Object(only)] = options.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        for (key, value) in only {
            map.entry(key).or_insert(value);
        }
    }
}

/// Rewrites `oneOf` with `const`s, which schemars emits for enums with doc comments, to `enum`.
fn flatten_enum(map: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = map.get("oneOf") else { return };
    let values: Option<Vec<Value>> = options
        .iter()
        .map(|option| option.get("const").or_else(|| option.get("enum")?.get(0)).cloned())
        .collect();
    if let Some(values) = values {
        map.remove("oneOf");
        map.insert("type".to_owned(), json!("string"));
        map.insert("enum".to_owned(), Value::Array(values));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Args {
        /// A choice.
        choice: Option<Choice>,
        /// A number.
        count: Option<u32>,
        /// A list.
        keys: Option<Vec<String>>,
        /// A map.
        env: Option<BTreeMap<String, String>>,
        /// A property that is called like a keyword.
        format: String,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Choice {
        /// The one.
        One,
        /// The other.
        Other,
    }

    #[test]
    fn schemas_are_flat() {
        assert_eq!(
            Value::Object(input::<Args>()),
            json!({
                "type": "object",
                "properties": {
                    "choice": {"description": "A choice.", "type": "string", "enum": ["one", "other"]},
                    "count": {"description": "A number.", "type": "integer"},
                    "keys": {"description": "A list.", "type": "array", "items": {"type": "string"}},
                    "env": {"description": "A map.", "type": "object",
                            "additionalProperties": {"type": "string"}},
                    "format": {"description": "A property that is called like a keyword.",
                               "type": "string"},
                },
                "required": ["format"],
                "additionalProperties": false,
            })
        );
    }
}
