//! The tools, one file each, grouped by what they are about. A tool imports neither another tool
//! nor the policy nor MCP.

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

use crate::tool::Entry;

/// The groups, in the order of the documentation.
const GROUPS: &[&[Entry]] = &[
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

/// The tools that this build does without; a policy can still name them.
pub const LEFT_OUT: &[&str] = match (cfg!(feature = "raw-input"), cfg!(feature = "files")) {
    (true, true) => &[],
    (false, true) => &["send_keys", "paste_text", "paste_buffer"],
    (true, false) => &["save_buffer", "pipe_pane"],
    (false, false) => &["send_keys", "paste_text", "paste_buffer", "save_buffer", "pipe_pane"],
};

/// Every tool there is.
pub fn all() -> Vec<Entry> {
    GROUPS.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make test` runs it in a build without the features, too.
    #[test]
    fn what_is_left_out_does_not_exist() {
        let names: Vec<&str> = all().iter().map(|entry| entry.meta.name).collect();
        let typing =
            ["send_keys", "paste_text", "paste_buffer"].map(|it| (it, cfg!(feature = "raw-input")));
        let files = ["save_buffer", "pipe_pane"].map(|it| (it, cfg!(feature = "files")));
        for (name, exists) in typing.into_iter().chain(files) {
            assert_eq!(names.contains(&name), exists, "{name}");
            assert_eq!(LEFT_OUT.contains(&name), !exists, "{name}");
        }
        // What stands for a project's directory opens no file.
        for entry in all().iter().filter(|entry| entry.meta.name != "socket_for_path") {
            let schema = serde_json::to_string(&(entry.input_schema)()).unwrap();
            let has_path = schema.contains("\"path\"");
            assert!(!has_path || cfg!(feature = "files"), "{}", entry.meta.name);
        }
        assert!(names.contains(&"run_command"));
    }
}
