//! The text of a workflow: numbered steps, each with the call to make on a line of its own.

use serde_json::Value;

use super::Has;
use terminal::text;

/// A workflow that is being written.
pub(crate) struct Script<'a> {
    has: Has<'a>,
    lines: Vec<String>,
    steps: usize,
    /// Whether a call needs what an earlier step has brought.
    refers: bool,
}

/// A call as it is written: the tool, and its arguments as JSON.
#[derive(Debug)]
pub(crate) struct Call {
    tool: &'static str,
    arguments: Value,
}

/// A call of a tool; arguments that are null are left out.
pub(crate) fn call(tool: &'static str, mut arguments: Value) -> Call {
    if let Value::Object(map) = &mut arguments {
        map.retain(|_, value| !value.is_null());
    }
    Call { tool, arguments }
}

/// A step that other steps can refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step(usize);

impl Step {
    /// What stands for a field of its answer.
    pub(crate) fn field(self, name: &str) -> String {
        format!("<{name} of step {}>", self.0)
    }
}

impl<'a> Script<'a> {
    pub(super) fn new(has: Has<'a>) -> Self {
        Self { has, lines: Vec::new(), steps: 0, refers: false }
    }

    /// Adds a sentence.
    pub(crate) fn say(&mut self, words: &str) {
        self.lines.push(words.to_owned());
    }

    /// Adds a step with the first of these calls whose tool is offered; none if none is.
    pub(crate) fn step<const N: usize>(&mut self, words: &str, calls: [Call; N]) -> Step {
        let call = calls.into_iter().find(|call| (self.has)(call.tool));
        if let Some(Call { tool, arguments }) = call {
            self.steps += 1;
            let arguments = visible(&arguments.to_string());
            self.refers |= arguments.contains(" of step ");
            self.lines.push(format!("{}. {words}\n   {tool} {arguments}", self.steps));
        }
        Step(self.steps)
    }

    pub(super) fn text(mut self) -> String {
        if self.refers {
            self.say("What stands in <> is in the answer of that step.");
        }
        self.lines.join("\n") + "\n"
    }
}

/// JSON in which every character can be seen: those that could not are escaped.
fn visible(json: &str) -> String {
    let mut seen = String::with_capacity(json.len());
    for c in json.chars() {
        if (' '..='~').contains(&c) || !text::clean(c.encode_utf8(&mut [0; 4]), false).is_empty() {
            seen.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                seen.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    seen
}
