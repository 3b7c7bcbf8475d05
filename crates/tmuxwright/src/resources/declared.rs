//! The resources. One entry each; everything else follows.

use super::Given::{Number, Text, Yes};
use super::{Ask, Body, Resource, Source};

const SESSION: (&str, super::Given) = ("target", Text("session"));
const WINDOW: (&str, super::Given) = ("target", Text("window"));
const PANE: (&str, super::Given) = ("target", Text("pane"));

/// All resources. Lists have this order.
pub const RESOURCES: &[Resource] = &[
    Resource {
        template: "tmux://server",
        name: "server",
        title: "tmux server",
        description: "The tmux server: version, socket, pid, number of sessions",
        calls: &[Ask { tool: "server_info", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Server,
    },
    Resource {
        template: "tmux://sessions",
        name: "sessions",
        title: "Sessions",
        description: "Every session: id, name, windows, people attached, own",
        calls: &[Ask { tool: "list_sessions", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Sessions,
    },
    Resource {
        template: "tmux://clients",
        name: "clients",
        title: "Clients",
        description: "The terminals through which people look: name, tty, session, size",
        calls: &[Ask { tool: "list_clients", arguments: &[] }],
        body: Body::Answer,
        source: |_| Source::Clients,
    },
    Resource {
        template: "tmux://sessions/{session}",
        name: "session",
        title: "Session",
        description: "A session and its windows; by exact name or id ($0)",
        calls: &[
            Ask { tool: "get_info", arguments: &[SESSION] },
            Ask { tool: "list_windows", arguments: &[SESSION] },
        ],
        body: Body::Session,
        source: |found| Source::Session(found.value("session")),
    },
    Resource {
        template: "tmux://sessions/{session}/tree",
        name: "session_tree",
        title: "Session tree",
        description: "A session with its windows, and each window with its panes",
        calls: &[
            Ask { tool: "get_info", arguments: &[SESSION] },
            Ask { tool: "list_windows", arguments: &[SESSION] },
            Ask { tool: "list_panes", arguments: &[SESSION] },
        ],
        body: Body::Tree,
        source: |found| Source::Session(found.value("session")),
    },
    Resource {
        template: "tmux://windows/{window}",
        name: "window",
        title: "Window",
        description: "A window and its panes; by id (@1), or as dev:2 or dev:logs",
        calls: &[
            Ask { tool: "get_info", arguments: &[WINDOW] },
            Ask { tool: "list_panes", arguments: &[WINDOW] },
        ],
        body: Body::Window,
        source: |found| Source::Window(found.value("window")),
    },
    Resource {
        template: "tmux://panes/{pane}",
        name: "pane",
        title: "Pane",
        description: "Everything about a pane, what runs in it and what it waits for; by id (%3)",
        calls: &[
            Ask { tool: "get_info", arguments: &[PANE] },
            Ask { tool: "pane_state", arguments: &[PANE] },
        ],
        body: Body::Pane,
        source: |found| Source::Pane(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/content",
        name: "pane_content",
        title: "Pane content",
        description: "What a pane shows now, also after its program has exited",
        calls: &[Ask { tool: "capture_pane", arguments: &[PANE] }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/tail/{lines}",
        name: "pane_tail",
        title: "Pane tail",
        description: "The last lines of a pane, history included",
        calls: &[Ask { tool: "capture_pane", arguments: &[PANE, ("lines", Number("lines"))] }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://panes/{pane}/tail/{lines}/ansi",
        name: "pane_tail_ansi",
        title: "Pane tail with colours",
        description: "The last lines of a pane with their colours as escape sequences",
        calls: &[Ask {
            tool: "capture_pane",
            arguments: &[PANE, ("lines", Number("lines")), ("colors", Yes)],
        }],
        body: Body::Text,
        source: |found| Source::Output(found.value("pane")),
    },
    Resource {
        template: "tmux://commands/{command}",
        name: "command",
        title: "Command",
        description: "A command's state, exit code and output; by the id that run_command gave (c7)",
        calls: &[Ask { tool: "command_result", arguments: &[("command_id", Text("command"))] }],
        body: Body::Answer,
        source: |found| Source::Command(found.value("command")),
    },
];
