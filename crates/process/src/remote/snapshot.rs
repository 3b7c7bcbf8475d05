//! One reply about a pane, and what it says of its processes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use super::super::procfs::{Machine, Stat};
use super::super::terminal::TerminalMode;
use super::super::{Foreground, InputState, InputWait, ReadCount, nul_separated, program_name};
use super::input::{self, TerminalProbe};
use super::reply::Reply;
use super::{stat, ticks, total_read};

/// A description of the pane with a certain first process. Nothing is known in an empty one.
#[derive(Debug, Default)]
pub(in super::super) struct Snapshot {
    pid: u32,
    reply: Reply,
    /// In the order of the search: descendants level by level.
    stats: Vec<Stat>,
    wait: Option<input::Judgement>,
}

impl Snapshot {
    pub(super) fn new(pid: u32, reply: Option<Reply>) -> Self {
        let Some(reply) = reply else { return Self { pid, ..Self::default() } };
        let stats = reply.files().filter_map(|(path, text)| stat(path, text)).collect();
        let mut snapshot = Self { pid, reply, stats, wait: None };
        snapshot.wait = snapshot.judge();
        snapshot
    }

    fn judge(&self) -> Option<input::Judgement> {
        let (pane, group, mode) = (self.stat(self.pid)?, self.group()?, self.mode()?);
        let leader = self.leader(pane, group).into_iter();
        let processes = leader.chain(self.members(group));
        Some(TerminalProbe { snapshot: self, machine: self.machine() }.group(processes, mode))
    }

    /// Whether the process that reads was blocked while all else was inspected.
    pub(super) fn is_settled(&self) -> bool {
        self.wait.as_ref().is_none_or(|wait| wait.is_settled)
    }

    pub(super) fn settle(&mut self) {
        if let Some(wait) = &mut self.wait {
            wait.is_settled = true;
        }
    }

    /// Whether members of the foreground group may exist that are not descendants of the pane.
    pub(super) fn misses_members(&self) -> bool {
        let (Some(pane), Some(group)) = (self.stat(self.pid), self.group()) else { return false };
        let has_tree = self.children(self.pid).is_some();
        let is_known = self.leader(pane, group).is_some() || self.members(group).next().is_some();
        !has_tree || !is_known
    }

    /// The foreground process group.
    pub(super) fn group(&self) -> Option<u32> {
        self.stat(self.pid)?.foreground
    }

    fn machine(&self) -> Option<Machine> {
        Machine::named(self.reply.lines("own").next()?.get(1)?)
    }

    /// The mode of the pane's terminal, from the words of `stty -a`.
    pub(super) fn mode(&self) -> Option<TerminalMode> {
        let text = std::str::from_utf8(self.reply.text("mode")?).ok()?;
        let has = |wanted| text.split([' ', '\n', ';', '\t']).any(|word| word == wanted);
        if has("-icanon") {
            Some(TerminalMode::Raw)
        } else if !has("icanon") {
            None
        } else if has("echo") {
            Some(TerminalMode::Line)
        } else {
            has("-echo").then_some(TerminalMode::NoEcho)
        }
    }

    /// The processes that the reply describes.
    pub(super) fn stats(&self) -> &[Stat] {
        &self.stats
    }

    pub(super) fn stat(&self, pid: u32) -> Option<&Stat> {
        self.stats.iter().find(|stat| stat.pid == pid)
    }

    pub(super) fn file(&self, path: &str) -> Option<&[u8]> {
        self.reply.files().find(|(name, _)| *name == path).map(|(_, text)| text)
    }

    pub(super) fn file_text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.file(path)?).ok()
    }

    /// The rest of the lines that begin with a word and a pid.
    pub(super) fn lines(&self, word: &'static str, pid: u32) -> impl Iterator<Item = &[String]> {
        let pid = pid.to_string();
        self.reply.lines(word).filter_map(move |line| {
            let (first, rest) = line.split_first()?;
            (*first == pid).then_some(rest)
        })
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.reply.files().map(|(path, _)| path)
    }

    /// The memory that holds the files of a call of the first thread, if it is still in that call.
    pub(super) fn memory(&self, pid: u32, call: &str) -> Option<&[u8]> {
        let text = self.reply.text(&format!("memory {pid}"))?;
        let end = text.iter().position(|&byte| byte == b'\n')?;
        let (line, bytes) = text.split_at(end);
        (line == call.trim_end().as_bytes()).then(|| bytes.get(1..))?
    }

    fn children(&self, pid: u32) -> Option<Vec<u32>> {
        let kids = self.lines("kids", pid).next()?;
        Some(kids.iter().filter_map(|kid| kid.parse().ok()).collect())
    }

    /// The leader of the foreground process group, unless it has exited.
    fn leader<'a>(&'a self, pane: &'a Stat, group: u32) -> Option<&'a Stat> {
        let leader = if group == pane.pid { Some(pane) } else { self.stat(group) };
        leader.filter(|leader| leader.group == group && leader.is_alive())
    }

    /// The live members of a process group, without the leader.
    fn members(&self, group: u32) -> impl Iterator<Item = &Stat> {
        let belongs =
            move |stat: &&Stat| stat.group == group && stat.pid != group && stat.is_alive();
        self.stats.iter().filter(belongs)
    }

    pub(in super::super) fn foreground(&self) -> Option<Foreground> {
        let pane = self.stat(self.pid)?;
        let group = pane.foreground?;
        let program = self.leader(pane, group).or_else(|| self.members(group).next())?;
        (program.pid != self.pid || program.has_executed).then(|| self.described(program))
    }

    pub(in super::super) fn foreground_group(&self) -> Vec<Foreground> {
        let Some(pane) = self.stat(self.pid) else { return Vec::new() };
        let Some(group) = pane.foreground else { return Vec::new() };
        let processes = self.leader(pane, group).into_iter().chain(self.members(group));
        processes.map(|stat| self.described(stat)).collect()
    }

    fn described(&self, stat: &Stat) -> Foreground {
        let argv = self.argv(stat.pid);
        let name = self.name(stat.pid);
        let started = Some(stat.started.to_string());
        Foreground { pid: stat.pid, group: stat.group, name, argv, started }
    }

    fn argv(&self, pid: u32) -> Vec<String> {
        let text = self.file(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        nul_separated(text.get(..super::super::MAX_ARGV_BYTES).unwrap_or(text)).collect()
    }

    /// Name of a process's program.
    pub(super) fn name(&self, pid: u32) -> String {
        let line = self.file(&format!("/proc/{pid}/stat"));
        program_name(&self.argv(pid), || line.and_then(Stat::name))
    }

    pub(in super::super) fn input_wait(&self) -> InputWait {
        let settled = self.wait.as_ref().filter(|judgement| judgement.is_settled);
        let unknown = || InputWait::without_reader(InputState::Unknown);
        settled.map_or_else(unknown, |judgement| judgement.wait.clone())
    }

    pub(in super::super) fn hides_input(&self) -> bool {
        self.mode() == Some(TerminalMode::NoEcho)
    }

    pub(in super::super) fn edits_lines(&self) -> bool {
        matches!(self.mode(), Some(TerminalMode::Line | TerminalMode::NoEcho))
    }

    pub(in super::super) fn foreground_has_child(&self) -> Option<bool> {
        let group = self.group()?;
        self.stat(group)?;
        let children = self.children(group)?;
        Some(children.iter().filter_map(|&kid| self.stat(kid)).any(|kid| kid.group == group))
    }

    /// What the leader of the foreground group had read before its wait was inspected.
    pub(in super::super) fn read_count(&self, pid: u32) -> Option<ReadCount> {
        let threads = format!("/proc/{pid}/task/");
        let files = self.reply.files();
        total_read(files.filter(|(path, _)| path.starts_with(&threads) && path.ends_with("/io")))
    }

    /// Base name of the executable, if it is a shell.
    pub(in super::super) fn exe(&self, pid: u32) -> Option<String> {
        self.lines("exe", pid).next()?.first().cloned()
    }

    /// Whether the standard input of a process is a terminal of any kind.
    pub(in super::super) fn stdin_is_terminal(&self, pid: u32) -> Option<bool> {
        self.lines("open", pid).next()?;
        let kind = self.lines("fd", pid).find(|line| line.first().is_some_and(|fd| fd == "0"));
        match kind.and_then(|line| line.get(1)).map(String::as_str) {
            Some("terminal") => Some(true),
            Some("device") => {
                let Some(device) = self.lines("stdin", pid).next() else { return Some(false) };
                let major: u32 = device.first()?.parse().ok()?;
                Some((4..6).contains(&major) || (136..144).contains(&major))
            }
            _ => Some(false),
        }
    }

    pub(in super::super) fn age(&self) -> Option<Duration> {
        // The program that reads the files has just been started.
        let now = Stat::parse(0, self.file("/proc/self/stat")?)?.started;
        Some(ticks(now.saturating_sub(self.stat(self.pid)?.started)))
    }

    pub(in super::super) fn started(&self, pid: u32) -> Option<String> {
        Some(self.stat(pid).filter(|stat| stat.is_alive())?.started.to_string())
    }

    pub(in super::super) fn cwd(&self, pid: u32) -> Option<PathBuf> {
        let path = self.reply.text(&format!("cwd {pid}"))?;
        Some(PathBuf::from(OsString::from_vec(path.to_vec())))
    }

    pub(in super::super) fn uid(&self, pid: u32) -> Option<u32> {
        let status = self.file(&format!("/proc/{pid}/status"))?;
        let mut lines = status.split(|&byte| byte == b'\n');
        let ids = std::str::from_utf8(lines.find_map(|line| line.strip_prefix(b"Uid:"))?).ok()?;
        // Real, effective, saved and file system user.
        ids.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    pub(in super::super) fn own_uid(&self) -> Option<u32> {
        self.reply.lines("own").next()?.first()?.parse().ok()
    }

    pub(in super::super) fn sees_our_files(&self, pid: u32) -> Option<bool> {
        Some(self.lines("sees", pid).next()?.first()? == "y")
    }
}
