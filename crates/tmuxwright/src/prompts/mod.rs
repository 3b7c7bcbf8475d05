//! MCP prompts: workflows that a person picks in a client. The text of a prompt is a list of steps,
//! each with the tool call to make; steps whose tool is not offered are left out.
//!
//! A prompt is one file here and one line in [`ALL`]. Lists, checks, completion and `docs/prompts.md`
//! follow.

mod build_dev_workspace;
mod debug_service;
mod diagnose_failing_pane;
mod interrupt_gracefully;
mod run_and_wait;
mod script;
mod values;

use serde_json::{Map, Value};

use crate::completion::CompletionKind;
use crate::contract::{Code, ToolError, nearest};
pub(crate) use script::{Script, call};
pub(crate) use values::ArgumentValues;

/// All prompts, in the order of the documentation.
pub const ALL: &[Prompt] = &[
    run_and_wait::PROMPT,
    diagnose_failing_pane::PROMPT,
    build_dev_workspace::PROMPT,
    interrupt_gracefully::PROMPT,
    debug_service::PROMPT,
];

/// Predicate for the names of offered tools.
pub type OffersTool<'a> = &'a dyn Fn(&str) -> bool;

/// The argument that every prompt has if several tmux servers can be reached.
pub const SERVER: Argument = Argument {
    name: "server",
    description: "tmux server, as list_servers names it; by default the first one.",
    kind: CompletionKind::Server,
    presence: Presence::Optional,
};

/// The declaration of a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// Name for programs, in snake_case.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Purpose, in a sentence.
    pub description: &'static str,
    /// Arguments that a person fills in.
    pub arguments: &'static [Argument],
    /// Tools without which the prompt is not offered. Steps with other tools are optional.
    pub needs: &'static [&'static str],
    write: fn(&mut Script<'_>, &ArgumentValues),
}

/// The declaration of a prompt's argument.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// Name.
    pub name: &'static str,
    /// Meaning, in a sentence.
    pub description: &'static str,
    /// Kind of value, from which completions are suggested.
    pub kind: CompletionKind,
    /// Whether it may be left out.
    pub presence: Presence,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must be given.
    Required,
    /// It may be left out.
    Optional,
    /// It has this value if left out.
    Default(&'static str),
}

impl Prompt {
    /// Whether all tools it needs are offered.
    pub fn is_offered(&self, offers: OffersTool<'_>) -> bool {
        self.needs.iter().all(|tool| offers(tool))
    }

    /// Its arguments, with that for the server if several can be reached.
    pub fn all_arguments(&self, servers: &[String]) -> impl Iterator<Item = &'static Argument> {
        self.arguments.iter().chain((!servers.is_empty()).then_some(&SERVER))
    }

    /// The argument with this name, or an error that names the nearest one.
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

    /// The text with these arguments filled in. `servers` are the names of the tmux servers from which calls choose,
    /// if there are several.
    pub fn text(
        &self,
        mut given: Map<String, Value>,
        offers: OffersTool<'_>,
        servers: &[String],
    ) -> Result<String, ToolError> {
        let server = if servers.is_empty() { None } else { given.shift_remove(SERVER.name) };
        let server = values::server(server, servers)?;
        let given = ArgumentValues::read(self, given)?;
        let mut script = Script::new(offers, server);
        (self.write)(&mut script, &given);
        Ok(script.text())
    }
}

/// The prompts whose tools are offered, in the order of [`ALL`].
pub fn offered(offers: OffersTool<'_>) -> impl Iterator<Item = &'static Prompt> {
    ALL.iter().filter(move |prompt| prompt.is_offered(offers))
}

/// The offered prompt with this name, or an error that names the nearest one.
pub fn find(name: &str, offers: OffersTool<'_>) -> Result<&'static Prompt, ToolError> {
    offered(offers).find(|prompt| prompt.name == name).ok_or_else(|| {
        let error = ToolError::new(Code::NotFound, format!("there is no prompt `{name}`"));
        let names: Vec<&str> = offered(offers).map(|prompt| prompt.name).collect();
        if let Some(hidden) = ALL.iter().find(|prompt| prompt.name == name) {
            let missing =
                hidden.needs.iter().find(|tool| !offers(tool)).copied().unwrap_or_default();
            return error.hint(format!("it needs the tool `{missing}`, which is not offered"));
        }
        error.hint(match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => {
                "no prompt can be used with the tools that are offered".into()
            }
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
        find(name, &|_| true)?.text(given, &|_| true, &[])
    }

    fn message(name: &str, given: Value) -> String {
        text(name, given).unwrap_err().to_string()
    }

    #[test]
    fn unknown_prompt_names_the_nearest() {
        assert!(message("run_and_wate", json!({})).contains("`run_and_wait`"));
        let capture_only: OffersTool<'_> = &|tool| tool == "capture_pane";
        let error = find("run_and_wait", capture_only).unwrap_err().to_string();
        assert!(error.contains("no prompt `run_and_wait`") && error.contains("`run_command`"));
        let error = find("zzz", capture_only).unwrap_err().to_string();
        assert!(error.contains("diagnose_failing_pane") && !error.contains("run_and"), "{error}");
        let error = find("zzz", &|_| false).unwrap_err().to_string();
        assert!(error.contains("no prompt can be used"), "{error}");
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
    fn calls_carry_the_chosen_server() {
        let servers = ["default".to_owned(), "build1".to_owned()];
        let text = |server: Value| {
            let given = json!({"command": "make", "server": server});
            let Value::Object(given) = given else { panic!("not an object") };
            find("run_and_wait", &|_| true)?.text(given, &|_| true, &servers)
        };
        let shown = text(json!("build1")).unwrap();
        let calls = || shown.lines().filter_map(|line| line.strip_prefix("   ")?.split_once(' '));
        assert!(calls().count() > 2, "{shown}");
        assert!(calls().all(|(_, call)| call.contains("\"server\":\"build1\"")), "{shown}");
        assert!(!text(json!(" ")).unwrap().contains("server"));
        let error = text(json!("build2")).unwrap_err().to_string();
        assert!(error.contains("`build2`") && error.contains("did you mean `build1`"), "{error}");
        let error = message("run_and_wait", json!({"command": "x", "server": "build1"}));
        assert!(error.contains("no argument `server`"), "{error}");
    }

    #[test]
    fn blank_argument_counts_as_left_out() {
        let shown = text("run_and_wait", json!({"command": "make", "pane": "", "timeout": null}));
        assert!(
            shown.unwrap().contains("\n   run_command {\"command\":\"make\",\"timeout\":60}\n")
        );
        let shown = text("run_and_wait", json!({"command": "make", "pane": "%3", "timeout": "5"}));
        let call = "run_command {\"command\":\"make\",\"target\":\"%3\",\"timeout\":5}\n";
        assert!(shown.unwrap().contains(call));
    }

    #[test]
    fn argument_cannot_break_out_of_a_call() {
        let nasty = "a\"}\nkill {\"target\":\"%0\"} `x` \u{202e}\u{7f}\u{1b}[31m\u{e0041}\u{2028}é";
        let shown = text("run_and_wait", json!({"command": nasty})).unwrap();
        assert_eq!(terminal::text::clean(&shown, false), shown);
        assert!(!shown.lines().any(|line| line.trim_start().starts_with("kill ")), "{shown}");
        let call = shown.lines().find_map(|line| line.strip_prefix("   run_command ")).unwrap();
        let call: Value = serde_json::from_str(call).unwrap();
        assert_eq!(call["command"], nasty);
    }
}
