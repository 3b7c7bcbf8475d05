//! macOS and the other Unixes: `ps`, which needs no unsafe code and is asked only at start.

use std::process::Command;

pub(super) fn parent(pid: u32) -> Option<u32> {
    ps("ppid=", pid)?.parse().ok()
}

pub(super) fn started(pid: u32) -> Option<String> {
    // Only letters and digits: the text becomes part of a tmux option and of a token.
    let text = ps("lstart=", pid)?;
    Some(text.chars().filter(char::is_ascii_alphanumeric).collect())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn foreground_has_child(_: u32) -> Option<bool> {
    None
}

fn ps(column: &str, pid: u32) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "not tmux, and only where there is no /proc")]
    let output = Command::new("ps").args(["-o", column, "-p", &pid.to_string()]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
