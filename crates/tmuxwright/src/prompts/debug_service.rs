//! `debug_service`: a server and a client side by side.

use serde_json::json;

use super::{Argument, Given, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "debug_service",
    title: "Debug a service",
    description: "Run a server and a client in panes of their own, watch the log, report, and clean up.",
    arguments: &[
        Argument {
            name: "server_command",
            description: "What starts the server.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "client_command",
            description: "What makes a request, such as `curl -si localhost:8000`.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "cwd",
            description: "The directory to run both in.",
            kind: CompletionKind::Text,
            presence: Presence::Optional,
        },
    ],
    needs: &["start_and_watch", "run_command", "kill"],
    write,
};

/// What servers say when they are ready.
const READY: &str = "regex:(?i)listening|ready|started|serving|running (on|at)";

fn write(script: &mut Script<'_>, given: &Given) {
    script.say("Find out how a server answers a client:");
    let start = json!({
        "command": given.value("server_command"),
        "cwd": given.value("cwd"),
        "until": [READY, "error", "exit", "idle:10"],
        "timeout": 45,
    });
    let server = script.step(
        "Start the server. If it exits or reports an error, report that and clean up.",
        [call("start_and_watch", start)],
    );
    let run = json!({
        "command": given.value("client_command"),
        "cwd": given.value("cwd"),
        "timeout": 30,
    });
    let client = script
        .step("Run the client in another pane; the server goes on.", [call("run_command", run)]);
    let (server_pane, client_pane) = (server.field("pane_id"), client.field("pane_id"));
    script.step(
        "Watch the server's log until it is quiet.",
        [call(
            "wait_for",
            json!({"target": server_pane, "until": ["error", "exit", "idle:2"], "timeout": 20}),
        )],
    );
    script.step(
        "Read what it has logged since it was ready, and compare it with what the client got.",
        [
            call("capture_since", json!({"cursor": server.field("cursor")})),
            call("command_result", json!({"command_id": server.field("command_id"), "tail": 200})),
        ],
    );
    script.step(
        "Clean up, whatever came before: stop the server,",
        [call("interrupt", json!({"target": server_pane}))],
    );
    script.step("and remove its pane", [call("kill", json!({"target": server_pane}))]);
    script.step("and the client's.", [call("kill", json!({"target": client_pane}))]);
    script.say(
        "Then report what the client got, what the server logged, what is wrong and where, with the lines \
         that show it.",
    );
}
