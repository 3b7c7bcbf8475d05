//! The system call in which a thread waits (`/proc/PID/syscall`), and the files it waits for. Pure.

/// The system call of a thread, as far as it waits for files. Files are descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syscall {
    /// A read from this file.
    Read(u32),
    /// `select`: its files are a bit set.
    Select(FileSet),
    /// `poll`: its files are a list.
    Poll(FileSet),
    /// A wait on this epoll instance.
    Epoll(u32),
    /// A call whose arguments do not name the files.
    Unclear,
    /// The thread runs, or does not wait for a file.
    Other,
}

/// The files for which a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileSet {
    /// The number of files.
    pub(crate) count: u64,
    /// The address of the set in the memory of the process.
    pub(crate) address: u64,
    /// Whether the call returns after some time even without input.
    pub(crate) has_time_limit: bool,
}

/// The variant of [`Syscall`] to which a number belongs.
#[derive(Debug, Clone, Copy)]
enum SyscallKind {
    Read,
    Select,
    /// `poll`, whose time limit is a number of milliseconds.
    Poll,
    /// `ppoll`, whose time limit is an address.
    PollUntil,
    Epoll,
    Unclear,
}

/// A processor architecture whose system calls are known. Their numbers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Machine {
    /// 64-bit x86.
    X86,
    /// 64-bit ARM.
    Arm,
}

impl Machine {
    /// The machine for which this program is compiled.
    #[cfg(target_os = "linux")]
    pub(crate) const OWN: Option<Self> = if cfg!(target_arch = "x86_64") {
        Some(Self::X86)
    } else if cfg!(target_arch = "aarch64") {
        Some(Self::Arm)
    } else {
        None
    };

    /// The machine that `uname -m` names.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "x86_64" => Some(Self::X86),
            "aarch64" => Some(Self::Arm),
            _ => None,
        }
    }

    fn calls(self) -> &'static [(SyscallKind, &'static [u64])] {
        match self {
            Self::X86 => X86_CALLS,
            Self::Arm => ARM_CALLS,
        }
    }
}

/// read, readv, pread64, preadv, preadv2; select, pselect6; poll, ppoll; epoll_wait, epoll_pwait,
/// epoll_pwait2; io_uring_enter and restart_syscall, which can be anything.
const X86_CALLS: &[(SyscallKind, &[u64])] = &[
    (SyscallKind::Read, &[0, 19, 17, 295, 327]),
    (SyscallKind::Select, &[23, 270]),
    (SyscallKind::Poll, &[7]),
    (SyscallKind::PollUntil, &[271]),
    (SyscallKind::Epoll, &[232, 281, 441]),
    (SyscallKind::Unclear, &[426, 219]),
];

/// read, readv, pread64, preadv, preadv2; pselect6; ppoll; epoll_pwait, epoll_pwait2;
/// io_uring_enter and restart_syscall, which can be anything.
const ARM_CALLS: &[(SyscallKind, &[u64])] = &[
    (SyscallKind::Read, &[63, 65, 67, 69, 286]),
    (SyscallKind::Select, &[72]),
    (SyscallKind::PollUntil, &[73]),
    (SyscallKind::Epoll, &[22, 441]),
    (SyscallKind::Unclear, &[426, 128]),
];

/// Limit for the files of one call.
const MAX_WAITED_FILES: usize = 1024;

impl Syscall {
    /// Parses `NUMBER ARGUMENT… STACK CODE`, `-1 STACK CODE` outside of a call, or `running`. `None` also
    /// for a call of an unknown machine.
    pub(crate) fn parse(text: &str, machine: Option<Machine>) -> Option<Self> {
        let text = text.trim_end();
        if text == "running" || text.starts_with("-1 ") {
            return Some(Self::Other);
        }
        let mut fields = text.split_ascii_whitespace();
        let number: u64 = fields.next()?.parse().ok()?;
        let mut hex = fields.map(|field| u64::from_str_radix(field.strip_prefix("0x")?, 16).ok());
        let [first, second, third] = [hex.next()??, hex.next()??, hex.next()??];
        let fifth = hex.nth(1)??;
        // A 32-bit program has other numbers; its stack is in low memory.
        let stack = hex.nth(1)??;
        if u32::try_from(stack).is_ok() {
            return None;
        }
        let kind = machine?
            .calls()
            .iter()
            .find(|(_, numbers)| numbers.contains(&number))
            .map(|&(kind, _)| kind);
        // The upper half of a 32-bit argument is undefined.
        let low = |argument: u64| argument & u64::from(u32::MAX);
        let file = u32::try_from(low(first)).ok()?;
        let polled =
            |has_time_limit| FileSet { count: low(second), address: first, has_time_limit };
        Some(match kind {
            Some(SyscallKind::Read) => Self::Read(file),
            Some(SyscallKind::Select) => Self::Select(FileSet {
                count: low(first),
                address: second,
                has_time_limit: fifth != 0,
            }),
            // A negative number of milliseconds is no limit.
            Some(SyscallKind::Poll) => Self::Poll(polled(low(third) <= i32::MAX as u64)),
            Some(SyscallKind::PollUntil) => Self::Poll(polled(third != 0)),
            Some(SyscallKind::Epoll) => Self::Epoll(file),
            Some(SyscallKind::Unclear) => Self::Unclear,
            None => Self::Other,
        })
    }
}

impl FileSet {
    /// Bytes of the set of a `select`. `None` if it is unusually large.
    pub(crate) fn select_size(self) -> Option<usize> {
        let count = usize::try_from(self.count).ok().filter(|&count| count <= MAX_WAITED_FILES)?;
        // The kernel reads whole words.
        Some(count.div_ceil(64) * 8)
    }

    /// Bytes of the list of a `poll`. `None` if it is unusually large.
    pub(crate) fn poll_size(self) -> Option<usize> {
        let count = usize::try_from(self.count).ok().filter(|&count| count <= MAX_WAITED_FILES)?;
        Some(count * POLL_ENTRY_SIZE)
    }

    /// The descriptors for whose input a `select` waits, from the bytes of its set.
    pub(crate) fn select_inputs(self, bits: &[u8]) -> Vec<u32> {
        let is_set =
            |&file: &usize| bits.get(file / 8).is_some_and(|byte| byte >> (file % 8) & 1 == 1);
        let count = usize::try_from(self.count).unwrap_or_default().min(bits.len() * 8);
        (0..count).filter(is_set).filter_map(|file| u32::try_from(file).ok()).collect()
    }
}

/// Size of an entry in the list of a `poll`.
const POLL_ENTRY_SIZE: usize = 8;

/// Limits for the bytes of a set of files.
#[cfg(target_os = "linux")]
pub(crate) const MAX_SET_BYTES: usize = MAX_WAITED_FILES * POLL_ENTRY_SIZE;

/// The descriptors for whose input a `poll` waits, from the bytes of its list.
pub(crate) fn poll_inputs(entries: &[u8]) -> Vec<u32> {
    const POLLIN_OR_RDNORM: u16 = 0x01 | 0x40;
    let file = |entry: &[u8]| {
        let file = i32::from_le_bytes(entry.get(..4)?.try_into().ok()?);
        let events = u16::from_le_bytes(entry.get(4..6)?.try_into().ok()?);
        u32::try_from(file).ok().filter(|_| events & POLLIN_OR_RDNORM != 0)
    };
    entries.chunks_exact(POLL_ENTRY_SIZE).filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn waiting_calls_are_recognized() {
        use super::{FileSet, Machine, Syscall};
        let parse = |text: &str| Syscall::parse(text, Some(Machine::X86));
        let set = |count, has_time_limit| FileSet { count, address: 0x7f00, has_time_limit };
        let tail = "0x7ffc00000000 0x7f0000000000\n";
        for (head, call) in [
            ("0 0x3 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Read(3))),
            ("0 0xffffffff00000003 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Read(3))),
            ("19 0x0 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Read(0))),
            ("270 0x1 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Select(set(1, false)))),
            ("23 0x5 0x7f00 0x0 0x0 0x7ffc 0x0", Some(Syscall::Select(set(5, true)))),
            ("7 0x7f00 0x2 0xffffffff 0x0 0x0 0x0", Some(Syscall::Poll(set(2, false)))),
            ("7 0x7f00 0x2 0x64 0x0 0x0 0x0", Some(Syscall::Poll(set(2, true)))),
            ("271 0x7f00 0x2 0x0 0x0 0x0 0x0", Some(Syscall::Poll(set(2, false)))),
            ("271 0x7f00 0x2 0x7ffc 0x0 0x0 0x0", Some(Syscall::Poll(set(2, true)))),
            ("232 0xd 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Epoll(13))),
            ("281 0xd 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Epoll(13))),
            ("219 0x7f00 0x2 0x0 0x0 0x0 0x0", Some(Syscall::Unclear)),
            ("1 0x3 0x7f00 0x0 0x0 0x0 0x0", Some(Syscall::Other)),
            ("230 0x0 0x0 0x0 0x0 0x0 0x0", Some(Syscall::Other)),
            ("nonsense", None),
            ("0", None),
        ] {
            assert_eq!(parse(&format!("{head} {tail}")), call, "{head}");
        }
        assert_eq!(parse("running\n"), Some(Syscall::Other));
        assert_eq!(parse("-1 0x7ffc00000000 0x7f0000000000\n"), Some(Syscall::Other));
        assert_eq!(parse(""), None);
        let of_32_bit_program = "3 0x0 0x0 0x0 0x0 0x0 0x0 0xffc00000 0xf7000000";
        assert_eq!(parse(of_32_bit_program), None);
        let read = format!("63 0x3 0x7f00 0x0 0x0 0x0 0x0 {tail}");
        assert_eq!(Syscall::parse(&read, Machine::named("aarch64")), Some(Syscall::Read(3)));
        assert_eq!(Syscall::parse(&read, Machine::named("riscv64")), None);
    }
}
