//! The prompt `diagnose_failing_pane`: find out why a program fails, without changing anything.

use serde_json::json;

use super::{Argument, ArgumentValues, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "diagnose_failing_pane",
    title: "Diagnose a failing pane",
    description: "Find out why the program in a pane fails, without changing anything.",
    arguments: &[Argument {
        name: "pane",
        description: "Pane in which the program runs or ran.",
        kind: CompletionKind::Pane,
        presence: Presence::Required,
    }],
    needs: &["capture_pane"],
    write,
};

/// Matches lines that usually name the cause of a failure.
const CAUSES: &str =
    "error|fatal|panic|exception|traceback|denied|refused|not found|no such|killed|out of memory";

fn write(script: &mut Script<'_>, values: &ArgumentValues) {
    let pane = values.value("pane");
    script
        .say("Find out why the program in a pane fails. Only read: type nothing, change nothing.");
    script.step(
        "See which program runs and whether it waits for input, or its exit code.",
        [call("pane_state", json!({"target": pane})), call("list_panes", json!({"target": pane}))],
    );
    script.step(
        "Read the last lines. The first error is the likely cause; later ones may follow from it.",
        [call("capture_pane", json!({"target": pane, "lines": 200}))],
    );
    script.step(
        "If the cause is not among them, search the scrollback.",
        [
            call(
                "search_panes",
                json!({"target": pane, "pattern": CAUSES, "regex": true, "scrollback": 5000}),
            ),
            call("capture_pane", json!({"target": pane, "lines": 2000})),
        ],
    );
    script.say(
        "Then report the failure, the lines that prove it, the likely cause, and the smallest next step to \
         fix or confirm it. Say so if you are not sure.",
    );
}
