//! The prompt `interrupt_gracefully`: stop a program with C-c, and with a signal only as the last resort.

use serde_json::json;

use super::{Argument, ArgumentValues, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "interrupt_gracefully",
    title: "Interrupt a program",
    description: "Stop the program in a pane with C-c, and check that its shell is back.",
    arguments: &[Argument {
        name: "pane",
        description: "Pane in which the program runs.",
        kind: CompletionKind::Pane,
        presence: Presence::Required,
    }],
    needs: &["interrupt"],
    write,
};

fn write(script: &mut Script<'_>, values: &ArgumentValues) {
    let pane = values.value("pane");
    script.say("Stop the program in a pane gracefully:");
    script.step(
        "See which program runs. If a shell is at its prompt, there is nothing to stop: say so and end here.",
        [call("pane_state", json!({"target": pane}))],
    );
    script.step(
        "Press C-c and wait for the prompt.",
        [call("interrupt", json!({"target": pane, "timeout": 5}))],
    );
    script.step(
        "If the prompt is not back, check whether the program asks a question or is still cleaning up.",
        [call("capture_pane", json!({"target": pane}))],
    );
    script.step(
        "If it still runs, try again with more time.",
        [call("interrupt", json!({"target": pane, "timeout": 15}))],
    );
    script.step(
        "If it still runs, and only if a person agrees, send SIGTERM.",
        [call("send_signal", json!({"target": pane, "signal": "TERM"}))],
    );
    script.say(
        "Then report whether the shell is at its prompt, and the program's last output. Do not kill the pane \
         to stop a program.",
    );
}
