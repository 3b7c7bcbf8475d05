//! The record of one call: a JSON line of the audit log.

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contract::{AskedPerson, ObjectIds, escape_invisible};

/// The origin of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallOrigin {
    /// If several tmux servers can be reached: the server of the call, as its argument `server` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<Arc<str>>,
    /// For a call that serves a resource: its URI, preceded by `resources/subscribe` or `subscriptions/listen` for a subscription; or `resources/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<Arc<str>>,
    /// Name and version of the MCP client, as it gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// If a server process has several MCP clients: the number of the client, in order of connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_number: Option<u32>,
}

/// The record of one call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditRecord {
    /// The number of the record, consecutive over rotated files and over all servers that share the log.
    pub seq: u64,
    /// The time of the call: RFC 3339, UTC, with milliseconds.
    pub ts: String,
    /// The name of the tool, as it was called.
    pub tool: String,
    #[expect(missing_docs, reason = "flattened: docs/audit.md lists the inner fields instead")]
    #[serde(flatten)]
    pub ids: ObjectIds,
    /// The arguments. A value that may be secret is replaced by its length and a prefix of its SHA-256.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    #[expect(missing_docs, reason = "flattened: docs/audit.md lists the inner fields instead")]
    #[serde(flatten)]
    pub legacy: LegacyFields,
    /// With `policy.confirm`: the questions to a person, each with `about` (the objects it named), `answer` and `seconds`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<AskedPerson>,
    /// The duration of the call in milliseconds.
    pub duration_ms: f64,
    /// `ok`, or the code of the error.
    pub outcome: String,
    /// The length of the answer's text in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<usize>,
    /// The file with the full text, in the directory `audit.full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    #[expect(missing_docs, reason = "flattened: docs/audit.md lists the inner fields instead")]
    #[serde(flatten)]
    pub caller: CallOrigin,
    /// The SHA-256 of the preceding line without its line break; empty in the first record.
    pub prev: String,
}

/// The fields of an older log format, which are written with `audit.plain`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct LegacyFields {
    /// With `audit.plain`: the argument `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// With `audit.plain`: the argument `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// With `audit.plain`: the input of `send_keys`, the text and then the keys.
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
    /// The line for a log, without its line break. Control and invisible characters of names and
    /// arguments are escapes in it, so that `cat` and `grep` show the log safely.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| escape_invisible(&line))
    }

    /// The time of the call.
    pub fn time(&self) -> Option<DateTime<Utc>> {
        DateTime::parse_from_rfc3339(&self.ts).ok().map(|time| time.to_utc())
    }
}

/// A time as it is logged.
pub(super) fn stamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn legacy_fields_follow_from_the_arguments() {
        let legacy = |tool: &str, arguments: Value| {
            serde_json::to_value(LegacyFields::of(tool, arguments.as_object().unwrap())).unwrap()
        };
        let create = json!({"command": "cargo run", "name": "server"});
        assert_eq!(legacy("create_pane", create.clone()), create);
        assert_eq!(
            legacy("capture_pane", json!({"lines": 200, "target": "%1"})),
            json!({"lines": 200})
        );
        let typed = json!({"text": "make", "keys": ["Up", "C-c"], "enter": true});
        assert_eq!(legacy("send_keys", typed), json!({"keys": "make Up C-c Enter"}));
        assert_eq!(legacy("paste_text", json!({"text": "x"})), json!({}));
    }

    #[test]
    fn time_has_milliseconds_and_is_utc() {
        let time = DateTime::from_timestamp_millis(1_769_768_132_005).unwrap();
        assert_eq!(stamp(time), "2026-01-30T10:15:32.005Z");
    }
}
