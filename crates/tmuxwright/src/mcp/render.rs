//! Rendering of results and errors as MCP's types, with invisible characters and secrets removed.

use base64::prelude::{BASE64_STANDARD, Engine};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Value;

use super::clean::clean_value;
use crate::contract::{Form, Image, Notice, Reply, ToolError};
use crate::redact::Redactor;
use terminal::text;

/// Key of an error's code in `_meta`.
const CODE_META_KEY: &str = "tmuxwright/code";

/// Key of the number of redacted secrets in `_meta`.
pub(super) const REDACTED_META_KEY: &str = "tmuxwright/redacted";

/// Cleans and redacts a result or an error.
pub(super) fn clean(
    answer: Result<Reply, ToolError>,
    redact: &Redactor,
) -> Result<Reply, ToolError> {
    match answer {
        Ok(reply) => Ok(clean_reply(reply, redact)),
        Err(error) => Err(clean_error(error, redact)),
    }
}

/// Removes invisible characters, secrets and empty fields. The results of calls within a call have been
/// cleaned already; cleaning them again changes nothing.
fn clean_reply(mut reply: Reply, redact: &Redactor) -> Reply {
    redact.expand(&mut reply.text);
    redact.expand_in(&mut reply.structured);
    reply.text = text::clean(&reply.text, reply.colors);
    clean_value(&mut reply.structured, reply.colors);
    for Notice { text, facts } in &mut reply.notices {
        for text in facts.iter_mut().map(|(_, fact)| fact).chain([text]) {
            *text = text::clean(text, false);
            redact.text(text);
        }
    }
    if reply.form != Form::Calls {
        reply.full_text = reply.full_text.map(|mut text| {
            redact.expand(&mut text);
            text = text::clean(&text, reply.colors);
            redact.text(&mut text);
            text
        });
        prune(&mut reply.structured, true);
        redact.text(&mut reply.text);
        redact.value(&mut reply.structured);
        // Tools have redacted long texts before they cut them, so the replacements are counted.
        let (in_text, in_data) = (redact.count(&reply.text), redact.count_in(&reply.structured));
        reply.redacted = reply.redacted.max(in_text).max(in_data);
        reply.text.push_str(&redaction_note(reply.redacted));
    }
    reply
}

/// Cleans and redacts an error.
pub(super) fn clean_error(error: ToolError, redact: &Redactor) -> ToolError {
    let mut count = 0;
    let mut clean = |text: String| {
        let mut text = text::clean(&text, false);
        redact.text(&mut text);
        count += redact.count(&text);
        text
    };
    let ToolError { code, message, hint } = error;
    let (message, hint) = (clean(message), hint.map(&mut clean));
    ToolError { code, message: message + &redaction_note(count), hint }
}

/// A last line with the number of redacted secrets.
pub(super) fn redaction_note(redacted: usize) -> String {
    match redacted {
        0 => String::new(),
        1 => "\n[1 secret redacted]".to_owned(),
        more => format!("\n[{more} secrets redacted]"),
    }
}

pub(super) fn success(reply: Reply, structured: bool) -> CallToolResult {
    let image = |image: Image| ContentBlock::image(BASE64_STANDARD.encode(image.bytes), image.mime);
    let mut content = vec![ContentBlock::text(reply.text)];
    content.extend(reply.images.into_iter().map(image));
    let mut result = CallToolResult::success(content);
    if structured {
        result.structured_content = Some(reply.structured);
    }
    if reply.redacted > 0 {
        let mut meta = MetaObject::new();
        meta.0.insert(REDACTED_META_KEY.to_owned(), reply.redacted.into());
        result.meta = Some(meta);
    }
    result
}

pub(super) fn failure(error: &ToolError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    let mut meta = MetaObject::new();
    meta.0.insert(CODE_META_KEY.to_owned(), Value::String(error.code.name().to_owned()));
    result.meta = Some(meta);
    result
}

/// Removes empty text, empty lists, nulls and `false`. Lists at the top level stay.
fn prune(value: &mut Value, top: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, false)),
        Value::Object(map) => {
            map.values_mut().for_each(|inner| prune(inner, false));
            map.retain(|_, inner| match inner {
                Value::Null | Value::Bool(false) => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => top || !items.is_empty(),
                Value::Object(fields) => !fields.is_empty(),
                _ => true,
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn empty_fields_are_left_out() {
        let mut value = json!({"panes": [], "own": false, "n": 0, "in": {"list": [], "text": ""}});
        prune(&mut value, true);
        assert_eq!(value, json!({"panes": [], "n": 0}));
    }

    /// All field names of a schema, each with a harmless text.
    fn fields(schema: &Value, found: &mut Map<String, Value>) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().map(|name| (name.clone(), json!("words"))));
        }
        match schema {
            Value::Object(map) => map.values().for_each(|inner| fields(inner, found)),
            Value::Array(items) => items.iter().for_each(|inner| fields(inner, found)),
            _ => {}
        }
    }

    #[test]
    fn no_field_name_of_a_result_is_redacted() {
        let mut redact = Redactor::default();
        redact.set_enabled(true);
        for entry in crate::tools::all() {
            let mut found = Map::new();
            fields(&Value::Object((entry.output_schema)()), &mut found);
            let mut value = Value::Object(found);
            assert_eq!(redact.value(&mut value), 0, "{}: {value}", entry.meta.name);
        }
    }
}
