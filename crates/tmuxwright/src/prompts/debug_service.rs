//! The prompt `debug_service`: run a server and a client side by side.

use serde_json::json;

use super::{Argument, ArgumentValues, Presence, Prompt, Script, call};
use crate::completion::CompletionKind;

pub(super) const PROMPT: Prompt = Prompt {
    name: "debug_service",
    title: "Debug a service",
    description: "Run a server and a client in separate panes, watch the log, report and clean up.",
    arguments: &[
        Argument {
            name: "server_command",
            description: "Command that starts the server.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "client_command",
            description: "Command that makes a request, such as `curl -si localhost:8000`.",
            kind: CompletionKind::Text,
            presence: Presence::Required,
        },
        Argument {
            name: "cwd",
            description: "Directory in which both run.",
            kind: CompletionKind::Text,
            presence: Presence::Optional,
        },
    ],
    needs: &["start_and_watch", "run_command", "kill"],
    write,
};

/// Matches the line with which common servers announce that they are ready.
const READY: &str = "regex:(?i)listening|ready|started|serving|running (on|at)";

fn write(script: &mut Script<'_>, values: &ArgumentValues) {
    script.say("Debug how a server answers a client:");
    let start = json!({
        "command": values.value("server_command"),
        "cwd": values.value("cwd"),
        "until": [READY, "error", "exit", "idle:10"],
        "timeout": 45,
    });
    let server = script.step(
        "Start the server. If it exits or prints an error, report that and clean up.",
        [call("start_and_watch", start)],
    );
    let run = json!({
        "command": values.value("client_command"),
        "cwd": values.value("cwd"),
        "timeout": 30,
    });
    let client = script.step(
        "Run the client in another pane; the server keeps running.",
        [call("run_command", run)],
    );
    let (server_pane, client_pane) = (server.field("pane_id"), client.field("pane_id"));
    script.step(
        "Wait until the server's log is quiet; an error since it was ready counts too.",
        [call(
            "wait_for",
            json!({
                "since": server.field("cursor"),
                "until": ["error", "exit", "idle:2"],
                "timeout": 20,
            }),
        )],
    );
    script.step(
        "Read the log since the server was ready, and compare it with the client's output.",
        [
            call("capture_since", json!({"cursor": server.field("cursor")})),
            call("command_result", json!({"command_id": server.field("command_id"), "tail": 200})),
        ],
    );
    script.step(
        "Clean up in any case. Stop the server.",
        [call("interrupt", json!({"target": server_pane}))],
    );
    script.step("Remove the server's pane.", [call("kill", json!({"target": server_pane}))]);
    script.step("Remove the client's pane.", [call("kill", json!({"target": client_pane}))]);
    script.say(
        "Then report the client's output, the server's log, the fault and its location, with the lines that \
         prove it.",
    );
}
