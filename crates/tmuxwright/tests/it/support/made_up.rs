//! Arguments generated from the tools' own schemas, so that a new tool is tested without a line here.

#![expect(clippy::indexing_slicing, reason = "helpers fail like tests")]

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tmuxwright::context::ToolEntry;
use tmuxwright::tools;

/// Values from which arguments are generated.
pub(crate) struct Material {
    /// Sessions, windows and panes.
    pub(crate) targets: Vec<String>,
    /// Text that would run a command if it were not taken literally.
    pub(crate) hostile: Vec<String>,
    dir: PathBuf,
}

/// The file that hostile text creates when it is run.
const TOUCHED: &str = "touched";

impl Material {
    /// Values for a server with this home.
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

    /// The same values without hostile text.
    pub(crate) fn tame(&self) -> Self {
        Self { targets: self.targets.clone(), hostile: Vec::new(), dir: self.dir.clone() }
    }

    /// Fails if hostile text was run.
    pub(crate) fn nothing_ran(&self, after: &str) {
        assert!(!self.dir.join(TOUCHED).exists(), "{after} ran an argument as a command");
    }

    /// Values to try for an argument: valid ones first, then hostile ones.
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
                let hostile = self.hostile.iter().map(|text| json!({text.as_str(): text}));
                [json!({"A": "b"})].into_iter().chain(hostile).collect()
            }
            _ => {
                let hostile = self.hostile.iter().map(|text| Value::from(text.as_str()));
                self.valid(name).into_iter().map(Value::from).chain(hostile).collect()
            }
        }
    }

    /// Valid texts for an argument of this name.
    fn valid(&self, name: &str) -> Vec<String> {
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
            // Names of buffers, options and variables.
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

/// A tool's arguments: each name with its schema.
pub(crate) fn arguments(entry: &ToolEntry) -> Map<String, Value> {
    let schema = Value::Object((entry.input_schema)());
    schema["properties"].as_object().cloned().unwrap_or_default()
}

/// Whether a call needs an argument: it is required, or without it the call would block for long.
pub(crate) fn is_needed(entry: &ToolEntry, name: &str) -> bool {
    let schema = Value::Object((entry.input_schema)());
    let required = schema["required"].as_array().is_some_and(|names| names.contains(&name.into()));
    required || ["timeout", "wait"].contains(&name)
}

/// The tool of this name.
pub(crate) fn tool(name: &str) -> ToolEntry {
    tools::all().into_iter().find(|entry| entry.meta.name == name).unwrap_or_else(|| {
        unreachable!("there is no tool {name}");
    })
}
