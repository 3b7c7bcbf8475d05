//! A record of the macOS process table (`struct kinfo_proc`), read from the kernel's bytes.
//!
//! `PROC_PIDTBSDINFO` of libproc has the same fields, but is refused for processes of other users:
//! a `sudo` in the foreground could not be inspected. The `libc` crate does not declare the
//! structure; `<sys/sysctl.h>` fixes its layout, which is the same on both 64-bit architectures.

use std::time::Duration;

/// Size of a record in bytes.
pub(super) const RECORD_SIZE: usize = 648;

/// `p_stat` of a zombie.
const SZOMB: u8 = 5;

/// `p_flag` of a process that is exiting: its exit is reported before it becomes a zombie.
const P_WEXIT: u32 = 0x2000;

/// `p_flag` of a process that has executed a program.
const P_EXEC: u32 = 0x4000;

/// Byte offsets in a record, with the name of the C field.
mod offset {
    /// `kp_proc.p_starttime.tv_sec`, 64 bits.
    pub(super) const START_SECONDS: usize = 0;
    /// `kp_proc.p_starttime.tv_usec`.
    pub(super) const START_MICROSECONDS: usize = 8;
    /// `kp_proc.p_flag`.
    pub(super) const FLAGS: usize = 32;
    /// `kp_proc.p_stat`, 8 bits.
    pub(super) const STATUS: usize = 36;
    /// `kp_proc.p_pid`.
    pub(super) const PID: usize = 40;
    /// `kp_proc.p_comm`, 17 bytes with the NUL at the end.
    pub(super) const COMMAND: usize = 243;
    /// `kp_eproc.e_ucred.cr_uid`.
    pub(super) const UID: usize = 420;
    /// `kp_eproc.e_ppid`.
    pub(super) const PARENT: usize = 560;
    /// `kp_eproc.e_pgid`.
    pub(super) const GROUP: usize = 564;
    /// `kp_eproc.e_tdev`.
    pub(super) const TERMINAL: usize = 572;
    /// `kp_eproc.e_tpgid`.
    pub(super) const FOREGROUND: usize = 576;
}

/// The fields of a record that this crate uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessRecord {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// Effective user.
    pub(super) uid: u32,
    /// Device number of the controlling terminal.
    pub(super) terminal: Option<u32>,
    /// Foreground process group of that terminal.
    pub(super) foreground: Option<u32>,
    /// File name of the program, cut to 16 bytes.
    pub(super) command: String,
    /// Start of the process, since the Unix epoch.
    pub(super) started: Duration,
    /// Whether the process is neither exiting nor a zombie.
    pub(super) is_alive: bool,
    /// Whether the process has executed a program of its own. A forked one looks like its parent until then.
    pub(super) has_executed: bool,
}

impl ProcessRecord {
    pub(super) fn parse(record: &[u8]) -> Option<Self> {
        let seconds = i64::from_ne_bytes(bytes(record, offset::START_SECONDS)?);
        let microseconds = number(record, offset::START_MICROSECONDS)?;
        let command: [u8; 17] = bytes(record, offset::COMMAND)?;
        let command = command.split(|&byte| byte == 0).next()?;
        let [status] = bytes(record, offset::STATUS)?;
        let flags = number(record, offset::FLAGS)?;
        Some(Self {
            pid: number(record, offset::PID)?,
            parent: number(record, offset::PARENT)?,
            group: number(record, offset::GROUP)?,
            uid: number(record, offset::UID)?,
            // NODEV is -1.
            terminal: number(record, offset::TERMINAL).filter(|&device| device != u32::MAX),
            // 0 without a terminal, negative without a group.
            foreground: number(record, offset::FOREGROUND)
                .filter(|&group| group > 0 && i32::try_from(group).is_ok()),
            command: String::from_utf8_lossy(command).into_owned(),
            started: Duration::from_secs(u64::try_from(seconds).ok()?)
                + Duration::from_micros(u64::from(microseconds)),
            is_alive: status != SZOMB && flags & P_WEXIT == 0,
            has_executed: flags & P_EXEC != 0,
        })
    }

    /// All records of a list.
    pub(super) fn parse_all(list: &[u8]) -> impl Iterator<Item = Self> {
        list.chunks_exact(RECORD_SIZE).filter_map(Self::parse)
    }
}

/// A 32-bit field.
fn number(record: &[u8], offset: usize) -> Option<u32> {
    bytes(record, offset).map(u32::from_ne_bytes)
}

fn bytes<const N: usize>(record: &[u8], offset: usize) -> Option<[u8; N]> {
    record.get(offset..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a `zsh` with pid 77 on `/dev/ttys003`.
    fn record() -> Vec<u8> {
        let mut record = vec![0; RECORD_SIZE];
        let mut put = |offset: usize, field: &[u8]| {
            record[offset..offset + field.len()].copy_from_slice(field);
        };
        put(offset::START_SECONDS, &1_700_000_000_i64.to_ne_bytes());
        put(offset::START_MICROSECONDS, &250_000_i32.to_ne_bytes());
        put(offset::FLAGS, &0x4006_u32.to_ne_bytes());
        put(offset::STATUS, &[2]);
        put(offset::PID, &77_i32.to_ne_bytes());
        put(offset::COMMAND, b"zsh");
        put(offset::UID, &501_u32.to_ne_bytes());
        put(offset::PARENT, &1_i32.to_ne_bytes());
        put(offset::GROUP, &77_i32.to_ne_bytes());
        put(offset::TERMINAL, &0x1000_0003_i32.to_ne_bytes());
        put(offset::FOREGROUND, &78_i32.to_ne_bytes());
        record
    }

    #[test]
    fn fields_are_read_at_their_offsets() {
        let expected = ProcessRecord {
            pid: 77,
            parent: 1,
            group: 77,
            uid: 501,
            terminal: Some(0x1000_0003),
            foreground: Some(78),
            command: "zsh".into(),
            started: Duration::from_micros(1_700_000_000_250_000),
            is_alive: true,
            has_executed: true,
        };
        assert_eq!(ProcessRecord::parse(&record()), Some(expected.clone()));
        let list = [record(), record()].concat();
        assert_eq!(
            ProcessRecord::parse_all(&list).collect::<Vec<_>>(),
            [expected.clone(), expected]
        );
    }

    #[test]
    fn process_without_terminal_has_no_foreground() {
        let mut record = record();
        record[offset::TERMINAL..][..4].copy_from_slice(&(-1_i32).to_ne_bytes());
        for group in [0_i32, -1, -100] {
            record[offset::FOREGROUND..][..4].copy_from_slice(&group.to_ne_bytes());
            let parsed = ProcessRecord::parse(&record).unwrap();
            assert_eq!((parsed.terminal, parsed.foreground), (None, None), "{group}");
        }
    }

    #[test]
    fn exiting_process_and_zombie_are_not_alive() {
        let mut exiting = record();
        exiting[offset::FLAGS..][..4].copy_from_slice(&(P_WEXIT | 1).to_ne_bytes());
        let mut zombie = record();
        zombie[offset::STATUS] = SZOMB;
        for record in [exiting, zombie] {
            assert!(!ProcessRecord::parse(&record).unwrap().is_alive);
        }
    }

    #[test]
    fn forked_process_has_not_executed() {
        let mut record = record();
        for (flags, has_executed) in [(P_EXEC | 6, true), (6, false)] {
            record[offset::FLAGS..][..4].copy_from_slice(&flags.to_ne_bytes());
            assert_eq!(ProcessRecord::parse(&record).unwrap().has_executed, has_executed);
        }
    }

    #[test]
    fn incomplete_records_are_refused() {
        assert_eq!(ProcessRecord::parse(b""), None);
        assert_eq!(ProcessRecord::parse(&record()[..offset::GROUP]), None);
        assert_eq!(ProcessRecord::parse_all(&record()[1..]).count(), 0);
    }
}
