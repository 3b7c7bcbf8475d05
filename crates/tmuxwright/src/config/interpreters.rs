//! The declarations of interpreters in the config file: `[interpreters.NAME]`. Its keys are declared once,
//! in [`INTERPRETER_KEYS`]; the check for unknown keys and docs/config.md follow from the list.

use regex::Regex;
use strum::VariantNames as _;

use super::SettingKind;
use super::value::choice;
use crate::contract::nearest;
use crate::run::{DeclaredEntry, DeclaredInterpreter, Interpreters};

/// The table of the config file that holds them.
pub const INTERPRETERS_TABLE: &str = "interpreters";

/// The declaration of a key of an interpreter.
pub struct InterpreterKey {
    /// Key below `interpreters.NAME`.
    pub key: &'static str,
    /// Kind of value.
    pub kind: SettingKind,
    /// Default, in words for people.
    pub default: &'static str,
    /// Help text, without a full stop at the end.
    pub help: &'static str,
    set: fn(&mut DeclaredInterpreter, &str) -> Result<(), String>,
}

/// All keys of an interpreter, in the order of the documentation.
pub const INTERPRETER_KEYS: &[InterpreterKey] = &[
    InterpreterKey {
        key: "programs",
        kind: SettingKind::List("PROGRAM"),
        default: "its name",
        help: "Names of its programs or scripts, without a directory",
        set: |it, v| programs(v).map(|v| it.programs = Some(v)),
    },
    InterpreterKey {
        key: "prompt",
        kind: SettingKind::Text("REGEX"),
        default: "required",
        help: "The whole prompt with the blank at its end, such as `toy\\d*> `",
        set: |it, v| expression(v).map(|v| it.prompt = Some(v)),
    },
    InterpreterKey {
        key: "continuation",
        kind: SettingKind::Text("REGEX"),
        default: "none",
        help: "The whole prompt within an open statement",
        set: |it, v| optional_expression(v).map(|v| it.continuation = Some(v)),
    },
    InterpreterKey {
        key: "entry",
        kind: SettingKind::Choice(DeclaredEntry::VARIANTS),
        default: "lines",
        help: "How several lines are entered: each at a prompt of its own (`lines`), the same with an empty line after each indented block (`indented`), or as one bracketed paste (`paste`)",
        set: |it, v| choice(v).map(|v| it.entry = Some(v)),
    },
    InterpreterKey {
        key: "leave",
        kind: SettingKind::Text("INPUT"),
        default: "none",
        help: "Input that leaves it, which `interrupt` names",
        set: |it, v| input(v).map(|v| it.leave = Some(v)),
    },
    InterpreterKey {
        key: "error",
        kind: SettingKind::Text("REGEX"),
        default: "none",
        help: "Beginning of a line of its output that reports an error",
        set: |it, v| optional_expression(v).map(|v| it.error = Some(v)),
    },
];

/// The interpreters that the config file declares, in its order.
#[derive(Debug, Default)]
pub(super) struct InterpreterTable(Vec<DeclaredInterpreter>);

impl InterpreterTable {
    /// Sets a key of the config file. False if it does not belong to an interpreter.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let Some((name, declared)) = find(key) else { return Ok(false) };
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_+".contains(c)) {
            return Err(format!(
                "`{name}` is not a name of an interpreter; it may hold letters, digits, `-`, `_` and `+`"
            ));
        }
        let at = self.0.iter().position(|it| it.name == name).unwrap_or_else(|| {
            self.0.push(DeclaredInterpreter { name: name.to_owned(), ..Default::default() });
            self.0.len() - 1
        });
        if let Some(interpreter) = self.0.get_mut(at) {
            (declared.set)(interpreter, value)?;
        }
        Ok(true)
    }

    /// The table of all interpreters, once every key is set.
    pub(super) fn finish(self) -> Result<&'static Interpreters, String> {
        if self.0.is_empty() {
            return Ok(Interpreters::built_in());
        }
        match self.0.iter().find(|it| !it.has_prompt()) {
            Some(it) => Err(format!(
                "config key `{INTERPRETERS_TABLE}.{}.prompt`: it is missing, and there is no built-in interpreter \
                 of this name",
                it.name
            )),
            None => Ok(Interpreters::with_declared(self.0)),
        }
    }
}

/// The name and the key of a dotted key of the config file.
fn find(key: &str) -> Option<(&str, &'static InterpreterKey)> {
    let (name, key) = split(key)?;
    Some((name, INTERPRETER_KEYS.iter().find(|declared| declared.key == key)?))
}

fn split(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix(INTERPRETERS_TABLE)?.strip_prefix('.')?.rsplit_once('.')
}

/// The kind of value of a key of the config file, if it belongs to an interpreter.
pub(super) fn kind(key: &str) -> Option<SettingKind> {
    find(key).map(|(_, declared)| declared.kind)
}

/// The error for a key of this table that is not declared; `None` for keys of others.
pub(super) fn unknown(key: &str) -> Option<String> {
    let below = key.strip_prefix(INTERPRETERS_TABLE)?;
    let keys = || INTERPRETER_KEYS.iter().map(|declared| declared.key);
    let valid = || {
        format!(
            "the keys of `[{INTERPRETERS_TABLE}.NAME]` are {}",
            keys().collect::<Vec<_>>().join(", ")
        )
    };
    let missing = format!("there is no config key `{key}`");
    Some(match split(key) {
        Some((name, last)) => match nearest(last, keys()) {
            Some(near) => format!("{missing}; did you mean `{INTERPRETERS_TABLE}.{name}.{near}`?"),
            None => format!("{missing}; {}", valid()),
        },
        None if below.is_empty() || below.starts_with('.') => format!("{missing}; {}", valid()),
        None => return None,
    })
}

/// Parses an expression that must fit some text, so that an empty row does not count as a prompt.
fn expression(text: &str) -> Result<String, String> {
    let regex = Regex::new(&format!("^(?:{text})$")).map_err(|_| mistake(text))?;
    if regex.is_match("") {
        return Err(format!(
            "`{text}` fits an empty row, which would always count; valid is an expression for a whole \
             prompt, such as `toy> `"
        ));
    }
    Ok(text.to_owned())
}

/// The same; an empty text means none.
fn optional_expression(text: &str) -> Result<String, String> {
    if text.is_empty() { Ok(String::new()) } else { expression(text) }
}

/// The mistake in an expression.
fn mistake(text: &str) -> String {
    let error = Regex::new(text).err().map(|error| error.to_string()).unwrap_or_default();
    let why = error.trim().lines().next_back().unwrap_or_default();
    format!("`{text}` is not a regular expression: {}", why.trim_start_matches("error: "))
}

/// Parses names of programs, one per line.
fn programs(lines: &str) -> Result<Vec<String>, String> {
    let wrong = |name: &&str| name.is_empty() || name.contains(['/', ' ']);
    match lines.lines().find(wrong) {
        Some(name) => Err(format!("`{name}` is not the name of a program, such as `toy`")),
        None if lines.is_empty() => Err("the list is empty; leave the key out".to_owned()),
        None => Ok(lines.lines().map(str::to_owned).collect()),
    }
}

/// Parses one line of input.
fn input(text: &str) -> Result<String, String> {
    match text.contains(char::is_control) {
        true => Err(format!("`{}` is not one line of text", text.escape_debug())),
        false => Ok(text.to_owned()),
    }
}
