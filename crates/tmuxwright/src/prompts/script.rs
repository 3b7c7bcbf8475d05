//! The text of a prompt: numbered steps, each with a tool call on a line of its own.

use serde_json::Value;

use super::{OffersTool, SERVER};
use crate::contract::json_line;

/// Builder of a prompt's text.
pub(crate) struct Script<'a> {
    offers: OffersTool<'a>,
    /// The tmux server that the calls name.
    server: Option<String>,
    lines: Vec<String>,
    steps: usize,
    /// Whether a call refers to the result of an earlier step.
    has_references: bool,
}

/// A tool call to be written: the tool's name and its arguments as JSON.
#[derive(Debug)]
pub(crate) struct CallText {
    tool: &'static str,
    arguments: Value,
}

/// A tool call; arguments that are null are left out.
pub(crate) fn call(tool: &'static str, mut arguments: Value) -> CallText {
    if let Value::Object(map) = &mut arguments {
        map.retain(|_, value| !value.is_null());
    }
    CallText { tool, arguments }
}

/// A reference to an earlier step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepRef(usize);

impl StepRef {
    /// A placeholder for a field of the step's result.
    pub(crate) fn field(self, name: &str) -> String {
        format!("<{name} of step {}>", self.0)
    }
}

impl<'a> Script<'a> {
    pub(super) fn new(offers: OffersTool<'a>, server: Option<String>) -> Self {
        Self { offers, server, lines: Vec::new(), steps: 0, has_references: false }
    }

    /// Adds a sentence.
    pub(crate) fn say(&mut self, words: &str) {
        self.lines.push(words.to_owned());
    }

    /// Adds a step with the first of these calls whose tool is offered; no step if none is.
    pub(crate) fn step<const N: usize>(&mut self, words: &str, calls: [CallText; N]) -> StepRef {
        let call = calls.into_iter().find(|call| (self.offers)(call.tool));
        if let Some(CallText { tool, mut arguments }) = call {
            self.steps += 1;
            if let (Some(server), Value::Object(map)) = (&self.server, &mut arguments) {
                map.insert(SERVER.name.to_owned(), server.as_str().into());
            }
            let arguments = json_line(&arguments);
            self.has_references |= arguments.contains(" of step ");
            self.lines.push(format!("{}. {words}\n   {tool} {arguments}", self.steps));
        }
        StepRef(self.steps)
    }

    pub(super) fn text(mut self) -> String {
        if self.has_references {
            self.say("Replace each <field of step N> with that field of the step's result.");
        }
        self.lines.join("\n") + "\n"
    }
}
