//! All durations of watches, with their reasons. Each is an upper bound for something that failed, or the
//! interval of a query for which tmux and the kernel have no event. None decides whether output is
//! complete: [`tmux_control::Server::catch_up`] does, and the exits of processes are events.

use std::time::Duration;

/// Upper bound for tmux to report the exit of a pane's process, and to end the stream of a pane that
/// closes with it. tmux reports it later only while another process keeps the terminal open; then the exit
/// is reported without a code.
pub(super) const EXIT_DETECTION_TIMEOUT: Duration = Duration::from_millis(800);

/// Interval of the queries whether tmux has noticed that exit.
pub(super) const EXIT_QUERY_INTERVAL: Duration = Duration::from_millis(5);

/// Upper bound for a program to take the terminal back from its child, and the interval of the probes.
/// Past it, the child counts as the program that exited.
pub(super) const HANDBACK_TIMEOUT: Duration = Duration::from_millis(500);
pub(super) const HANDBACK_PROBE_INTERVAL: Duration = Duration::from_millis(5);

/// Interval of the captures of a screen that keeps changing, and the pause in output after which one is
/// made at once. Only the frequency of captures depends on them.
pub(super) const SCREEN_INTERVAL: Duration = Duration::from_millis(50);
pub(super) const SCREEN_QUIET: Duration = Duration::from_millis(5);

/// Delay before a failed query is repeated.
pub(super) const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Interval of the probes whether typed keys were read: it doubles from the first value to the second.
pub(super) const MIN_KEYS_INTERVAL: Duration = Duration::from_millis(1);
pub(super) const MAX_KEYS_INTERVAL: Duration = Duration::from_millis(100);
