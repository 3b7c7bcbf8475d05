//! The line `/proc/PID/stat`. Pure.

/// `PF_FORKNOEXEC` of the kernel: the process has not executed a program since it was forked.
const NOT_EXECUTED: u32 = 0x40;

/// A few fields of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) pid: u32,
    pub(crate) state: u8,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// Device number of the controlling terminal, 0 without one.
    pub(crate) terminal: u64,
    /// Foreground process group of that terminal.
    pub(crate) foreground: Option<u32>,
    /// Whether the process has executed a program of its own. A forked one looks like its parent until then.
    pub(crate) has_executed: bool,
    pub(crate) threads: u32,
    /// Start time in hundredths of a second since the system booted.
    pub(crate) started: u64,
}

impl Stat {
    pub(crate) fn parse(pid: u32, text: &[u8]) -> Option<Self> {
        // The name in the second field may hold spaces and brackets.
        let name_end = text.iter().rposition(|&byte| byte == b')')?;
        let text = std::str::from_utf8(text.get(name_end + 1..)?).ok()?;
        let mut fields = text.split_ascii_whitespace();
        Some(Self {
            pid,
            state: fields.next()?.bytes().next()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            terminal: fields.next()?.parse().ok()?,
            // -1 without a terminal, 0 if the group is not in our namespace.
            foreground: fields.next()?.parse().ok().filter(|&group| group > 0),
            has_executed: fields.next()?.parse::<u32>().ok()? & NOT_EXECUTED == 0,
            threads: fields.nth(10)?.parse().ok()?,
            started: fields.nth(1)?.parse().ok()?,
        })
    }

    /// The name that the kernel keeps, in the second field of the line.
    pub(crate) fn name(text: &[u8]) -> Option<String> {
        let begin = text.iter().position(|&byte| byte == b'(')?;
        let end = text.iter().rposition(|&byte| byte == b')')?;
        Some(String::from_utf8_lossy(text.get(begin + 1..end)?).trim().to_owned())
    }

    /// Whether the process is neither a zombie nor dead.
    pub(crate) fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }

    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_with_brackets_is_skipped() {
        let line = b"77 (a) S (b) R 1 2 3 34816 5 64 7 8 9 10 11 12 13 14 15 16 3 18 4711 20 21\n";
        let stat = Stat::parse(77, line).unwrap();
        let expected = Stat {
            pid: 77,
            state: b'R',
            parent: 1,
            group: 2,
            session: 3,
            terminal: 34816,
            foreground: Some(5),
            has_executed: false,
            threads: 3,
            started: 4711,
        };
        assert_eq!(stat, expected);
        assert_eq!(Stat::name(line).as_deref(), Some("a) S (b"));
    }

    #[test]
    fn process_without_terminal_has_no_foreground() {
        let line = b"7 (x) S 1 7 7 0 -1 6 7 8 9 10 11 12 13 14 15 16 1 18 4711 20 21";
        let stat = Stat::parse(7, line).unwrap();
        assert_eq!((stat.foreground, stat.has_executed), (None, true));
        assert_eq!(Stat::parse(7, b"7 (x) S 1"), None);
        assert_eq!(Stat::parse(7, b""), None);
    }
}
