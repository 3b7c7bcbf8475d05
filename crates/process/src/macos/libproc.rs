//! The C functions of macOS that have no safe binding: `sysctl`, libproc and `kevent`, each behind
//! a safe function. No other file of the crate holds unsafe code.
//!
//! The `libproc` crate is not used: its build script runs bindgen, which needs Apple's headers.

#![expect(unsafe_code, reason = "macOS describes other processes through C functions alone")]

use std::ffi::{OsString, c_char, c_int};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr::{from_mut, null_mut};
use std::time::Duration;

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::io::Errno;
use rustix::process::Pid;

// Declared in `<sys/proc_info.h>`, but not in the `libc` crate.
const PROC_ALL_PIDS: u32 = 1;
const PROC_PIDFDVNODEPATHINFO: c_int = 2;

/// `struct vnode_fdinfowithpath` of the same header.
#[repr(C)]
struct OpenFileInfo {
    /// `struct proc_fileinfo`: how the file was opened.
    open_flags: u32,
    status: u32,
    offset: i64,
    kind: i32,
    guard_flags: u32,
    vnode: libc::vnode_info_path,
}

const _: () = assert!(size_of::<OpenFileInfo>() == 1200, "the kernel asks for this size");

/// A file or directory that a process uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vnode {
    /// Empty if the kernel does not know it any more.
    pub(super) path: PathBuf,
    pub(super) inode: u64,
    pub(super) is_char_device: bool,
}

impl From<&libc::vnode_info_path> for Vnode {
    fn from(info: &libc::vnode_info_path) -> Self {
        let stat = &info.vip_vi.vi_stat;
        Self {
            path: path_from(
                info.vip_path.as_flattened().iter().map(|&byte: &c_char| byte.cast_unsigned()),
            ),
            inode: stat.vst_ino,
            is_char_device: stat.vst_mode & libc::S_IFMT == libc::S_IFCHR,
        }
    }
}

/// The directories of a process.
#[derive(Debug)]
pub(super) struct Directories {
    pub(super) current: Vnode,
    /// All zero unless the process has changed its root.
    pub(super) root: Vnode,
}

/// The value of a `sysctl` name, of at most `capacity` bytes. Memory that the kernel does not fill
/// is never touched, so a large capacity costs nothing.
pub(super) fn sysctl<const N: usize>(mut name: [c_int; N], capacity: usize) -> io::Result<Vec<u8>> {
    let mut value = vec![0_u8; capacity];
    let mut length = capacity;
    let name_length = u32::try_from(N).map_err(io::Error::other)?;
    // SAFETY: `name` has `N` elements and `value` has `length` bytes, both writable during the
    // call; without a new value nothing is read through the last pointer.
    let status = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            name_length,
            value.as_mut_ptr().cast(),
            &raw mut length,
            null_mut(),
            0,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    value.truncate(length);
    Ok(value)
}

/// The ids of all processes, zombies included.
pub(super) fn all_pids() -> Vec<u32> {
    const PID_SIZE: usize = size_of::<u32>();
    // SAFETY: without a buffer nothing is written; the answer is the size for all processes of now
    // and twenty more.
    let size = unsafe { libc::proc_listpids(PROC_ALL_PIDS, 0, null_mut(), 0) };
    let mut pids = vec![0_u32; usize::try_from(size).unwrap_or_default() / PID_SIZE];
    let Ok(capacity) = c_int::try_from(pids.len() * PID_SIZE) else { return Vec::new() };
    // SAFETY: `pids` has `capacity` bytes, writable during the call, and any bits are a `u32`.
    let filled =
        unsafe { libc::proc_listpids(PROC_ALL_PIDS, 0, pids.as_mut_ptr().cast(), capacity) };
    pids.truncate(usize::try_from(filled).unwrap_or_default() / PID_SIZE);
    pids
}

/// The executable of a process.
pub(super) fn executable(pid: u32) -> io::Result<PathBuf> {
    const CAPACITY: u32 = libc::PROC_PIDPATHINFO_MAXSIZE.cast_unsigned();
    let mut path = [0_u8; CAPACITY as usize];
    // SAFETY: `path` has `CAPACITY` bytes, writable during the call.
    let length = unsafe { libc::proc_pidpath(raw(pid)?, path.as_mut_ptr().cast(), CAPACITY) };
    if length <= 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(path_from(path.into_iter()))
}

/// The current directory and the root of a process. Refused for processes of other users.
pub(super) fn directories(pid: u32) -> io::Result<Directories> {
    // SAFETY: the structure holds integers and arrays of them, for which zero is a value.
    let mut info: libc::proc_vnodepathinfo = unsafe { zeroed() };
    let size = c_size::<libc::proc_vnodepathinfo>()?;
    // SAFETY: `info` has `size` bytes, writable during the call, and any bits are valid in it.
    let filled = unsafe {
        libc::proc_pidinfo(
            raw(pid)?,
            libc::PROC_PIDVNODEPATHINFO,
            0,
            from_mut(&mut info).cast(),
            size,
        )
    };
    if filled != size {
        return Err(io::Error::last_os_error());
    }
    Ok(Directories { current: (&info.pvi_cdir).into(), root: (&info.pvi_rdir).into() })
}

/// The file behind a descriptor of a process; `EBADF` if that is closed, or a pipe or a socket.
/// Refused for processes of other users.
pub(super) fn open_file(pid: u32, descriptor: c_int) -> io::Result<Vnode> {
    // SAFETY: the structure holds integers and arrays of them, for which zero is a value.
    let mut info: OpenFileInfo = unsafe { zeroed() };
    let size = c_size::<OpenFileInfo>()?;
    // SAFETY: `info` has `size` bytes, writable during the call, and any bits are valid in it.
    let filled = unsafe {
        libc::proc_pidfdinfo(
            raw(pid)?,
            descriptor,
            PROC_PIDFDVNODEPATHINFO,
            from_mut(&mut info).cast(),
            size,
        )
    };
    if filled != size {
        return Err(io::Error::last_os_error());
    }
    Ok((&info.vnode).into())
}

/// A kqueue that becomes readable when the process exits; `ESRCH` if it already has.
pub(super) fn exit_queue(pid: Pid) -> Result<OwnedFd, Errno> {
    let queue = kqueue()?;
    let filter = EventFilter::Proc { pid, flags: ProcessEvents::EXIT };
    let event = Event::new(filter, EventFlags::ADD | EventFlags::ONESHOT, null_mut());
    let mut no_events: [Event; 0] = [];
    // SAFETY: the event refers to a process, not to a file descriptor that could be closed.
    unsafe { kevent(&queue, &[event], &mut no_events, Some(Duration::ZERO))? };
    Ok(queue)
}

fn raw(pid: u32) -> io::Result<c_int> {
    c_int::try_from(pid).map_err(io::Error::other)
}

fn c_size<T>() -> io::Result<c_int> {
    c_int::try_from(size_of::<T>()).map_err(io::Error::other)
}

/// The path that ends before the first NUL byte.
fn path_from(bytes: impl Iterator<Item = u8>) -> PathBuf {
    OsString::from_vec(bytes.take_while(|&byte| byte != 0).collect()).into()
}
