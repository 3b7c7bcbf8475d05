//! Members of a process group, and the lists of `/proc` from which they are found.

use std::fs;

use super::super::MAX_PROCESSES;
use super::super::procfs::Stat;

/// The leader of a pane's foreground process group, unless it has exited.
pub(super) fn leader(pane: &Stat, group: u32) -> Option<Stat> {
    let leader = if group == pane.pid { Some(pane.clone()) } else { Stat::of(group) };
    leader.filter(|leader| leader.group == group && leader.is_alive())
}

/// The live members of a process group of this pane's terminal, without the leader.
pub(super) fn members(pane: &Stat, group: u32) -> Vec<Stat> {
    let belongs = |stat: &Stat| stat.group == group && stat.pid != group && stat.is_alive();
    // The descendants are far fewer than all processes. All processes are needed only if a member's
    // parents have exited, or if the kernel keeps no lists of children.
    match descendants(pane) {
        Some(found) if found.iter().any(|stat| stat.group == group) => {
            found.into_iter().filter(belongs).collect()
        }
        Some(_) if leader(pane, group).is_some() => Vec::new(),
        _ => all_pids().filter_map(Stat::of).filter(belongs).collect(),
    }
}

/// All descendants in the pane's session. A process that leaves the session can never return to its
/// terminal.
fn descendants(pane: &Stat) -> Option<Vec<Stat>> {
    let mut found: Vec<Stat> = Vec::new();
    let mut next = Some((pane.pid, pane.threads));
    let mut visited = 0;
    while let Some((pid, threads)) = next {
        let children = children(pid, threads);
        if visited == 0 && children.is_none() {
            return None;
        }
        let children = children.unwrap_or_default().into_iter().filter_map(Stat::of);
        found.extend(children.filter(|child| child.session == pane.session));
        next = found
            .get(visited)
            .filter(|_| visited < MAX_PROCESSES)
            .map(|stat| (stat.pid, stat.threads));
        visited += 1;
    }
    Some(found)
}

/// The children of a process, collected from its threads, each of which has its own list.
pub(super) fn children(pid: u32, threads: u32) -> Option<Vec<u32>> {
    let threads = if threads == 1 { vec![pid] } else { threads_of(pid) };
    let mut found = Vec::new();
    for thread in threads {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok()?;
        found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(found)
}

pub(super) fn threads_of(pid: u32) -> Vec<u32> {
    numbers_in(&format!("/proc/{pid}/task")).collect()
}

pub(super) fn all_pids() -> impl Iterator<Item = u32> {
    numbers_in("/proc")
}

fn numbers_in(dir: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
