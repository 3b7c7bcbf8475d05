//! Which system call a thread is held up in, and what it waits for there.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::stat::read_of;

/// What a thread does, as far as waiting for a file goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It reads from a file.
    Read(u32),
    /// It waits for several files: how many, and where in its memory they are listed.
    Select(u64, u64),
    /// The same, listed in another way.
    Poll(u64, u64),
    /// It waits for the files that are in a set.
    Epoll(u32),
    /// It waits for something, but the call does not say for what.
    Unclear,
    /// It runs, or waits for anything but a file.
    Other,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Read,
    Select,
    Poll,
    Epoll,
    Unclear,
}

/// read, readv, pread64, preadv, preadv2; select, pselect6; poll, ppoll; epoll_wait, epoll_pwait,
/// epoll_pwait2; io_uring_enter and restart_syscall, which can be anything.
#[cfg(target_arch = "x86_64")]
const CALLS: &[(Kind, &[u64])] = &[
    (Kind::Read, &[0, 19, 17, 295, 327]),
    (Kind::Select, &[23, 270]),
    (Kind::Poll, &[7, 271]),
    (Kind::Epoll, &[232, 281, 441]),
    (Kind::Unclear, &[426, 219]),
];

/// read, readv, pread64, preadv, preadv2; pselect6; ppoll; epoll_pwait, epoll_pwait2;
/// io_uring_enter and restart_syscall, which can be anything.
#[cfg(target_arch = "aarch64")]
const CALLS: &[(Kind, &[u64])] = &[
    (Kind::Read, &[63, 65, 67, 69, 286]),
    (Kind::Select, &[72]),
    (Kind::Poll, &[73]),
    (Kind::Epoll, &[22, 441]),
    (Kind::Unclear, &[426, 128]),
];

/// Numbers of other machines are not known.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CALLS: &[(Kind, &[u64])] = &[];

/// As many files of one call are looked at.
const MOST_FILES: usize = 1024;

impl Call {
    /// `None` where the system does not say: by default on Ubuntu, unless we are root.
    pub(super) fn of(pid: u32, thread: u32) -> Option<Self> {
        let mut buffer = [0; 256];
        let text = read_of(pid, thread, "syscall", &mut buffer).ok()?;
        Self::parse(std::str::from_utf8(text).ok()?)
    }

    /// `NUMBER ARGUMENT… STACK CODE`, `-1 STACK CODE` outside of a call, or `running`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim_end();
        if text == "running" || text.starts_with("-1 ") {
            return Some(Self::Other);
        }
        let mut fields = text.split_ascii_whitespace();
        let number: u64 = fields.next()?.parse().ok()?;
        let mut hex = fields.map(|field| u64::from_str_radix(field.strip_prefix("0x")?, 16).ok());
        let [first, second] = [hex.next()??, hex.next()??];
        // A 32-bit program, whose stack is in low memory, has other numbers.
        let stack = hex.nth(4)??;
        if CALLS.is_empty() || u32::try_from(stack).is_ok() {
            return None;
        }
        let kind =
            CALLS.iter().find(|(_, numbers)| numbers.contains(&number)).map(|&(kind, _)| kind);
        // Arguments may have rubbish in their upper half.
        let file = u32::try_from(first & u64::from(u32::MAX)).ok()?;
        Some(match kind {
            Some(Kind::Read) => Self::Read(file),
            Some(Kind::Select) => Self::Select(u64::from(file), second),
            Some(Kind::Poll) => Self::Poll(second & u64::from(u32::MAX), first),
            Some(Kind::Epoll) => Self::Epoll(file),
            Some(Kind::Unclear) => Self::Unclear,
            None => Self::Other,
        })
    }
}

/// The files that a `select` waits to read from. `None` if its memory cannot be read.
pub(super) fn selected(pid: u32, count: u64, address: u64) -> Option<Vec<u32>> {
    if address == 0 {
        return Some(Vec::new());
    }
    let count = usize::try_from(count).ok().filter(|&count| count <= MOST_FILES)?;
    let mut buffer = [0; MOST_FILES / 8];
    // Whole words, as the kernel takes them.
    let bits = memory(pid, address, buffer.get_mut(..count.div_ceil(64) * 8)?)?;
    let is_set = |&file: &usize| bits.get(file / 8).is_some_and(|byte| byte >> (file % 8) & 1 == 1);
    Some((0..count).filter(is_set).filter_map(|file| u32::try_from(file).ok()).collect())
}

/// The files that a `poll` waits to read from. `None` if its memory cannot be read.
pub(super) fn polled(pid: u32, count: u64, address: u64) -> Option<Vec<u32>> {
    const ENTRY: usize = 8;
    const IN: u16 = 0x01 | 0x40;
    let count = usize::try_from(count).ok().filter(|&count| count <= MOST_FILES)?;
    let mut buffer = [0; MOST_FILES * ENTRY];
    let entries = memory(pid, address, buffer.get_mut(..count * ENTRY)?)?;
    let file = |entry: &[u8]| {
        let file = i32::from_ne_bytes(entry.get(..4)?.try_into().ok()?);
        let events = u16::from_ne_bytes(entry.get(4..6)?.try_into().ok()?);
        u32::try_from(file).ok().filter(|_| events & IN != 0)
    };
    Some(entries.chunks_exact(ENTRY).filter_map(file).collect())
}

fn memory(pid: u32, address: u64, buffer: &mut [u8]) -> Option<&[u8]> {
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(buffer, address).ok()?;
    Some(buffer)
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_are_recognized() {
        use super::Call;
        let tail = "0x0 0x0 0x0 0x0 0x7ffc00000000 0x7f0000000000\n";
        for (head, call) in [
            ("0 0x3 0x7f00", Some(Call::Read(3))),
            ("0 0xffffffff00000003 0x7f00", Some(Call::Read(3))),
            ("19 0x0 0x7f00", Some(Call::Read(0))),
            ("270 0x1 0x7f00", Some(Call::Select(1, 0x7f00))),
            ("23 0x5 0x0", Some(Call::Select(5, 0))),
            ("7 0x7f00 0x2", Some(Call::Poll(2, 0x7f00))),
            ("271 0x7f00 0x2", Some(Call::Poll(2, 0x7f00))),
            ("232 0xd 0x7f00", Some(Call::Epoll(13))),
            ("281 0xd 0x7f00", Some(Call::Epoll(13))),
            ("219 0x7f00 0x2", Some(Call::Unclear)),
            ("1 0x3 0x7f00", Some(Call::Other)),
            ("230 0x0 0x0", Some(Call::Other)),
            ("nonsense", None),
            ("0", None),
        ] {
            assert_eq!(Call::parse(&format!("{head} {tail}")), call, "{head}");
        }
        assert_eq!(Call::parse("running\n"), Some(Call::Other));
        assert_eq!(Call::parse("-1 0x7ffc00000000 0x7f0000000000\n"), Some(Call::Other));
        assert_eq!(Call::parse(""), None);
        let of_32_bits = "3 0x0 0x0 0x0 0x0 0x0 0x0 0xffc00000 0xf7000000";
        assert_eq!(Call::parse(of_32_bits), None);
    }
}
