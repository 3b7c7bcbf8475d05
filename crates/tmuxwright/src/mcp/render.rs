//! Rendering of answers and errors: invisible characters and secrets removed, in the protocol's form.

use base64::prelude::{BASE64_STANDARD, Engine};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde_json::Value;

use super::clean::clean_value;
use crate::contract::{Form, Image, Notice, Reply, ToolError};
use crate::redact::Redactor;
use terminal::text;

/// The key under which an error's code is in `_meta`.
const CODE_KEY: &str = "tmuxwright/code";

/// The key under which it says how many secrets were taken out.
pub(super) const REDACTED_KEY: &str = "tmuxwright/redacted";

/// An answer or an error as a client may see it.
pub(super) fn clean(
    answer: Result<Reply, ToolError>,
    redact: &Redactor,
) -> Result<Reply, ToolError> {
    match answer {
        Ok(reply) => Ok(clean_reply(reply, redact)),
        Err(error) => Err(clean_error(error, redact)),
    }
}

/// Removes invisible characters and secrets, and fields that say nothing. The answers of calls within a
/// call have been through this already; cleaning them again changes nothing.
fn clean_reply(mut reply: Reply, redact: &Redactor) -> Reply {
    let raw = std::mem::take(&mut reply.text);
    reply.text = text::clean(&raw, reply.colors);
    clean_value(&mut reply.structured, reply.colors);
    for Notice { text, facts } in &mut reply.notices {
        for text in facts.iter_mut().map(|(_, fact)| fact).chain([text]) {
            *text = text::clean(text, false);
            redact.text(text);
        }
    }
    if reply.form != Form::Calls {
        reply.full_text = reply.full_text.map(|text| {
            let mut text = text::clean(&text, reply.colors);
            redact.text(&mut text);
            text
        });
        prune(&mut reply.structured, true);
        let in_text = redacted_text(&mut reply, &raw, redact);
        reply.redacted = in_text.max(redacted_data(&mut reply, redact));
        reply.text.push_str(&said(reply.redacted));
    }
    reply
}

/// Takes secrets out of the text. Colours can cut one into pieces; then they go.
fn redacted_text(reply: &mut Reply, raw: &str, redact: &Redactor) -> usize {
    let count = redact.text(&mut reply.text);
    if !reply.colors {
        return count;
    }
    let mut plain = text::clean(raw, false);
    let in_plain = redact.text(&mut plain);
    if in_plain > count {
        reply.text = plain;
    }
    in_plain.max(count)
}

/// The same for the data.
fn redacted_data(reply: &mut Reply, redact: &Redactor) -> usize {
    if !reply.colors {
        return redact.value(&mut reply.structured);
    }
    let mut plain = reply.structured.clone();
    clean_value(&mut plain, false);
    let count = redact.value(&mut reply.structured);
    let in_plain = redact.value(&mut plain);
    if in_plain > count {
        reply.structured = plain;
    }
    in_plain.max(count)
}

/// The same for an error.
pub(super) fn clean_error(error: ToolError, redact: &Redactor) -> ToolError {
    let mut count = 0;
    let mut fit = |text: String| {
        let mut text = text::clean(&text, false);
        count += redact.text(&mut text);
        text
    };
    let ToolError { code, message, hint } = error;
    let (message, hint) = (fit(message), hint.map(&mut fit));
    ToolError { code, message: message + &said(count), hint }
}

/// A last line that says what was taken out.
fn said(redacted: usize) -> String {
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
        meta.0.insert(REDACTED_KEY.to_owned(), reply.redacted.into());
        result.meta = Some(meta);
    }
    result
}

pub(super) fn failure(error: &ToolError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error.to_string())]);
    let mut meta = MetaObject::new();
    meta.0.insert(CODE_KEY.to_owned(), Value::String(error.code.name().to_owned()));
    result.meta = Some(meta);
    result
}

/// Leaves out what says nothing: empty text, empty lists, `false`. Lists at the top stay.
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

    /// All names of fields in a schema, with a text that is no secret by itself for each.
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
    fn no_field_of_an_answer_is_taken_for_a_secret_by_its_name() {
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
