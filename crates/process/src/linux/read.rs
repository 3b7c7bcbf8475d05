//! Reading small files of `/proc`, with the parsers of `procfs`.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use super::super::procfs::{
    FileSet, MAX_SET_BYTES, Machine, Stat, Syscall, WaitChannel, poll_inputs as poll_inputs_of,
};

impl Stat {
    pub(super) fn of(pid: u32) -> Option<Self> {
        Self::of_thread(pid, pid)
    }

    pub(super) fn of_thread(pid: u32, thread: u32) -> Option<Self> {
        Self::parse(thread, read_of(pid, thread, "stat", &mut [0; 2048]).ok()?)
    }
}

impl Syscall {
    /// `None` where the kernel hides the call, as Ubuntu does by default for all but root.
    pub(super) fn of(pid: u32, thread: u32) -> Option<Self> {
        let mut buffer = [0; 256];
        let text = read_of(pid, thread, "syscall", &mut buffer).ok()?;
        Self::parse(std::str::from_utf8(text).ok()?, Machine::OWN)
    }
}

impl WaitChannel {
    pub(super) fn of(pid: u32, thread: u32) -> Self {
        let mut buffer = [0; 128];
        let text = read_of(pid, thread, "wchan", &mut buffer);
        let name = text.ok().and_then(|text| std::str::from_utf8(text).ok());
        Self::judged(name, || Stat::of_thread(pid, thread))
    }
}

/// The descriptors for whose input a `select` waits. `None` if the memory cannot be read.
pub(super) fn select_inputs(pid: u32, files: FileSet) -> Option<Vec<u32>> {
    if files.address == 0 {
        return Some(Vec::new());
    }
    // One bit per file, where a list of `poll` has eight bytes.
    let mut buffer = [0; MAX_SET_BYTES / 64];
    let bits = read_memory(pid, files.address, buffer.get_mut(..files.select_size()?)?)?;
    Some(files.select_inputs(bits))
}

/// The descriptors for whose input a `poll` waits. `None` if the memory cannot be read.
pub(super) fn poll_inputs(pid: u32, files: FileSet) -> Option<Vec<u32>> {
    let mut buffer = [0; MAX_SET_BYTES];
    let entries = read_memory(pid, files.address, buffer.get_mut(..files.poll_size()?)?)?;
    Some(poll_inputs_of(entries))
}

fn read_memory(pid: u32, address: u64, buffer: &mut [u8]) -> Option<&[u8]> {
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(buffer, address).ok()?;
    Some(buffer)
}

/// Reads the beginning of a small file of a thread.
pub(super) fn read_of<'a>(
    pid: u32,
    thread: u32,
    name: &str,
    buffer: &'a mut [u8],
) -> io::Result<&'a [u8]> {
    // The first thread has the number of the process; this path is faster to open.
    if pid == thread {
        return read(&format!("/proc/{pid}/{name}"), buffer);
    }
    read(&format!("/proc/{pid}/task/{thread}/{name}"), buffer)
}

/// Reads with the fewest possible system calls.
fn read<'a>(path: &str, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let count = File::open(path)?.read(buffer)?;
    Ok(buffer.get(..count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exited_thread_has_no_wait_channel() {
        assert_eq!(WaitChannel::of(u32::MAX - 1, u32::MAX - 1), WaitChannel::Other);
    }
}
