//! Processes on macOS: the process table through `sysctl`, paths and open files through libproc.
//!
//! The parsers are pure, and also compiled for the tests on Linux.

mod arguments;
mod device;
mod kinfo;
#[cfg(target_os = "macos")]
mod libproc;
#[cfg(target_os = "macos")]
mod query;

#[cfg(target_os = "macos")]
pub(super) use query::{
    age, cwd, exe, exit_handle, foreground, foreground_group, foreground_has_child,
    has_unread_input, input_wait, is_alive, other_session_processes, parent, read_count,
    sees_our_files, started, stdin_is_terminal, terminal, uid,
};
