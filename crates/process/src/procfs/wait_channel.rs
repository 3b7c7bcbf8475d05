//! The wait channel of a thread (`wchan`): the kernel function in which it sleeps.
//!
//! Where the kernel hides the system calls of other programs, this is all it shows of programs of
//! the same user.

use super::Stat;

/// The kind of wait that a wait channel stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitChannel {
    /// Where readers of a terminal sleep, but also readers of a socket and writers to a terminal.
    Read,
    /// In `select` or `poll`.
    Poll,
    /// In `epoll_wait`.
    Epoll,
    /// The kernel does not say.
    Hidden,
    /// The thread runs, or sleeps where no terminal is waited for.
    Other,
}

impl WaitChannel {
    /// The kind of a named channel, or by the state of a thread without one.
    pub(crate) fn judged(name: Option<&str>, thread: impl FnOnce() -> Option<Stat>) -> Self {
        match name.and_then(Self::named) {
            Some(channel) => channel,
            // A thread that runs or has exited has no wait channel; a sleeping thread's is hidden.
            None => match thread() {
                Some(stat) if stat.state == b'S' => Self::Hidden,
                _ => Self::Other,
            },
        }
    }

    /// `None` for the `0` of a thread without a wait channel.
    fn named(text: &str) -> Option<Self> {
        // The compiler appends a suffix to functions it cloned: `poll_schedule_timeout.constprop.0`.
        let name = text.trim_end().split('.').next()?;
        Some(match name {
            "" | "0" => return None,
            "wait_woken" | "n_tty_read" => Self::Read,
            "poll_schedule_timeout"
            | "do_select"
            | "core_sys_select"
            | "do_poll"
            | "do_sys_poll"
            | "schedule_hrtimeout_range"
            | "schedule_hrtimeout_range_clock" => Self::Poll,
            "ep_poll" | "do_epoll_wait" | "do_epoll_pwait" => Self::Epoll,
            "io_cqring_wait" | "io_cqring_schedule" => Self::Hidden,
            _ => Self::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_functions_are_classified() {
        for (name, channel) in [
            ("wait_woken", Some(WaitChannel::Read)),
            ("poll_schedule_timeout.constprop.0", Some(WaitChannel::Poll)),
            ("do_epoll_wait\n", Some(WaitChannel::Epoll)),
            ("hrtimer_nanosleep", Some(WaitChannel::Other)),
            ("do_wait", Some(WaitChannel::Other)),
            ("io_cqring_wait", Some(WaitChannel::Hidden)),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(WaitChannel::named(name), channel, "{name}");
        }
    }
}
