//! The end of a watched pane: exit of its program, its command or its process, with the last output.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, pending};
use tokio::time::Instant;

use super::{PendingStep, WatchedPane};
use crate::bookmark;
use crate::host::{PaneState, ProcessState};
use crate::run::{OutputFilter, OutputPart};
use crate::watch::{WatchEvent, WatchLost};
use process::Foreground;

/// Time for tmux to notice that a pane's process has exited.
const EXIT_DETECTION_TIMEOUT: Duration = Duration::from_millis(800);

/// Time for a pane's last output to arrive.
const OUTPUT_DELAY: Duration = Duration::from_millis(30);

/// The same for processes that a command left in the background, whose last output has no end mark: on a
/// busy machine the kernel takes long to pass output through a terminal.
const LAST_OUTPUT_DELAY: Duration = Duration::from_millis(250);

/// Probes whether an exiting process is gone, and the interval between them.
const EXITING_PROBES: u32 = 5;
const EXITING_PROBE_INTERVAL: Duration = Duration::from_millis(2);

/// Probes whether a program has taken the terminal back from its child, and the interval between them.
const HANDBACK_PROBES: u32 = 20;
const HANDBACK_PROBE_INTERVAL: Duration = Duration::from_millis(5);

/// Interval between probes for processes that a finished command left running: it doubles from the first
/// value to the second.
const MIN_END_PROBE_INTERVAL: Duration = Duration::from_millis(20);
const MAX_END_PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// The command whose start began the watch.
pub(super) struct WatchedCommand {
    pub(super) output_filter: OutputFilter,
    /// Process id of its shell.
    shell: u32,
    /// Whether the last probe found no process left by the command.
    left_nothing: bool,
    /// Time of the next probe, and interval to the one after it.
    pub(super) probe_at: Instant,
    probe_interval: Duration,
}

impl WatchedCommand {
    /// A command that has just been started.
    pub(super) fn new(output_filter: OutputFilter, shell: u32) -> Self {
        Self {
            output_filter,
            shell,
            left_nothing: false,
            probe_at: Instant::now(),
            probe_interval: MIN_END_PROBE_INTERVAL,
        }
    }
}

impl WatchedPane {
    /// Whether the watched command has ended and only output is awaited. Then events can come only from
    /// processes that it left running.
    pub(super) fn command_has_ended(&self) -> bool {
        self.command.is_some() && self.exited.is_some() && self.until.is_about_output()
    }

    /// Ends the output of a watched command at its end mark. To be called once no later mark can come:
    /// the job has confirmed the mark, or the shell is gone. False if there was no mark.
    pub(super) fn take_end_mark(&mut self) -> bool {
        let held = self.command.as_mut().and_then(|command| command.output_filter.confirm());
        let Some((code, after)) = held else { return false };
        self.steps.push_back(PendingStep::End(code));
        self.steps.push_back(PendingStep::Output(OutputPart::Text(after)));
        true
    }

    /// Whether it is time to probe for such processes.
    pub(super) fn is_end_check_due(&self) -> bool {
        let due = self.command.as_ref().is_some_and(|it| it.probe_at <= Instant::now());
        due && self.command_has_ended()
    }

    /// Whether no further event can come.
    pub(super) async fn has_nothing_left(&mut self) -> bool {
        let due = self.is_end_check_due();
        let Some(command) = self.command.as_mut().filter(|_| due) else { return false };
        let is_first = command.probe_interval == MIN_END_PROBE_INTERVAL;
        let (shell, was_alone) = (command.shell, command.left_nothing);
        command.probe_at = Instant::now() + command.probe_interval;
        command.probe_interval = (command.probe_interval * 2).min(MAX_END_PROBE_INTERVAL);
        let mut alone = process::session_has_other_processes(shell) == Some(false);
        // The process that printed the end mark may still be exiting.
        for _ in 0..if is_first { EXITING_PROBES } else { 0 } {
            if alone {
                break;
            }
            tokio::time::sleep(EXITING_PROBE_INTERVAL).await;
            alone = process::session_has_other_processes(shell) == Some(false);
        }
        if !alone {
            // A process is left, and its output belongs to the command's.
            self.output_at_end = None;
            return false;
        }
        let patient = !is_first && !was_alone;
        let came =
            (patient && self.output_within(LAST_OUTPUT_DELAY).await) || self.drain_pending().await;
        if let Some(command) = self.command.as_mut().filter(|_| came) {
            command.left_nothing = true;
            command.probe_at = Instant::now();
        }
        !came
    }

    /// Reads the stream for this time. False if there was no output.
    async fn output_within(&mut self, within: Duration) -> bool {
        match tokio::time::timeout(within, self.stream.next()).await {
            Ok(chunk) => {
                self.take(chunk);
                true
            }
            Err(_) => false,
        }
    }

    /// The event that ends a watch when no other event can come.
    pub(super) fn final_event(&self) -> WatchEvent {
        let code = self.exited.flatten();
        let detail = code.map_or_else(String::new, |code| format!("exit code {code}"));
        WatchEvent { pane: self.id(), condition: "exit".to_owned(), detail, is_last: true }
    }

    /// Resolves when the present foreground program has exited, with all processes of its group.
    pub(super) fn program(&self) -> BoxFuture<'static, Option<i32>> {
        let pid = self.pane.pid;
        let watched = match self.watches.runs.running_in(self.id()) {
            Some(job) => return async move { job.wait_for_end().await }.boxed(),
            None => process::foreground(pid).filter(|program| program.pid != pid),
        };
        let Some(Foreground { group, pid: first, .. }) = watched else {
            return pending().boxed();
        };
        async move {
            let mut member = first;
            let mut probes = 0;
            loop {
                process::exited(member).await;
                match process::foreground(pid) {
                    Some(now) if now.group == group && now.pid != member => member = now.pid,
                    // The pane's own program, not a shell, is back: the program that exited was its child.
                    Some(now) if now.pid == pid && process::shell(&now).is_none() => {
                        return pending().await;
                    }
                    // The parent has not taken the terminal back yet.
                    None if probes < HANDBACK_PROBES => {
                        probes += 1;
                        tokio::time::sleep(HANDBACK_PROBE_INTERVAL).await;
                    }
                    _ => return None,
                }
            }
        }
        .boxed()
    }

    /// Reads the remaining output after the pane's own process has exited, which ends the watch in any
    /// case. Cancel-safe.
    pub(super) async fn drain_after_exit(&mut self) {
        while self.lost.is_none() && self.output_within(OUTPUT_DELAY).await {}
        let until = Instant::now() + EXIT_DETECTION_TIMEOUT;
        let code = loop {
            self.lost = match self.watches.host.pane(&self.id().to_string()).await {
                Ok(now) if now.pid != self.pane.pid => Some(WatchLost::Respawned(self.id())),
                Ok(PaneState { process_state: ProcessState::Exited(Some(code)), .. }) => {
                    break Some(code);
                }
                Ok(_) if Instant::now() > until => break None,
                Ok(_) => None,
                Err(error) if error.is_no_server() => Some(WatchLost::ServerGone),
                Err(_) => Some(WatchLost::PaneGone(self.id())),
            };
            if self.lost.is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        self.take_end_mark();
        if let Some(lines) = self.all_lines().await {
            self.steps.push_back(PendingStep::All(lines));
        }
        self.steps.push_back(PendingStep::Dead(code));
        self.draining = false;
    }

    /// All lines since the beginning of the watch, captured from tmux. The stream can lack the last ones:
    /// tmux drops output that it has not sent yet when a pane's program exits.
    async fn all_lines(&mut self) -> Option<Vec<String>> {
        let news =
            bookmark::new_lines(self.watches.host.tmux(), self.start_bookmark.as_ref()?).await;
        match news {
            Ok(news) => news.filter(|news| !news.missed).map(|news| news.lines),
            Err(error) => {
                tracing::debug!("reading the rest of {}: {error}", self.id());
                None
            }
        }
    }
}
