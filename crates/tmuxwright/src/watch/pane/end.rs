//! The end of a watched pane: exit of its program, its command or its process, with the last output.

use futures::future::{BoxFuture, FutureExt, pending};
use tokio::time::{Instant, sleep, timeout};

use super::phase::ProgramExit;
use super::{PendingStep, WatchedPane};
use crate::bookmark;
use crate::host::{PaneState, ProcessState};
use crate::run::{OutputFilter, OutputPart, Prompt};
use crate::watch::limits::{
    EXIT_DETECTION_TIMEOUT, EXIT_QUERY_INTERVAL, HANDBACK_PROBE_INTERVAL, HANDBACK_TIMEOUT,
};
use crate::watch::{WatchEvent, WatchLost, Watches};
use process::{Foreground, Processes};

/// The command whose start began the watch.
pub(super) struct WatchedCommand {
    pub(super) output_filter: OutputFilter,
    /// Process id of its shell.
    pub(super) shell: u32,
    /// The shell's prompt before the command.
    pub(super) prompt: Prompt,
}

impl WatchedPane {
    /// Ends the output of a watched command at its end mark. To be called once no later mark can come:
    /// the job has confirmed the mark, or the shell is gone. False if there was no mark.
    pub(super) fn take_end_mark(&mut self) -> bool {
        let held = self.command.as_mut().and_then(|command| command.output_filter.confirm());
        let Some((code, after)) = held else { return false };
        self.steps.push_back(PendingStep::End(code));
        self.steps.push_back(PendingStep::Output(OutputPart::Text(after)));
        true
    }

    /// The foreground program, or the watched command, has exited.
    pub(super) fn end(&mut self, code: Option<i32>) {
        self.exit = ProgramExit::Unreported(code);
        let Some(command) = &self.command else { return };
        self.view.end_command(command.prompt.clone());
        if self.until.ends_with_processes() {
            let processes = self.watches.host.processes().clone();
            self.left_gone = processes_gone(processes, command.shell).boxed();
            self.phase.command_ended();
        }
    }

    /// Whether no further event can come after the exit of all processes that the command left running:
    /// their output was read, and none of them was missed.
    pub(super) async fn has_nothing_left(&mut self) -> bool {
        if self.drain_pending().await {
            return false;
        }
        let shell = self.command.as_ref().map(|command| command.shell);
        let processes = self.watches.host.processes();
        let left = match shell {
            Some(shell) => processes.other_session_processes(shell).await.unwrap_or_default(),
            None => Vec::new(),
        };
        if let (Some(shell), false) = (shell, left.is_empty()) {
            self.left_gone = processes_gone(processes.clone(), shell).boxed();
            self.phase.process_found();
            return false;
        }
        true
    }

    /// The event that ends a watch when no other event can come.
    pub(super) fn final_event(&self) -> WatchEvent {
        let code = self.exit.code();
        let detail = code.map_or_else(String::new, |code| format!("exit code {code}"));
        WatchEvent {
            pane: self.id(),
            condition: "exit".to_owned(),
            detail,
            is_program_state: true,
            is_last: true,
        }
    }

    /// Resolves when the present foreground program has exited, with all processes of its group.
    pub(super) async fn program_exit(
        watches: &Watches,
        pane: &PaneState,
    ) -> BoxFuture<'static, Option<i32>> {
        let pid = pane.pid;
        let processes = watches.host.processes().clone();
        let watched = match watches.runs.running_in(pane.pane) {
            Some(job) => return async move { job.wait_for_end().await }.boxed(),
            None => processes.inspect(pid).await.foreground().filter(|program| program.pid != pid),
        };
        let Some(Foreground { group, pid: first, .. }) = watched else {
            return pending().boxed();
        };
        async move {
            let mut member = first;
            let mut exited_at = None;
            loop {
                processes.exited(member).await;
                let waited = exited_at.get_or_insert_with(Instant::now).elapsed();
                let look = processes.inspect(pid).await;
                match look.foreground() {
                    Some(now) if now.group == group && now.pid != member => member = now.pid,
                    // The pane's own program, not a shell, is back: the program that exited was its child.
                    Some(now) if now.pid == pid && look.shell(&now).is_none() => {
                        return pending().await;
                    }
                    // The parent has not taken the terminal back yet.
                    None if waited < HANDBACK_TIMEOUT => {
                        tokio::time::sleep(HANDBACK_PROBE_INTERVAL).await;
                    }
                    _ => return None,
                }
            }
        }
        .boxed()
    }

    /// Reads the last output after the pane's own process has exited, which ends the watch in any case.
    /// tmux reports the exit after it has read all output. Cancel-safe.
    pub(super) async fn read_last_output(&mut self) {
        let until = Instant::now() + EXIT_DETECTION_TIMEOUT;
        let code = loop {
            match self.watches.host.pane(&self.id().to_string()).await {
                Ok(now) if now.pid != self.pane.pid => {
                    return self.phase.lose(WatchLost::Respawned(self.id()));
                }
                Ok(PaneState { process_state: ProcessState::Exited(Some(code)), .. }) => {
                    break Some(code);
                }
                Ok(_) if Instant::now() > until => break None,
                Ok(_) => sleep(EXIT_QUERY_INTERVAL).await,
                Err(error) if error.is_no_server() => {
                    return self.read_closed_pane(WatchLost::ServerGone).await;
                }
                Err(_) => return self.read_closed_pane(WatchLost::PaneGone(self.id())).await,
            }
        };
        while !self.phase.is_lost() && self.drain_pending().await {}
        self.take_end_mark();
        if let Some(lines) = self.all_lines().await {
            self.steps.push_back(PendingStep::All(lines));
        }
        self.steps.push_back(PendingStep::Dead(code));
    }

    /// Reads the output of a pane that is gone, for this reason, up to the end of its stream: a query
    /// can be ahead of it. Cancel-safe.
    pub(super) async fn read_closed_pane(&mut self, why: WatchLost) {
        while !self.phase.is_lost() {
            match timeout(EXIT_DETECTION_TIMEOUT, self.stream.next_item()).await {
                Ok(item) => self.take_item(item),
                Err(_) => self.phase.lose(why),
            }
        }
        // There is no longer a cursor to ask for.
        self.resync = None;
        self.take_end_mark();
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

/// Waits until no process but a shell and its ancestors is left in the shell's session. Never returns if
/// the system does not say.
async fn processes_gone(processes: Processes, shell: u32) {
    loop {
        match processes.other_session_processes(shell).await.as_deref() {
            Some([]) => return,
            Some([first, ..]) => processes.exited(*first).await,
            None => pending().await,
        }
    }
}
