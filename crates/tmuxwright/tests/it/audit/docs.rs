//! Tests of `docs/audit.md`: its tables follow from the declarations, its examples are valid logs.

use std::fmt::Write;
use std::fs;

use schemars::schema_for;
use serde_json::Value;
use tmuxwright::audit::{self, AuditRecord};
use tmuxwright::tools;

use crate::laws::claims::root;
use crate::laws::docs::must_be;

fn page() -> String {
    fs::read_to_string(root().join("docs/audit.md")).unwrap()
}

/// The page with a part of it replaced.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let begin = format!("<!-- {name}: made by `make bless` -->\n");
    let end = format!("<!-- end of {name} -->");
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{part}{end}{after}")
}

/// The JSON code blocks of the page.
fn examples(page: &str) -> Vec<&str> {
    let parts = page.split("```json\n").skip(1);
    parts.map(|part| part.split_once("```").unwrap().0).collect()
}

/// The table of arguments that are logged in clear changes when one more is declared so: a review sees it.
#[test]
fn audit_page_tables_are_current() {
    let schema = schema_for!(AuditRecord).to_value();
    let mut fields = String::from("| field | |\n|---|---|\n");
    for (name, field) in schema["properties"].as_object().unwrap() {
        let text = field["description"].as_str().unwrap().replace('\n', " ");
        writeln!(fields, "| `{name}` | {text} |").unwrap();
    }
    let mut clear = String::from("| tool | written as they are |\n|---|---|\n");
    for entry in tools::all() {
        let names = (entry.disclosure)().clear();
        let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches('.')).collect();
        let names = if names.is_empty() { "–".to_owned() } else { names.join(", ") };
        writeln!(clear, "| `{}` | {names} |", entry.meta.name).unwrap();
    }
    let page = with_part(&with_part(&page(), "fields", &fields), "clear", &clear);
    must_be("docs/audit.md", &page);
}

#[test]
fn audit_page_examples_are_valid_logs() {
    let page = page();
    let [hidden, plain] = examples(&page)[..] else { panic!("the page must have two examples") };
    let dir = tempfile::tempdir().unwrap();
    for example in [hidden, plain] {
        let path = dir.path().join("log");
        fs::write(&path, example).unwrap();
        let verdict = audit::verify(&path, 5).unwrap();
        assert_eq!(verdict.problems, [""; 0], "{example}");
        for line in audit::lines(&path).unwrap() {
            let line = line.unwrap();
            // Writing the record again gives the same line, so it has no undocumented field.
            assert_eq!(line.record.unwrap().line().unwrap(), line.text);
        }
    }
    // Each record has all fields of the older format.
    let records: Vec<Value> =
        plain.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (record, older) in records.iter().zip([
        &["ts", "tool", "pane_id", "command", "name"][..],
        &["ts", "tool", "pane_id", "keys"],
        &["ts", "tool", "pane_id", "lines", "output_bytes"],
    ]) {
        assert!(older.iter().all(|field| !record[field].is_null()), "{record}");
    }
    assert!(!hidden.contains("cargo") && !hidden.contains("curl"), "{hidden}");
}

#[test]
fn typed_and_stored_arguments_are_never_clear() {
    const NEVER_CLEAR: &[&str] =
        &["text", "keys", "input", "command", "value", "content", "message"];
    for entry in tools::all() {
        for name in (entry.disclosure)().clear() {
            let name = name.trim_start_matches('.');
            assert!(
                !NEVER_CLEAR.contains(&name) && !name.starts_with("env."),
                "{}.{name}",
                entry.meta.name
            );
        }
    }
}
