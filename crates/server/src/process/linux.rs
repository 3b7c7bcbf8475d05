//! Linux: `/proc`.

use std::fs::{self, File};
use std::io::Read;

/// The fields of `/proc/PID/stat` behind the command name, which may itself hold spaces and
/// brackets.
struct Stat(String);

impl Stat {
    const PARENT: usize = 1;
    const GROUP: usize = 2;
    const FOREGROUND_GROUP: usize = 5;
    const STARTED: usize = 19;

    fn of(pid: u32) -> Option<Self> {
        let text = start_of(&format!("/proc/{pid}/stat"))?;
        let (_, fields) = text.rsplit_once(')')?;
        Some(Self(fields.to_owned()))
    }

    fn text(&self, field: usize) -> Option<&str> {
        self.0.split_ascii_whitespace().nth(field)
    }

    fn number(&self, field: usize) -> Option<u32> {
        self.text(field)?.parse().ok()
    }
}

/// The first kilobytes of a small file, in as few system calls as can be.
fn start_of(path: &str) -> Option<String> {
    let mut buffer = [0; 4096];
    let count = File::open(path).ok()?.read(&mut buffer).ok()?;
    Some(String::from_utf8_lossy(buffer.get(..count)?).into_owned())
}

pub(super) fn parent(pid: u32) -> Option<u32> {
    Stat::of(pid)?.number(Stat::PARENT)
}

pub(super) fn started(pid: u32) -> Option<String> {
    Stat::of(pid)?.text(Stat::STARTED).map(str::to_owned)
}

pub(super) fn foreground_has_child(pid: u32) -> Option<bool> {
    let group = Stat::of(pid)?.number(Stat::FOREGROUND_GROUP)?;
    let children = fs::read_to_string(format!("/proc/{group}/task/{group}/children")).ok()?;
    let in_group = |child: u32| Stat::of(child).and_then(|s| s.number(Stat::GROUP)) == Some(group);
    Some(children.split_whitespace().filter_map(|pid| pid.parse().ok()).any(in_group))
}
