//! One line of the log.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contract::ObjectIds;

/// Where a call comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallOrigin {
    /// What the call was made for, if not for itself: the address of the resource that was read, with `resources/subscribe` or `subscriptions/listen` before it if it is followed from then on; or `resources/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Arc<str>>,
    /// The client, by the name and version it gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// Where a server has several clients: which one this is, in the order in which they came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_number: Option<u32>,
}

/// What is written down of a call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditRecord {
    /// The number of the record. It goes on over rotated files and over servers that share the log.
    pub seq: u64,
    /// When the call came in: RFC 3339, UTC, with milliseconds.
    pub ts: String,
    /// The tool, as it was asked for.
    pub tool: String,
    #[expect(missing_docs, reason = "its fields say it")]
    #[serde(flatten)]
    pub ids: ObjectIds,
    /// The arguments as they were given; what may be a secret as its length and the start of its SHA-256.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    #[expect(missing_docs, reason = "its fields say it")]
    #[serde(flatten)]
    pub older: LegacyFields,
    /// How long the call took, in milliseconds.
    pub duration_ms: f64,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// The length of the answer's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<usize>,
    /// The file in the directory of `audit.full` that has the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    #[expect(missing_docs, reason = "its fields say it")]
    #[serde(flatten)]
    pub caller: CallOrigin,
    /// The SHA-256 of the line before this one, without its line break; empty in the first.
    pub prev: String,
}

/// With `audit.plain`, the fields of an older format of such logs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct LegacyFields {
    /// With `audit.plain`: the argument `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// With `audit.plain`: the argument `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// With `audit.plain`: what `send_keys` typed, the text and then the keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<String>,
    /// With `audit.plain`: the argument `lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
}

impl LegacyFields {
    /// The fields for a call.
    pub(super) fn of(tool: &str, arguments: &Map<String, Value>) -> Self {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let keys = || {
            let keys = arguments.get("keys").and_then(Value::as_array).into_iter().flatten();
            let enter = arguments.get("enter") == Some(&Value::Bool(true));
            let parts = text("text").into_iter().chain(keys.filter_map(Value::as_str));
            parts.chain(enter.then_some("Enter")).collect::<Vec<_>>().join(" ")
        };
        Self {
            command: text("command").map(str::to_owned),
            name: text("name").map(str::to_owned),
            keys: (tool == "send_keys").then(keys),
            lines: arguments.get("lines").and_then(Value::as_u64),
        }
    }
}

impl AuditRecord {
    /// The line for a log, without its line break.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The moment of the call.
    pub fn time(&self) -> Option<DateTime<Utc>> {
        DateTime::parse_from_rfc3339(&self.ts).ok().map(|time| time.to_utc())
    }
}

/// A moment as it is written down.
pub(super) fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_older_format_is_made_from_the_arguments() {
        let older = |tool: &str, arguments: Value| {
            serde_json::to_value(LegacyFields::of(tool, arguments.as_object().unwrap())).unwrap()
        };
        let create = json!({"command": "cargo run", "name": "server"});
        assert_eq!(older("create_pane", create.clone()), create);
        assert_eq!(
            older("capture_pane", json!({"lines": 200, "target": "%1"})),
            json!({"lines": 200})
        );
        let typed = json!({"text": "make", "keys": ["Up", "C-c"], "enter": true});
        assert_eq!(older("send_keys", typed), json!({"keys": "make Up C-c Enter"}));
        assert_eq!(older("paste_text", json!({"text": "x"})), json!({}));
    }

    #[test]
    fn a_moment_has_milliseconds_and_the_zone_of_utc() {
        let time = DateTime::from_timestamp_millis(1_769_768_132_005).unwrap();
        assert_eq!(stamp(time), "2026-01-30T10:15:32.005Z");
    }
}
