//! `interrupt_gracefully`: stopping a program without breaking anything.

use serde_json::json;

use super::{Argument, Given, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "interrupt_gracefully",
    title: "Interrupt a program",
    description: "Stop what runs in a pane with C-c, and make sure that its shell is back.",
    arguments: &[Argument {
        name: "pane",
        description: "The pane.",
        kind: CompletionKind::Pane,
        presence: Presence::Required,
    }],
    needs: &["interrupt"],
    write,
};

fn write(script: &mut Script<'_>, given: &Given) {
    let pane = given.value("pane");
    script.say("Stop the program in a pane, gently:");
    script.step(
        "See what runs. If a shell is at its prompt, there is nothing to stop: say so and end here.",
        [call("pane_state", json!({"target": pane}))],
    );
    script.step(
        "Press C-c and wait for the prompt.",
        [call("interrupt", json!({"target": pane, "timeout": 5}))],
    );
    script.step(
        "If it is not back, see whether the program asks something or is still cleaning up.",
        [call("capture_pane", json!({"target": pane}))],
    );
    script.step(
        "If it still runs, once more, with more time.",
        [call("interrupt", json!({"target": pane, "timeout": 15}))],
    );
    script.step(
        "If that does not help, and only if a person agrees:",
        [call("send_signal", json!({"target": pane, "signal": "TERM"}))],
    );
    script.say(
        "Then report whether the shell is at its prompt, and what the program printed last. Do not kill the \
         pane to stop a program.",
    );
}
