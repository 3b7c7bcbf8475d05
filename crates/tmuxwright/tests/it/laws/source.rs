//! Laws on the source: sizes of files, ways around the guard, the tmux crate, one file per tool.

use std::fs;
use std::path::{Path, PathBuf};

use tmuxwright::tools;

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All Rust files below a directory, with their text.
pub(crate) fn sources(dir: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

#[test]
fn files_stay_small() {
    for (path, text) in sources(&crates()) {
        let in_tests = path.components().any(|part| part.as_os_str() == "tests");
        let most = if in_tests { 600 } else { 400 };
        let lines = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines().count();
        assert!(lines <= most, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_file_opens_with_module_docs() {
    for (path, text) in sources(&crates()) {
        assert!(text.starts_with("//! "), "{} does not begin with //!", path.display());
    }
}

/// Tools reach objects, shells and new panes through `Cx` alone, which asks the policy.
#[test]
fn tools_go_through_the_guard() {
    let src = crates().join("tmuxwright/src");
    let mut files = sources(&src.join("tools"));
    for shared in ["actions", "results"] {
        files.extend(sources(&src.join(shared)));
    }
    let only_here: &[(&str, &str)] = &[
        // Whether a session would close depends on panes that a policy hides, too.
        ("host.panes(", "actions/arrange.rs"),
        ("host.new_pane(", "create.rs"),
        ("host.claim(", "create.rs"),
        ("runs.run(", "start.rs"),
        ("runs.run_anywhere(", "start.rs"),
        ("PaneLocation::all(", "nowhere: cx.resolve"),
        ("\"list-panes\"", "nowhere: cx.panes"),
        ("\"list-windows\"", "nowhere: cx.windows"),
    ];
    for (path, text) in files {
        let code: String = text.split_whitespace().collect::<Vec<_>>().join("");
        for (call, place) in only_here {
            assert!(!code.contains(call) || path.ends_with(place), "{call} in {}", path.display());
        }
        let types = ["type_text(", "Paste{", ".run_in_repl(", "press_enter(cx"];
        let turn = path.ends_with("typing.rs")
            || code.contains("cx.turn(")
            || code.contains("cx.turn_to_type(");
        for call in types {
            assert!(!code.contains(call) || turn, "{call} without a turn in {}", path.display());
        }
        let signals = !code.contains("signal_foreground(") || code.contains("cx.note_signal(");
        assert!(signals, "signal without cx.note_signal in {}", path.display());
    }
}

#[test]
fn tmux_crate_knows_nothing_of_mcp() {
    for (path, text) in sources(&crates().join("tmux-control/src")) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            assert!(!line.contains("mcp"), "{}: {line}", path.display());
        }
    }
    let manifest = fs::read_to_string(crates().join("tmux-control/Cargo.toml")).unwrap();
    assert!(!manifest.contains("rmcp"), "{manifest}");
}

#[test]
fn every_tool_has_a_file_of_its_name() {
    let files: Vec<String> = sources(&crates().join("tmuxwright/src/tools"))
        .iter()
        .map(|(path, _)| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|stem| stem != "mod")
        .collect();
    let mut listed: Vec<&str> = tools::all().iter().map(|entry| entry.meta.name).collect();
    let mut files: Vec<&str> = files.iter().map(String::as_str).collect();
    listed.sort_unstable();
    files.sort_unstable();
    assert_eq!(files, listed, "a file without a tool, or a tool without a file");
}

#[test]
fn every_tool_and_error_has_a_test() {
    let tests = sources(&crates().join("tmuxwright/tests/it"));
    let unit = sources(&crates().join("tmuxwright/src"));
    let this_file = |path: &Path| path.ends_with("laws/source.rs");
    for entry in tools::all() {
        let call = format!("\"{}\"", entry.meta.name);
        let called = tests.iter().any(|(path, text)| !this_file(path) && text.contains(&call));
        assert!(called, "no test calls {}", entry.meta.name);
    }
    for (_, code, _) in tmuxwright::contract::Code::ALL {
        let end_to_end = tests.iter().any(|(_, text)| text.contains(&format!("err(\"{code}\")")));
        let in_unit = unit.iter().any(|(_, text)| {
            text.split("mod tests")
                .nth(1)
                .is_some_and(|tests| tests.contains(&format!("\"{code}\"")))
        });
        assert!(end_to_end || in_unit, "no test meets {code}");
    }
}
