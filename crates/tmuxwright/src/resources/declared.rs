//! The declarations of all resources. Lists, templates, reading, subscriptions and docs/resources.md
//! are made from them.

use super::ArgumentSource::{Number, Text, True};
use super::{Body, Resource, ResourceCall, Source};

const SESSION: (&str, super::ArgumentSource) = ("target", Text("session"));
const WINDOW: (&str, super::ArgumentSource) = ("target", Text("window"));
const PANE: (&str, super::ArgumentSource) = ("target", Text("pane"));

/// All resources, in the order of lists.
pub const RESOURCES: &[Resource] = &[
    Resource {
        template: "tmux://server",
        name: "server",
        title: "tmux server",
        description: "The tmux server: version, socket, pid, number of sessions",
        calls: &[ResourceCall { tool: "server_info", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Server,
    },
    Resource {
        template: "tmux://sessions",
        name: "sessions",
        title: "Sessions",
        description: "All sessions: id, name, windows, people attached, own",
        calls: &[ResourceCall { tool: "list_sessions", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Sessions,
    },
    Resource {
        template: "tmux://clients",
        name: "clients",
        title: "Clients",
        description: "The terminals attached to tmux: name, tty, session, size",
        calls: &[ResourceCall { tool: "list_clients", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Clients,
    },
    Resource {
        template: "tmux://sessions/{session}",
        name: "session",
        title: "Session",
        description: "A session with its windows; by exact name or id ($0)",
        calls: &[
            ResourceCall { tool: "get_info", arguments: &[SESSION] },
            ResourceCall { tool: "list_windows", arguments: &[SESSION] },
        ],
        body: Body::Session,
        source: |found| Source::Session(found.value("session")),
    },
    Resource {
        template: "tmux://sessions/{session}/tree",
        name: "session_tree",
        title: "Session tree",
        description: "A session with its windows and their panes",
        calls: &[
            ResourceCall { tool: "get_info", arguments: &[SESSION] },
            ResourceCall { tool: "list_windows", arguments: &[SESSION] },
            ResourceCall { tool: "list_panes", arguments: &[SESSION] },
        ],
        body: Body::Tree,
        source: |found| Source::Session(found.value("session")),
    },
    Resource {
        template: "tmux://windows/{window}",
        name: "window",
        title: "Window",
        description: "A window with its panes; by id (@1), or as dev:2 or dev:logs",
        calls: &[
            ResourceCall { tool: "get_info", arguments: &[WINDOW] },
            ResourceCall { tool: "list_panes", arguments: &[WINDOW] },
        ],
        body: Body::Window,
        source: |found| Source::Window(found.value("window")),
    },
    Resource {
        template: "tmux://panes/{pane}",
        name: "pane",
        title: "Pane",
        description: "A pane with its program and whether that waits for input; by id (%3)",
        calls: &[
            ResourceCall { tool: "get_info", arguments: &[PANE] },
            ResourceCall { tool: "pane_state", arguments: &[PANE] },
        ],
        body: Body::Pane,
        source: |found| Source::Pane(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/content",
        name: "pane_content",
        title: "Pane content",
        description: "The visible screen of a pane, also after its program has exited",
        calls: &[ResourceCall { tool: "capture_pane", arguments: &[PANE] }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/tail/{lines}",
        name: "pane_tail",
        title: "Pane tail",
        description: "The last lines of a pane, scrollback included",
        calls: &[ResourceCall {
            tool: "capture_pane",
            arguments: &[PANE, ("lines", Number("lines"))],
        }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/tail/{lines}/ansi",
        name: "pane_tail_ansi",
        title: "Pane tail with colours",
        description: "The last lines of a pane with colours as escape sequences",
        calls: &[ResourceCall {
            tool: "capture_pane",
            arguments: &[PANE, ("lines", Number("lines")), ("colors", True)],
        }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://commands/{command}",
        name: "command",
        title: "Command",
        description: "A command's state, exit code and output; by the id from run_command (c7)",
        calls: &[ResourceCall {
            tool: "command_result",
            arguments: &[("command_id", Text("command"))],
        }],
        body: Body::Answer,
        source: |found| Source::Command(found.value("command")),
    },
];
