//! What the operating system knows of processes.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as os;

// Linux has `ps` as well, so its tests try this too.
#[cfg(any(test, not(target_os = "linux")))]
mod macos;
#[cfg(not(target_os = "linux"))]
use macos as os;

/// A process and its parents, nearest first.
pub(crate) fn ancestors(pid: u32) -> Vec<u32> {
    let mut chain = vec![pid];
    let mut current = pid;
    // The bound is for a table that changes while it is read.
    while let Some(parent) = os::parent(current).filter(|&parent| parent > 0 && chain.len() < 256) {
        chain.push(parent);
        current = parent;
    }
    chain
}

/// When a process started, as the system counts: with the pid it names a process for good, since a
/// pid alone is given out again. `None` if there is no such process.
pub(crate) fn started(pid: u32) -> Option<String> {
    os::started(pid)
}

/// Whether the program that has the terminal of `pid` runs another one there in its own process
/// group, as a shell does with the commands of a script. `None` where this cannot be known.
pub(crate) fn foreground_has_child(pid: u32) -> Option<bool> {
    os::foreground_has_child(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_begin_with_the_process_and_reach_its_parent() {
        let me = std::process::id();
        let chain = ancestors(me);
        let parent = u32::try_from(rustix::process::getppid().unwrap().as_raw_nonzero().get());
        assert_eq!(chain[0], me);
        assert_eq!(Some(chain[1]), parent.ok());
    }

    #[test]
    fn a_start_is_known_for_the_living_only() {
        assert_eq!(started(std::process::id()), started(std::process::id()));
        assert!(started(std::process::id()).is_some());
        assert_eq!(started(u32::MAX - 1), None);
    }

    #[test]
    fn ps_tells_the_same() {
        let me = std::process::id();
        assert_eq!(macos::parent(me), Some(ancestors(me)[1]));
        assert_eq!(macos::started(me), macos::started(me));
        assert!(macos::started(me).is_some_and(|text| text.len() > 8));
        assert_eq!(macos::started(u32::MAX - 1), None);
    }
}
