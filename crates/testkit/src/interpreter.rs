//! An interpreter in a real tmux, and the steps of a session with it: inputs with the answers that
//! `run_in_repl` must give.
//!
//! A command in bash starts the interpreter, as an agent does, so that leaving it has an exit code.

use serde_json::{Value, json};

use crate::launch::Launch;
use crate::mcp::Mcp;
use crate::tmux_server::TmuxServer;
use crate::until::wait_until;

/// Stands for any text in the expected output of a [`Step`], such as an address.
const ANY_TEXT: char = '…';

/// Seconds for one call.
const TIMEOUT: u32 = 30;

/// One call of a session and the answer that it must have.
#[derive(Debug, Clone)]
#[must_use]
pub struct Step {
    call: Call,
    output: String,
    /// `None` for the prompt.
    state: Option<String>,
    is_error: bool,
    lines_left: u64,
    /// A part of the error, if the input must be refused.
    refusal: Option<String>,
}

#[derive(Debug, Clone)]
enum Call {
    Enter { input: String, prompt: Option<String>, timeout: u32 },
    Interrupt { is_pressed: bool },
}

impl Step {
    fn of(call: Call) -> Self {
        let output = String::new();
        Self { call, output, state: None, is_error: false, lines_left: 0, refusal: None }
    }

    /// An input that prints nothing and leads back to the prompt, unless said otherwise.
    pub fn input(input: impl Into<String>) -> Self {
        Self::of(Call::Enter { input: input.into(), prompt: None, timeout: TIMEOUT })
    }

    /// A call of `interrupt` that presses C-c.
    pub fn interrupt() -> Self {
        Self::of(Call::Interrupt { is_pressed: true })
    }

    /// A call of `interrupt` that must not press C-c.
    pub fn no_interrupt() -> Self {
        Self::of(Call::Interrupt { is_pressed: false })
    }

    /// The expected output; `…` stands for any text.
    pub fn prints(mut self, output: impl Into<String>) -> Self {
        self.output = output.into();
        self
    }

    /// The same for an answer that is marked as an error.
    pub fn fails(mut self, output: impl Into<String>) -> Self {
        self.is_error = true;
        self.prints(output)
    }

    /// The expected state, if it is not the prompt.
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    /// An input that must be refused, with an error that says this.
    pub fn refused(mut self, error: impl Into<String>) -> Self {
        self.refusal = Some(error.into());
        self
    }

    /// The number of lines that must be left over.
    pub fn lines_left(mut self, count: u64) -> Self {
        self.lines_left = count;
        self
    }

    /// Names the row behind which the input is entered: the answer to a question.
    pub fn behind(mut self, row: impl Into<String>) -> Self {
        if let Call::Enter { prompt, .. } = &mut self.call {
            *prompt = Some(row.into());
        }
        self
    }

    /// Limits the wait, for an input without an end.
    pub fn within(mut self, seconds: u32) -> Self {
        if let Call::Enter { timeout, .. } = &mut self.call {
            *timeout = seconds;
        }
        self
    }
}

/// An interpreter in a pane of 80x24 on a tmux server of its own, and an MCP client.
#[derive(Debug)]
pub struct Interpreter {
    /// The tmux server.
    pub tmux: TmuxServer,
    /// The client.
    pub mcp: Mcp,
    /// The id of the interpreter's pane.
    pub pane: String,
    /// State at the prompt, with every number as 0.
    at_prompt: String,
}

impl Interpreter {
    /// Starts an interpreter from a bash that the program under test types into, and waits for its prompt.
    pub async fn open(program: &str, command: &str, prompt: &str) -> Self {
        let tmux = TmuxServer::new();
        Self::open_on(tmux, program, command, prompt).await
    }

    /// The same on a server whose home already has the files that the interpreter reads.
    pub async fn open_on(tmux: TmuxServer, program: &str, command: &str, prompt: &str) -> Self {
        let launch = Launch::new(program, &tmux);
        let mcp = launch.args(&["--toolset", "all", "--structured"]).mcp().await;
        let pane = tmux.open_shell("exec bash --norc --noprofile -i");
        let arguments = json!({"command": command, "target": pane, "timeout": TIMEOUT});
        mcp.call("run_command", arguments).await.ok();
        wait_until(&format!("{command} shows its prompt"), || {
            tmux.screen(&pane).ends_with(prompt.trim_end()).then_some(())
        });
        let at_prompt = match prompt.trim() {
            "" => "at its prompt".to_owned(),
            prompt => format!("at {}", zeroed(prompt)),
        };
        Self { tmux, mcp, pane, at_prompt }
    }

    /// Makes the calls in order, and fails with all answers that differ, up to one that leads to another
    /// state: there the further inputs would mean something else.
    pub async fn run(&self, steps: &[Step]) {
        let mut wrong = Vec::new();
        for step in steps {
            let fault = match &step.call {
                Call::Enter { input, prompt, timeout } => {
                    let mut arguments =
                        json!({"target": self.pane, "input": input, "timeout": timeout});
                    if let Some(prompt) = prompt {
                        arguments["prompt"] = json!(prompt);
                    }
                    let outcome = self.mcp.call("run_in_repl", arguments).await;
                    let result = outcome.result();
                    let error = format!("{:?}", result.content);
                    match (&result.structured_content, &step.refusal) {
                        (Some(answer), None) => self.fault_of_answer(step, answer),
                        (Some(answer), Some(_)) => {
                            Some((true, format!("is not refused: {answer}")))
                        }
                        (None, Some(refusal)) if error.contains(refusal) => None,
                        (None, _) => Some((true, format!("is refused: {error}"))),
                    }
                }
                Call::Interrupt { is_pressed } => {
                    let arguments = json!({"target": self.pane, "timeout": TIMEOUT});
                    let result = self.mcp.call("interrupt", arguments).await.result();
                    let text: String = result
                        .content
                        .iter()
                        .filter_map(|block| block.as_text())
                        .map(|text| text.text.as_str())
                        .collect();
                    let answer = result.structured_content.unwrap_or_default();
                    let pressed = !text.contains("C-c not pressed");
                    let stands = self.stands(step, &answer);
                    (pressed != *is_pressed || !stands)
                        .then(|| (!stands, format!("is wrong: {text}")))
                }
            };
            if let Some((is_lost, fault)) = fault {
                wrong.push(format!("{:?}\n    {fault}", step.call));
                if is_lost {
                    break;
                }
            }
        }
        let screen = self.tmux.try_tmux(&["capture-pane", "-p", "-t", &self.pane]);
        let screen = screen.unwrap_or_default();
        assert!(wrong.is_empty(), "{}\nThe screen:\n{}", wrong.join("\n"), screen.trim_end());
    }

    /// Disconnects the client.
    pub async fn close(self) {
        self.mcp.close().await;
    }

    fn stands(&self, step: &Step, answer: &Value) -> bool {
        let state = answer["state"].as_str().unwrap_or_default();
        match &step.state {
            Some(expected) => fits(expected, state),
            None => zeroed(state) == self.at_prompt,
        }
    }

    /// The fault of an answer, and whether the state is another one.
    fn fault_of_answer(&self, step: &Step, answer: &Value) -> Option<(bool, String)> {
        let output = answer["output"].as_str().unwrap_or_default();
        let is_error = answer["error"].as_bool().unwrap_or_default();
        let lines_left = answer["lines_left"].as_u64().unwrap_or_default();
        let mut faults = Vec::new();
        if !fits(&step.output, output) {
            let (expected, output) = (excerpt(&step.output), excerpt(output));
            faults.push(format!("should print {expected:?}, prints {output:?}"));
        }
        let stands = self.stands(step, answer);
        if !stands {
            let expected = step.state.as_ref().unwrap_or(&self.at_prompt);
            faults.push(format!("should stand {expected:?}, stands {}", answer["state"]));
        }
        if is_error != step.is_error {
            faults.push(format!("error should be {}", step.is_error));
        }
        if lines_left != step.lines_left {
            faults.push(format!("should leave {} lines, leaves {lines_left}", step.lines_left));
        }
        (!faults.is_empty()).then(|| (!stands, faults.join("; ")))
    }
}

/// Whether a text is the expected one, in which `…` stands for any text.
fn fits(expected: &str, text: &str) -> bool {
    let mut parts = expected.split(ANY_TEXT);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    true
}

/// The two ends of a long text.
fn excerpt(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (Some(first), Some(last)) = (chars.first_chunk::<300>(), chars.last_chunk::<100>()) else {
        return text.to_owned();
    };
    if chars.len() <= 400 {
        return text.to_owned();
    }
    let [first, last]: [String; 2] = [first.iter().collect(), last.iter().collect()];
    format!("{first} [...] {last}")
}

/// A text with every number as 0.
fn zeroed(text: &str) -> String {
    let mut zeroed = String::new();
    for char in text.chars() {
        match char.is_ascii_digit() {
            true if zeroed.ends_with('0') => {}
            true => zeroed.push('0'),
            false => zeroed.push(char),
        }
    }
    zeroed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_text_may_leave_parts_open() {
        for (expected, text, is) in [
            ("42", "42", true),
            ("42", "420", false),
            ("at 0x… in main", "at 0x55 in main", true),
            ("at 0x… in main", "at 0x55 in main ()", false),
            ("…b…d", "abcd", true),
            ("…", "", true),
            ("a…a", "a", false),
        ] {
            assert_eq!(fits(expected, text), is, "{expected:?} {text:?}");
        }
        assert_eq!(zeroed("In [12]: x1"), "In [0]: x0");
    }
}
