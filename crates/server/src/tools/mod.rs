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
];

/// The tools that this build does without; a policy can still name them.
pub const LEFT_OUT: &[&str] =
    if cfg!(feature = "raw-input") { &[] } else { &["send_keys", "paste_text"] };

/// Every tool there is.
pub fn all() -> Vec<Entry> {
    GROUPS.concat()
}
