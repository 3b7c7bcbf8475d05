//! Formats of `/proc` on Linux, and the judgement by them. Nothing is read here: the files may be those of
//! another system, and this one may be macOS.

mod epoll;
mod stat;
mod syscall;
mod wait;
mod wait_channel;

pub(crate) use epoll::epoll_input;
pub(crate) use stat::Stat;
#[cfg(target_os = "linux")]
pub(crate) use syscall::MAX_SET_BYTES;
pub(crate) use syscall::{FileSet, Machine, Syscall, poll_inputs};
pub(crate) use wait::TerminalWait;
pub(crate) use wait_channel::WaitChannel;
