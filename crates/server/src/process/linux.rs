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

pub(super) fn foreground_has_child(pid: u32) -> Option<bool> {
    let group = stat(pid)?.get(5)?.clone();
    let children = fs::read_to_string(format!("/proc/{group}/task/{group}/children")).ok()?;
    let in_group = |child: u32| stat(child).is_some_and(|stat| stat.get(2) == Some(&group));
    Some(children.split_whitespace().filter_map(|pid| pid.parse().ok()).any(in_group))
}

pub(super) fn started(pid: u32) -> Option<String> {
    stat(pid)?.get(19).cloned()
}
