//! `run_and_wait`: one command, to its end.

use serde_json::json;

use super::{Argument, Given, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "run_and_wait",
    title: "Run a command and wait",
    description: "Run a command in a terminal, wait for its end, and say how it went.",
    arguments: &[
        Argument {
            name: "command",
            description: "The shell command.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "pane",
            description: "A pane whose shell is at its prompt; one of the agent's own if not given.",
            kind: CompletionKind::Pane,
            presence: Presence::Optional,
        },
        Argument {
            name: "timeout",
            description: "Seconds to wait before looking again.",
            kind: CompletionKind::Seconds,
            presence: Presence::Default("60"),
        },
    ],
    needs: &["run_command"],
    write,
};

fn write(script: &mut Script<'_>, given: &Given) {
    script.say("Run a command in a terminal to its end:");
    let run = json!({
        "command": given.value("command"),
        "target": given.value("pane"),
        "timeout": given.value("timeout"),
    });
    let run = script.step("Run it, once.", [call("run_command", run)]);
    let (id, pane) = (run.field("command_id"), run.field("pane_id"));
    script.step(
        "If it is still running, do not start it again: wait for it, as often as needed.",
        [call("command_result", json!({"command_id": id, "wait": 45}))],
    );
    script.step(
        "If there is much output, look for what matters in it.",
        [call(
            "command_result",
            json!({"command_id": id, "grep": "(?i)error|warn|fail", "context": 2}),
        )],
    );
    script.step(
        "Only if it hangs: stop it.",
        [
            call("interrupt", json!({"target": pane})),
            call("send_keys", json!({"target": pane, "keys": ["C-c"]})),
        ],
    );
    script.say("Then report the exit code and, if it is not 0, the lines that say why.");
}
