//! Calls made up from the tools' own schemas, so that a tool that is new is tried like all others.

#![expect(clippy::indexing_slicing, reason = "helpers fail like tests")]

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tmuxwright::context::Entry;
use tmuxwright::tools;

/// What arguments are made of.
pub(crate) struct Material {
    /// Sessions, windows and panes.
    pub(crate) targets: Vec<String>,
    /// Text that does something where it is not taken as text.
    pub(crate) hostile: Vec<String>,
    dir: PathBuf,
}

/// The name of every file that hostile text would make.
const TOUCHED: &str = "touched";

impl Material {
    /// Material for a server with this home.
    pub(crate) fn new(home: &Path, targets: &[&str]) -> Self {
        let touch = format!("touch {}", home.join(TOUCHED).display());
        let hostile = [
            format!("#({touch})"),
            format!("#{{E:#({touch})}}"),
            format!("$({touch})"),
            format!("`{touch}`"),
            format!("'; {touch}; '"),
            format!("\"; {touch} #"),
            format!("x ; run-shell '{touch}'"),
            format!("x\nrun-shell '{touch}'\n"),
            "%0 ; kill-server".to_owned(),
            "#{T:@evil} #S %d".to_owned(),
            "-t".to_owned(),
            "a\0b".to_owned(),
            "\u{202e}\u{1b}]0;x\u{7}".to_owned(),
            "%if 1".to_owned(),
            String::new(),
            "long ".repeat(4_000),
        ];
        Self {
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            hostile: hostile.to_vec(),
            dir: home.to_path_buf(),
        }
    }

    /// The same without hostile text.
    pub(crate) fn tame(&self) -> Self {
        Self { targets: self.targets.clone(), hostile: Vec::new(), dir: self.dir.clone() }
    }

    /// Fails if hostile text was run anywhere.
    pub(crate) fn nothing_ran(&self, after: &str) {
        assert!(!self.dir.join(TOUCHED).exists(), "{after} ran what it was given as text");
    }

    /// Values worth trying for an argument: ordinary ones, then wild ones.
    pub(crate) fn values(&self, name: &str, schema: &Value) -> Vec<Value> {
        if let Some(choices) = schema["enum"].as_array() {
            return choices.clone();
        }
        let slow = ["timeout", "wait", "delay_ms", "duration"].contains(&name);
        match schema["type"].as_str() {
            Some("boolean") => vec![json!(true), json!(false)],
            Some("integer" | "number") if slow => vec![json!(0), json!(-1), json!(1e18)],
            Some("integer" | "number") => {
                [0, 1, -1, 7, 1_000_000_000_000_i64].map(Value::from).into()
            }
            Some("array") => {
                let items = self.values(name, &schema["items"]);
                items.into_iter().map(|item| json!([item])).chain([json!([])]).collect()
            }
            Some("object") => {
                let wild = self.hostile.iter().map(|text| json!({text.as_str(): text}));
                [json!({"A": "b"})].into_iter().chain(wild).collect()
            }
            _ => {
                let wild = self.hostile.iter().map(|text| Value::from(text.as_str()));
                self.ordinary(name).into_iter().map(Value::from).chain(wild).collect()
            }
        }
    }

    /// Texts that an argument of this name can well have.
    fn ordinary(&self, name: &str) -> Vec<String> {
        let out = self.dir.join("out").display().to_string();
        let home = self.dir.display().to_string();
        let texts: &[&str] = match name {
            "target" | "targets" | "source" | "session" => return self.targets.clone(),
            "path" => &[&out],
            "cwd" | "paths" => &[&home],
            "until" => &["text:never", "exit", "idle:0.01"],
            "command" => &["true", "sleep 50"],
            "text" | "input" => &["true", "echo hi"],
            "keys" => &["Enter", "C-c", "Up", "x"],
            "command_id" => &["c1"],
            "pattern" => &["x", "1"],
            "format" => &["#{pane_id}", "#{session_name}"],
            "filter" => &["own=true", "pane_id~0"],
            "signal" => &["TERM", "INT"],
            "layout" => &["tiled", "even-horizontal"],
            "size" => &["30%", "5"],
            // Of buffers, options and variables.
            "name" | "new_name" | "buffers" => &[
                "notes",
                "@mine",
                "PATH",
                "destroy-unattached",
                "automatic-rename",
                "after-new-window",
            ],
            "value" => &["on", "off", "kill-session -t main"],
            _ => &["x"],
        };
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}

/// A tool's arguments, with the schema of each.
pub(crate) fn arguments(entry: &Entry) -> Map<String, Value> {
    let schema = Value::Object((entry.input_schema)());
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// Whether a call cannot do without an argument: it is required, or it would block for long.
pub(crate) fn is_needed(entry: &Entry, name: &str) -> bool {
    let schema = Value::Object((entry.input_schema)());
    let required = schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
    required || ["timeout", "wait"].contains(&name)
}

/// The tool of this name.
pub(crate) fn tool(name: &str) -> Entry {
    tools::all().into_iter().find(|entry| entry.meta.name == name).unwrap_or_else(|| {
        unreachable!("there is no tool {name}");
    })
}
