//! The prompt `run_and_wait`: run one command to its end.

use serde_json::json;

use super::{Argument, ArgumentValues, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "run_and_wait",
    title: "Run a command and wait",
    description: "Run a command in a terminal, wait until it exits, and report the result.",
    arguments: &[
        Argument {
            name: "command",
            description: "Shell command.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "pane",
            description: "Pane whose shell is at its prompt; by default a pane of the agent's own.",
            kind: CompletionKind::Pane,
            presence: Presence::Optional,
        },
        Argument {
            name: "timeout",
            description: "Seconds for which the first call waits.",
            kind: CompletionKind::Seconds,
            presence: Presence::Default("60"),
        },
    ],
    needs: &["run_command"],
    write,
};

fn write(script: &mut Script<'_>, values: &ArgumentValues) {
    script.say("Run a command in a terminal to its end:");
    let run = json!({
        "command": values.value("command"),
        "target": values.value("pane"),
        "timeout": values.value("timeout"),
    });
    let run = script.step("Run it, once.", [call("run_command", run)]);
    let (id, pane) = (run.field("command_id"), run.field("pane_id"));
    script.step(
        "If it is still running, do not start it again: repeat this call until it has exited.",
        [call("command_result", json!({"command_id": id, "wait": 45}))],
    );
    script.step(
        "If there is much output, search it.",
        [call(
            "command_result",
            json!({"command_id": id, "grep": "(?i)error|warn|fail", "context": 2}),
        )],
    );
    script.step(
        "Only if it hangs, stop it.",
        [
            call("interrupt", json!({"target": pane})),
            call("send_keys", json!({"target": pane, "keys": ["C-c"], "until": ["prompt"]})),
        ],
    );
    script.say("Then report the exit code and, if it is not 0, the lines that explain it.");
}
