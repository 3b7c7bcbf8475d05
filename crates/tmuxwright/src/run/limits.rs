//! All durations of the run engine, with their reasons. Each is an upper bound for something that failed,
//! or the interval of a query for which tmux and the kernel have no event. None decides whether output is
//! complete or a key was read: [`tmux_control::Server::catch_up`] and the state of the terminal do.
//!
//! The exceptions are an interrupt, which leaves no trace, and programs that cannot be inspected or whose row is not
//! known. Such a program has to be silent for `RELAY_QUIET` or `UNKNOWN_ROW_QUIET`; where its last row may belong to an
//! input, for `SHELL_RESPONSE_TIMEOUT`.

use std::time::Duration;

/// Upper bound for a shell that still reads its start-up files, from its start on.
pub(super) const SHELL_START_TIMEOUT: Duration = Duration::from_secs(5);
/// The same for a shell of the pool, which nobody else could use meanwhile.
pub(super) const POOL_START_TIMEOUT: Duration = Duration::from_secs(20);
/// Upper bound for a process forked by tmux to execute its program.
pub(super) const EXEC_TIMEOUT: Duration = Duration::from_millis(500);
/// Upper bound for a shell that is busy itself to return to its prompt, or to act on a key.
pub(super) const PROMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// Upper bound for a program that has just come to the foreground to show what it does.
pub(super) const FOREGROUND_TIMEOUT: Duration = Duration::from_millis(60);
/// Upper bound for a shell to begin a command, to answer a query for its status, or to print its prompt.
pub(super) const SHELL_RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);
/// Upper bound for a shell behind a relay to begin a command, whose script may be long and its connection slow.
pub(super) const REMOTE_START_TIMEOUT: Duration = Duration::from_secs(60);
/// Upper bound for a program behind a relay such as ssh to answer as a shell.
pub(super) const REMOTE_ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Upper bound for the mark that a shell prints at its prompt to follow that of the command file, unless
/// the hook that prints it was removed.
pub(super) const HOOK_MARK_TIMEOUT: Duration = Duration::from_millis(300);
/// Upper bound for a command that was answered to end, before the next one gets another shell.
pub(super) const ANSWERED_TIMEOUT: Duration = Duration::from_secs(1);
/// Upper bound for tmux to notice that the process of a pane has exited.
pub(super) const EXIT_NOTICE_TIMEOUT: Duration = Duration::from_secs(3);
/// Upper bound for the keys of a person, or a prompt that changes, to keep a command from being typed.
pub(super) const DISTURBANCE_TIMEOUT: Duration = Duration::from_secs(5);

/// Upper bound for a line that is being typed when the process is about to exit. The rest of the clean-up
/// needs the rest of its time.
pub(super) const LAST_LINE_TIMEOUT: Duration = Duration::from_millis(500);

/// Time after a command within which a hook of its shell may be in the foreground; any other program is
/// refused at once.
pub(super) const SETTLE_TIME: Duration = Duration::from_secs(1);
/// Time after a command in a pane of the pool within which its new prompt is taken as it is, if nobody has
/// pressed a key; later, and in other panes, the row is compared with it.
pub(super) const FRESH_PROMPT_TIME: Duration = Duration::from_millis(100);

/// Seconds without a key after which a person counts as not typing. tmux tells whole seconds, so between
/// one and two seconds pass.
pub(super) const QUIET_SECONDS: u64 = 2;

/// Upper bound for the answer of this process to a shell that asks where its line is, as a number of
/// probes, one every hundredth of a second.
pub(super) const MAX_ANSWER_PROBES: usize = 200;

/// Time before the first probe after an interrupt at a prompt: a signal leaves no trace from which one
/// could tell that the shell has acted on it.
pub(super) const INTERRUPT_REACTION_TIME: Duration = Duration::from_millis(20);

/// Interval at which an interrupted command that has not ended is probed: its program may be an interpreter
/// that goes on.
pub(super) const JOB_END_INTERVAL: Duration = Duration::from_millis(100);

/// Interval of the probes of a shell around one that has exited.
pub(super) const OUTER_SHELL_INTERVAL: Duration = Duration::from_millis(5);
/// First and longest interval of the queries whether tmux has noticed an exit, or an interrupted program
/// has gone.
pub(super) const FIRST_INTERVAL: Duration = Duration::from_millis(2);
pub(super) const LONGEST_INTERVAL: Duration = Duration::from_millis(50);

/// Interval of the queries for a status at a prompt behind a relay that did not react: its connection may have
/// stalled, or its line editor may take keys as commands.
pub(super) const QUERY_INTERVAL: Duration = Duration::from_secs(20);

/// Interval of the probes of a pane whose command has ended, until its lease is released.
pub(super) const LEASE_INTERVAL: Duration = Duration::from_millis(2);
/// First and longest interval of the probes of an interpreter that does not show its prompt yet.
pub(super) const REPL_PROMPT_INTERVAL: Duration = Duration::from_millis(10);
pub(super) const LATE_PROMPT_INTERVAL: Duration = Duration::from_millis(250);

/// Silence after which the prompt of a program that cannot be inspected, such as one behind ssh, counts.
pub(super) const RELAY_QUIET: Duration = Duration::from_millis(250);
/// Silence after which a program that reads in a row that is not its prompt asks for something else, and time
/// for a shell behind a relay to draw its prompt.
pub(super) const UNKNOWN_ROW_QUIET: Duration = Duration::from_millis(300);
