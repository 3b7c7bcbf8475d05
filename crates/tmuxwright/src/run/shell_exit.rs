//! Status of a job whose shell has exited: from its last output, the shell around it, or tmux.

use std::pin::pin;

use tmux_control::stream::ring::Chunk;
use tokio::time::Instant;

use super::follow::JobFollower;
use super::gate::{self, Readiness};
use super::job::JobStatus;
use super::job_feed::PANE_GONE;
use super::limits::{
    EXIT_NOTICE_TIMEOUT, FIRST_INTERVAL, LONGEST_INTERVAL, OUTER_SHELL_INTERVAL,
    SHELL_RESPONSE_TIMEOUT,
};
use super::pane_size::{CatchUp, SizedItem};
use crate::host::{PaneState, ProcessState};

impl JobFollower {
    /// The status after the command's shell has exited, by `exit` or a signal.
    pub(super) async fn status_after_exit(&mut self) -> JobStatus {
        if self.shell.pid != self.pane.pid
            && let Some(status) = self.status_from_outer_shell().await
        {
            return status;
        }
        // A keeper has exited by now, so all output is here.
        if let Some(status) = self.read_rest().await {
            return status;
        }
        let until = Instant::now() + EXIT_NOTICE_TIMEOUT;
        let mut pause = FIRST_INTERVAL;
        loop {
            match self.engine.host().pane(&self.pane.pane.to_string()).await {
                Ok(pane) if pane.pid != self.pane.pid => {
                    return JobStatus::Lost("its pane was given to another program".to_owned());
                }
                Ok(PaneState { process_state: ProcessState::Exited(Some(code)), .. }) => {
                    self.job.trim_shell_exit_message(self.shell.kind);
                    return JobStatus::Exited(code);
                }
                Ok(pane) if Instant::now() > until => {
                    let exited = if pane.process_state.has_exited() { "exited" } else { "is gone" };
                    return JobStatus::Lost(format!(
                        "its shell {exited}; its exit code is not known"
                    ));
                }
                Ok(_) => {}
                Err(error) if error.is_no_server() => {
                    return JobStatus::Lost("the tmux server went away".to_owned());
                }
                Err(_) => return JobStatus::Lost(PANE_GONE.to_owned()),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_INTERVAL);
        }
    }

    /// The status of a nested shell that has exited, asked from the shell around it. `None` if that
    /// has exited too.
    async fn status_from_outer_shell(&mut self) -> Option<JobStatus> {
        let until = Instant::now() + SHELL_RESPONSE_TIMEOUT;
        // Waits for the process itself, since tmux may notice its exit later.
        let processes = self.engine.processes().clone();
        let mut pane_exit = pin!(processes.exited(self.pane.pid));
        let shell = loop {
            match gate::readiness(&self.engine, self.pane.pid).await {
                Readiness::AtPrompt(shell) => break shell,
                _ if Instant::now() > until => {
                    return Some(JobStatus::Lost("its shell is gone".to_owned()));
                }
                _ => {
                    let next = tokio::time::timeout(OUTER_SHELL_INTERVAL, pane_exit.as_mut());
                    if next.await.is_ok() {
                        return None;
                    }
                }
            }
        };
        if let Some(status) = self.read_rest().await {
            return Some(status);
        }
        self.job.close_before_prompt(0);
        if let Err(error) = self.ask_status(shell).await {
            return Some(JobStatus::Lost(error.to_string()));
        }
        let until = Instant::now() + SHELL_RESPONSE_TIMEOUT;
        while Instant::now() < until {
            let lost = match tokio::time::timeout(OUTER_SHELL_INTERVAL, self.stream.next()).await {
                Ok(item) => self.handle(item),
                Err(_) => None,
            };
            if let Some(status) = lost.or(self.confirm_end().await) {
                return Some(status);
            }
        }
        Some(JobStatus::Lost("its shell is gone".to_owned()))
    }

    /// Reads the output that has not arrived yet. Returns the status if the command had ended before
    /// its shell exited: no further mark can come.
    async fn read_rest(&mut self) -> Option<JobStatus> {
        loop {
            match self.stream.catch_up(self.engine.catch_up(&self.pane)).await {
                CatchUp::Item(SizedItem::Chunk(Chunk::Bytes { bytes, .. })) => {
                    self.feed.scan(&bytes);
                }
                CatchUp::Item(SizedItem::Size(width, height)) => self.feed.resize(width, height),
                _ => return self.take_end(),
            }
        }
    }
}
