//! Load on a test: bursts in which its tmux server is stopped, and pauses of the program under test.
//!
//! `make test-loaded` sets a seed. Each test derives its own from it and its name, so that a test that
//! is run alone meets the same bursts and pauses again.

use std::env;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The environment variable with the seed. Without it there is no load.
const SEED_VARIABLE: &str = "TEST_LOAD_SEED";

/// The environment variable from which the program under test takes the seed of its pauses; see
/// `delay.rs` of `tmux-control`.
pub(crate) const DELAYS_VARIABLE: &str = "__TMUX_CONTROL_DELAYS";

/// The seed of the running test; `None` without load.
pub(crate) fn seed() -> Option<u64> {
    let seed = env::var(SEED_VARIABLE).ok()?;
    let seed: u64 = seed.parse().expect("a seed is a number");
    // The test runner names the thread of a test after it.
    Some(draw(seed, std::thread::current().name().unwrap_or_default()))
}

/// A number that follows from a seed and a key.
fn draw(seed: u64, key: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, key).hash(&mut hasher);
    hasher.finish()
}

#[cfg(target_os = "linux")]
pub(crate) use bursts::Bursts;

/// Bursts need a handle that cannot mean another process with the same id, which only Linux has.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct Bursts;

#[cfg(not(target_os = "linux"))]
impl Bursts {
    pub(crate) fn begin(_: rustix::process::Pid) -> Option<Self> {
        None
    }
}

#[cfg(target_os = "linux")]
mod bursts {
    use std::os::fd::OwnedFd;
    use std::sync::mpsc;
    use std::thread::JoinHandle;
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::{draw, seed};

    /// Lengths of a burst in milliseconds: the shortest, and by how much others are longer.
    const BURST: (u64, u64) = (5, 76);

    /// Times between two bursts in milliseconds, in the same form.
    const BETWEEN: (u64, u64) = (10, 390);

    /// A thread that stops and continues a process in bursts, until this is dropped.
    #[derive(Debug)]
    pub(crate) struct Bursts {
        /// Dropped to end the thread.
        end: Option<mpsc::Sender<()>>,
        thread: Option<JoinHandle<()>>,
    }

    impl Bursts {
        /// Begins, if the running test has a seed.
        pub(crate) fn begin(pid: Pid) -> Option<Self> {
            let seed = seed()?;
            let process = pidfd_open(pid, PidfdFlags::empty()).expect("the process runs");
            let (end, ended) = mpsc::channel();
            let thread = std::thread::spawn(move || stop_in_bursts(seed, &process, &ended));
            Some(Self { end: Some(end), thread: Some(thread) })
        }
    }

    impl Drop for Bursts {
        /// The process runs when this returns.
        fn drop(&mut self) {
            self.end = None;
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }

    fn stop_in_bursts(seed: u64, process: &OwnedFd, ended: &mpsc::Receiver<()>) {
        let ends_within = |(shortest, range), key| {
            let milliseconds = shortest + draw(seed, key) % range;
            let ended = ended.recv_timeout(Duration::from_millis(milliseconds));
            ended != Err(mpsc::RecvTimeoutError::Timeout)
        };
        let mut burst = 0;
        while !ends_within(BETWEEN, (burst, "between")) {
            // The process may have exited: the test ends its server or starts another.
            let _ = pidfd_send_signal(process, Signal::STOP);
            let end = ends_within(BURST, (burst, "burst"));
            let _ = pidfd_send_signal(process, Signal::CONT);
            if end {
                return;
            }
            burst += 1;
        }
    }
}
