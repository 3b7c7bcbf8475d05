//! The tools, one file each, in one folder per group. A tool imports neither another tool nor the policy
//! nor MCP.

mod buffer;
mod calls;
mod channel;
mod client;
mod command;
#[cfg(feature = "raw-input")]
mod input;
mod object;
mod option;
mod pane;
mod prompt;
mod screen;
mod server;
mod session;
mod watch;
mod window;

use crate::context::ToolEntry;

/// The groups, in the order of the documentation.
const GROUPS: &[&[ToolEntry]] = &[
    command::TOOLS,
    watch::TOOLS,
    session::TOOLS,
    window::TOOLS,
    pane::TOOLS,
    object::TOOLS,
    screen::TOOLS,
    #[cfg(feature = "raw-input")]
    input::TOOLS,
    buffer::TOOLS,
    channel::TOOLS,
    client::TOOLS,
    option::TOOLS,
    server::TOOLS,
    calls::TOOLS,
    prompt::TOOLS,
];

/// The tools behind each cargo feature, and whether the feature is on.
const OPTIONAL: &[(bool, &[&str])] = &[
    (cfg!(feature = "raw-input"), &["send_keys", "paste_text", "paste_buffer"]),
    (cfg!(feature = "files"), &["save_buffer", "pipe_pane"]),
    (cfg!(feature = "picture"), &["screenshot_pane"]),
];

/// Names of the tools that this build leaves out; a policy can still name them.
pub fn left_out() -> impl Iterator<Item = &'static str> {
    OPTIONAL.iter().filter(|(built, _)| !built).flat_map(|(_, names)| *names).copied()
}

/// Every tool of this build.
pub fn all() -> Vec<ToolEntry> {
    GROUPS.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make test` also runs this in a build without the features.
    #[test]
    fn optional_tools_exist_only_with_their_feature() {
        let names: Vec<&str> = all().iter().map(|entry| entry.meta.name).collect();
        for (built, optional) in OPTIONAL {
            for name in *optional {
                assert_eq!(names.contains(name), *built, "{name}");
            }
        }
        // `path` of `socket_for_path` names a directory; no file is opened.
        for entry in all().iter().filter(|entry| entry.meta.name != "socket_for_path") {
            let schema = serde_json::to_string(&(entry.input_schema)()).unwrap();
            let has_path = schema.contains("\"path\"");
            assert!(!has_path || cfg!(feature = "files"), "{}", entry.meta.name);
        }
        assert!(names.contains(&"run_command"));
    }
}
