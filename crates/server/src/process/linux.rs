//! Linux: `/proc`.

use std::fs;

/// The fields of `/proc/PID/stat` behind the command name, which may itself hold spaces and
/// brackets.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

pub(super) fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

pub(super) fn started(pid: u32) -> Option<String> {
    stat(pid)?.get(19).cloned()
}
