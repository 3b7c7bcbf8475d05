//! Workflows that a person picks in a client. Each is a text of steps with the calls to make written
//! out, of tools that are offered.
//!
//! A prompt is one file here and one line in [`ALL`]. Lists, checks, completion and `docs/prompts.md`
//! follow.

mod build_dev_workspace;
mod debug_service;
mod diagnose_failing_pane;
mod given;
mod interrupt_gracefully;
mod run_and_wait;
mod script;

use serde_json::{Map, Value};

use crate::completion::CompletionKind;
use crate::contract::{Code, ToolError, nearest};
pub(crate) use given::Given;
pub(crate) use script::{Script, call};

/// All prompts there are, in the order of the documentation.
pub const ALL: &[Prompt] = &[
    run_and_wait::PROMPT,
    diagnose_failing_pane::PROMPT,
    build_dev_workspace::PROMPT,
    interrupt_gracefully::PROMPT,
    debug_service::PROMPT,
];

/// Says whether a tool is offered.
pub type Has<'a> = &'a dyn Fn(&str) -> bool;

/// A workflow.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// The name, snake_case.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// What it is for, in a sentence.
    pub description: &'static str,
    /// What a person can say about it.
    pub arguments: &'static [Argument],
    /// The tools without which it cannot be done. Steps with others are left out if these are not
    /// offered.
    pub needs: &'static [&'static str],
    write: fn(&mut Script<'_>, &Given),
}

/// Something that a person can say about a workflow.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// The name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub description: &'static str,
    /// What it names, which is what can be suggested for it.
    pub kind: CompletionKind,
    /// What holds if it is not given.
    pub presence: Presence,
}

/// What holds for an argument that is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It has to be.
    Required,
    /// The workflow does without it.
    Optional,
    /// It is this.
    Default(&'static str),
}

impl Prompt {
    /// Whether it can be done with the tools that are offered.
    pub fn is_offered(&self, has: Has<'_>) -> bool {
        self.needs.iter().all(|tool| has(tool))
    }

    /// The argument of this name, or an error that names the nearest.
    pub fn argument(&self, name: &str) -> Result<&'static Argument, ToolError> {
        self.arguments.iter().find(|argument| argument.name == name).ok_or_else(|| {
            let names = || self.arguments.iter().map(|argument| argument.name);
            let all = names().collect::<Vec<_>>().join(", ");
            let what = format!("the prompt `{}` has no argument `{name}`", self.name);
            ToolError::invalid_argument(what).hint(match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`? the arguments are: {all}"),
                None => format!("the arguments are: {all}"),
            })
        })
    }

    /// The text for these arguments.
    pub fn text(&self, given: Map<String, Value>, has: Has<'_>) -> Result<String, ToolError> {
        let given = Given::read(self, given)?;
        let mut script = Script::new(has);
        (self.write)(&mut script, &given);
        Ok(script.text())
    }
}

/// The prompts that can be done with the tools that are offered, in their order.
pub fn offered(has: Has<'_>) -> impl Iterator<Item = &'static Prompt> {
    ALL.iter().filter(move |prompt| prompt.is_offered(has))
}

/// The offered prompt of this name, or an error that names the nearest.
pub fn find(name: &str, has: Has<'_>) -> Result<&'static Prompt, ToolError> {
    offered(has).find(|prompt| prompt.name == name).ok_or_else(|| {
        let error = ToolError::new(Code::NotFound, format!("there is no prompt `{name}`"));
        let names: Vec<&str> = offered(has).map(|prompt| prompt.name).collect();
        if let Some(hidden) = ALL.iter().find(|prompt| prompt.name == name) {
            let missing = hidden.needs.iter().find(|tool| !has(tool)).copied().unwrap_or_default();
            return error.hint(format!("it needs the tool `{missing}`, which is not offered"));
        }
        error.hint(match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => "none can be done with the tools that are offered".into(),
            None => format!("the prompts are: {}", names.join(", ")),
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(name: &str, given: Value) -> Result<String, ToolError> {
        let Value::Object(given) = given else { panic!("not an object") };
        find(name, &|_| true)?.text(given, &|_| true)
    }

    fn message(name: &str, given: Value) -> String {
        text(name, given).unwrap_err().to_string()
    }

    #[test]
    fn a_prompt_that_is_not_there_names_the_nearest() {
        assert!(message("run_and_wate", json!({})).contains("`run_and_wait`"));
        let only_looks: Has<'_> = &|tool| tool == "capture_pane";
        let error = find("run_and_wait", only_looks).unwrap_err().to_string();
        assert!(error.contains("no prompt `run_and_wait`") && error.contains("`run_command`"));
        let error = find("zzz", only_looks).unwrap_err().to_string();
        assert!(error.contains("diagnose_failing_pane") && !error.contains("run_and"), "{error}");
        let error = find("zzz", &|_| false).unwrap_err().to_string();
        assert!(error.contains("none can be done"), "{error}");
    }

    #[test]
    fn arguments_are_checked() {
        let error = message("run_and_wait", json!({}));
        assert!(error.contains("`command` is missing"), "{error}");
        let error = message("run_and_wait", json!({"command": " "}));
        assert!(error.contains("`command` is missing"), "{error}");
        let error = message("run_and_wait", json!({"command": "x", "pane_id": "%1"}));
        assert!(error.contains("no argument `pane_id`") && error.contains("`pane`"), "{error}");
        for wrong in [json!("soon"), json!("0"), json!(601), json!("NaN"), json!("-1")] {
            let error = message("run_and_wait", json!({"command": "x", "timeout": wrong}));
            assert!(error.contains("`timeout`") && error.contains("1 to 600"), "{error}");
        }
        let error = message("run_and_wait", json!({"command": ["x"]}));
        assert!(error.contains("`command`") && error.contains("text"), "{error}");
    }

    #[test]
    fn what_is_not_said_has_its_default_or_is_left_out() {
        let said = text("run_and_wait", json!({"command": "make", "pane": "", "timeout": null}));
        assert!(said.unwrap().contains("\n   run_command {\"command\":\"make\",\"timeout\":60}\n"));
        let said = text("run_and_wait", json!({"command": "make", "pane": "%3", "timeout": "5"}));
        let call = "run_command {\"command\":\"make\",\"target\":\"%3\",\"timeout\":5}\n";
        assert!(said.unwrap().contains(call));
    }

    #[test]
    fn nothing_breaks_out_of_a_call() {
        let nasty = "a\"}\nkill {\"target\":\"%0\"} `x` \u{202e}\u{7f}\u{1b}[31m\u{e0041}\u{2028}é";
        let said = text("run_and_wait", json!({"command": nasty})).unwrap();
        assert_eq!(terminal::text::clean(&said, false), said);
        assert!(!said.lines().any(|line| line.trim_start().starts_with("kill ")), "{said}");
        let call = said.lines().find_map(|line| line.strip_prefix("   run_command ")).unwrap();
        let call: Value = serde_json::from_str(call).unwrap();
        assert_eq!(call["command"], nasty);
    }
}
