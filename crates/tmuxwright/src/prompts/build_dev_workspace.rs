//! `build_dev_workspace`: a session for a person to work in.

use serde_json::json;

use super::{Argument, Given, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "build_dev_workspace",
    title: "Build a workspace",
    description: "Make a session with panes to edit, to run things, and to follow a log.",
    arguments: &[
        Argument {
            name: "session",
            description: "The name of the new session.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "log_command",
            description: "What follows a log, such as `tail -f app.log`; no pane for it if not given.",
            kind: CompletionKind::Text,
            presence: Presence::Optional,
        },
    ],
    needs: &["create_session", "split_pane", "run_command"],
    write,
};

fn write(script: &mut Script<'_>, given: &Given) {
    let session = given.value("session");
    script.say("Build a workspace in tmux for a person to attach to:");
    let first = script.step(
        "Make the session; its pane is for editing. If the name is taken, stop and ask for another.",
        [call("create_session", json!({"name": session, "window_name": "work"}))],
    );
    let runs = script.step(
        "Beside it, a shell to run things in.",
        [call(
            "split_pane",
            json!({"target": first.field("pane_id"), "direction": "right", "size": "50%"}),
        )],
    );
    if given.has("log_command") {
        let log = script.step(
            "Below that, a shell for the log.",
            [call(
                "split_pane",
                json!({"target": runs.field("pane_id"), "direction": "below", "size": "40%"}),
            )],
        );
        let (command, pane) = (given.value("log_command"), log.field("pane_id"));
        let until = ["change", "exit"];
        script.step(
            "Follow the log there. If that ends at once, say what it printed.",
            [
                call(
                    "start_and_watch",
                    json!({"command": command, "target": pane, "until": until, "timeout": 10}),
                ),
                call("run_command", json!({"command": command, "target": pane, "timeout": 3})),
            ],
        );
    }
    script.step("See that all of it is there.", [call("list_panes", json!({"target": session}))]);
    script.say(
        "Then report the pane ids with what each is for, and `tmux attach -t` with the session's name.",
    );
}
