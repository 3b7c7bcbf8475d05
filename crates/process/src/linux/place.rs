//! The place in the kernel where a thread sleeps (`wchan`): all that can be known of a program that
//! is ours where looking into other programs is restricted.

use super::stat::{Stat, read_of};

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Where readers of terminals wait, but readers of sockets and writers to terminals too.
    Read,
    /// Where one waits for several files.
    Poll,
    /// Where one waits for a set of files.
    Epoll,
    /// Not to be known.
    Hidden,
    /// It runs, or sleeps where no terminal is waited for.
    Elsewhere,
}

impl Place {
    pub(super) fn of(pid: u32, thread: u32) -> Self {
        let mut buffer = [0; 128];
        let text = read_of(pid, thread, "wchan", &mut buffer);
        let name = text.ok().and_then(|text| std::str::from_utf8(text).ok());
        match name.and_then(Self::named) {
            Some(place) => place,
            // One that runs, or is gone, has no place; one that sleeps hides it.
            None => match Stat::of_thread(pid, thread) {
                Some(stat) if stat.state == b'S' => Self::Hidden,
                _ => Self::Elsewhere,
            },
        }
    }

    /// `None` for the `0` that stands for none.
    fn named(text: &str) -> Option<Self> {
        // The compiler marks what it has changed: `poll_schedule_timeout.constprop.0`.
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
            _ => Self::Elsewhere,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_recognized() {
        for (name, place) in [
            ("wait_woken", Some(Place::Read)),
            ("poll_schedule_timeout.constprop.0", Some(Place::Poll)),
            ("do_epoll_wait\n", Some(Place::Epoll)),
            ("hrtimer_nanosleep", Some(Place::Elsewhere)),
            ("do_wait", Some(Place::Elsewhere)),
            ("io_cqring_wait", Some(Place::Hidden)),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(Place::named(name), place, "{name}");
        }
    }

    #[test]
    fn who_is_gone_is_nowhere() {
        assert_eq!(Place::of(u32::MAX - 1, u32::MAX - 1), Place::Elsewhere);
    }
}
