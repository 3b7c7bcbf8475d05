//! The prompt `build_dev_workspace`: a session for a person to work in.

use serde_json::json;

use super::{Argument, ArgumentValues, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "build_dev_workspace",
    title: "Build a workspace",
    description: "Create a session with panes for editing, for running commands and for a log.",
    arguments: &[
        Argument {
            name: "session",
            description: "Name of the new session.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "log_command",
            description: "Command that follows a log, such as `tail -f app.log`; without it there is no log pane.",
            kind: CompletionKind::Text,
            presence: Presence::Optional,
        },
    ],
    needs: &["create_session", "split_pane", "run_command"],
    write,
};

fn write(script: &mut Script<'_>, values: &ArgumentValues) {
    let session = values.value("session");
    script.say("Build a tmux workspace that a person can attach to:");
    let first = script.step(
        "Create the session; its pane is for editing. If the name is taken, stop and ask for another.",
        [call("create_session", json!({"name": session, "window_name": "work"}))],
    );
    let runs = script.step(
        "Add a shell to its right, for running commands.",
        [call(
            "split_pane",
            json!({"target": first.field("pane_id"), "direction": "right", "size": "50%"}),
        )],
    );
    if values.has("log_command") {
        let log = script.step(
            "Add a shell below that one, for the log.",
            [call(
                "split_pane",
                json!({"target": runs.field("pane_id"), "direction": "below", "size": "40%"}),
            )],
        );
        let (command, pane) = (values.value("log_command"), log.field("pane_id"));
        let until = ["change", "exit"];
        script.step(
            "Follow the log there. If the command exits at once, report its output.",
            [
                call(
                    "start_and_watch",
                    json!({"command": command, "target": pane, "until": until, "timeout": 10}),
                ),
                call("run_command", json!({"command": command, "target": pane, "timeout": 3})),
            ],
        );
    }
    script.step("Check that all panes exist.", [call("list_panes", json!({"target": session}))]);
    script.say(
        "Then report each pane's id and purpose, and the command to attach: `tmux attach -t` with the session's \
         name.",
    );
}
