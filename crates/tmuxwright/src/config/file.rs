//! The config file: TOML, flattened to dotted keys.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::directories::config_file;
use super::{INTERPRETERS_TABLE, SERVERS_TABLE, SETTINGS, SettingKind, interpreters, servers};
use crate::contract::nearest;
use crate::file_io;

/// Limit of the file's size.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The file that is read when `--config` is not given, if it exists.
pub(super) fn default_path() -> Option<PathBuf> {
    config_file("config.toml").filter(|path| path.exists())
}

/// Reads a file into keys and values.
pub(super) fn read(path: &Path) -> Result<Vec<(String, String)>, String> {
    let text = file_io::read_to_string(path, MAX_CONFIG_BYTES).map_err(|e| e.to_string())?;
    let table: Table = text.parse().map_err(|e: toml::de::Error| e.to_string())?;
    let mut entries = Vec::new();
    flatten("", table, &mut entries)?;
    Ok(entries)
}

fn flatten(prefix: &str, table: Table, entries: &mut Vec<(String, String)>) -> Result<(), String> {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        let text = match value {
            Value::Table(inner) if inner.is_empty() && prefix == INTERPRETERS_TABLE => {
                return Err(format!("config key `{key}`: it is empty; it needs a `prompt`"));
            }
            Value::Table(inner) if inner.is_empty() && prefix == SERVERS_TABLE => {
                return Err(format!(
                    "config key `{key}`: it is empty; set `socket`, `ssh` or `via`"
                ));
            }
            Value::Table(inner) => {
                flatten(&key, inner, entries)?;
                continue;
            }
            Value::String(text) => text,
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Boolean(flag) => flag.to_string(),
            Value::Array(items) if is_list(&key) => list(&key, items)?,
            Value::Array(_) if kind(&key).is_none() => return Err(unknown(&key)),
            Value::Array(_) | Value::Datetime(_) => {
                return Err(format!("config key `{key}`: expected text, a number, true or false"));
            }
        };
        entries.push((key, text));
    }
    Ok(())
}

fn is_list(key: &str) -> bool {
    matches!(kind(key), Some(SettingKind::List(_)))
}

/// The kind of value that a key takes, if it is declared.
fn kind(key: &str) -> Option<SettingKind> {
    super::setting(key)
        .map(|setting| setting.kind)
        .or_else(|| interpreters::kind(key))
        .or_else(|| servers::kind(key))
}

/// Joins a list of strings, one per line.
fn list(key: &str, items: Vec<Value>) -> Result<String, String> {
    let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    let wanted = || format!("config key `{key}`: expected a list of strings");
    let texts = texts.ok_or_else(wanted)?;
    if texts.iter().any(|text| text.contains('\n')) {
        return Err(format!("config key `{key}`: a string in the list contains a newline"));
    }
    Ok(texts.join("\n"))
}

/// The error for a key that is not declared.
pub(super) fn unknown(key: &str) -> String {
    if let Some(error) = interpreters::unknown(key).or_else(|| servers::unknown(key)) {
        return error;
    }
    match nearest(key, SETTINGS.iter().map(|setting| setting.key)) {
        Some(near) => format!("there is no config key `{key}`; did you mean `{near}`?"),
        None => {
            let keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
            format!("there is no config key `{key}`; the keys are {}", keys.join(", "))
        }
    }
}
