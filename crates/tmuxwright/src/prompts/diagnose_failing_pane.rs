//! `diagnose_failing_pane`: why does the program there fail?

use serde_json::json;

use super::{Argument, Given, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "diagnose_failing_pane",
    title: "Diagnose a failing pane",
    description: "Find out why the program in a pane fails, without changing anything.",
    arguments: &[Argument {
        name: "pane",
        description: "The pane.",
        kind: CompletionKind::Pane,
        presence: Presence::Required,
    }],
    needs: &["capture_pane"],
    write,
};

/// What causes tend to be called.
const CAUSES: &str =
    "error|fatal|panic|exception|traceback|denied|refused|not found|no such|killed|out of memory";

fn write(script: &mut Script<'_>, given: &Given) {
    let pane = given.value("pane");
    script.say("Find out why the program in a pane fails. Look only: type and change nothing.");
    script.step(
        "See what runs there and what it waits for, or with which code it has exited.",
        [call("pane_state", json!({"target": pane})), call("list_panes", json!({"target": pane}))],
    );
    script.step(
        "Read the last lines. The first error is the likely cause; those after it may follow from it.",
        [call("capture_pane", json!({"target": pane, "lines": 200}))],
    );
    script.step(
        "If it is not among them, look for it in the history.",
        [
            call(
                "search_panes",
                json!({"target": pane, "pattern": CAUSES, "regex": true, "scrollback": 5000}),
            ),
            call("capture_pane", json!({"target": pane, "lines": 2000})),
        ],
    );
    script.say(
        "Then report what failed, the lines that show it, the likely cause, and the smallest next step to \
         fix or confirm it. Say so if you are not sure.",
    );
}
