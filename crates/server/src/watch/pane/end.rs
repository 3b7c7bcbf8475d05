//! How a watched pane ends: its program, its command, its process.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, pending};
use tmux::stream::ring::Chunk;
use tokio::time::Instant;

use super::{FIRST_PAUSE, LONGEST_PAUSE, Watched};
use crate::host::{Life, PaneState};
use crate::mark::{self, News};
use crate::process::{self, Foreground};
use crate::watch::{Event, Lost};

/// How long tmux may take to see that a pane's process is gone.
const EXIT_TIME: Duration = Duration::from_millis(800);

/// How long the last output may take to us.
const ON_ITS_WAY: Duration = Duration::from_millis(30);

/// How often, and after which pause, it is looked whether a process is gone that was ending.
const DYING_LOOKS: u32 = 5;
const DYING: Duration = Duration::from_millis(2);

impl Watched {
    /// Whether the command that is watched has ended, so that it depends on what it left behind
    /// whether anything can still happen.
    pub(super) fn has_ended(&self) -> bool {
        self.command.is_some() && self.exited.is_some() && self.until.is_about_output()
    }

    /// Whether that is to be looked at now.
    pub(super) fn may_be_over(&self) -> bool {
        let due = self.command.as_ref().is_some_and(|it| it.look_after <= Instant::now());
        due && self.has_ended()
    }

    /// Whether nothing can happen any more.
    pub(super) async fn is_over(&mut self) -> Result<bool, Lost> {
        let due = self.may_be_over();
        let Some(command) = self.command.as_mut().filter(|_| due) else { return Ok(false) };
        let is_first = command.pause == FIRST_PAUSE;
        let shell = command.shell;
        command.look_after = Instant::now() + command.pause;
        command.pause = (command.pause * 2).min(LONGEST_PAUSE);
        let mut alone = process::has_company(shell) == Some(false);
        if is_first {
            // What told the end may take a moment to its own. What it left has printed nothing yet.
            for _ in 0..DYING_LOOKS {
                if alone {
                    break;
                }
                tokio::time::sleep(DYING).await;
                alone = process::has_company(shell) == Some(false);
            }
            return Ok(alone);
        }
        Ok(alone && !self.hear_out().await?)
    }

    /// The event that ends a watch for want of anything that could still happen.
    pub(super) fn last_word(&self) -> Event {
        let code = self.exited.flatten();
        let says = code.map_or_else(String::new, |code| format!("exit code {code}"));
        Event { pane: self.id(), words: "exit".to_owned(), says, is_last: true }
    }

    /// Ends when the program that is in the foreground now, or what else belongs to it, is no more.
    pub(super) fn program(&self) -> BoxFuture<'static, Option<i32>> {
        let pid = self.pane.pid;
        let watched = match self.watches.runs.running_in(self.id()) {
            Some(job) => return async move { job.end().await }.boxed(),
            None => process::foreground(pid).filter(|program| program.pid != pid),
        };
        let Some(Foreground { group, pid: first, .. }) = watched else {
            return pending().boxed();
        };
        async move {
            let mut member = first;
            loop {
                process::exited(member).await;
                match process::foreground(pid) {
                    Some(now) if now.group == group && now.pid != member => member = now.pid,
                    _ => return None,
                }
            }
        }
        .boxed()
    }

    /// The pane's own process is gone. This ends the watch in any case.
    pub(super) async fn process_gone(&mut self) -> Result<Event, Lost> {
        self.process_gone = pending().boxed();
        while let Ok(chunk @ Chunk::Bytes { .. }) =
            tokio::time::timeout(ON_ITS_WAY, self.stream.next()).await
        {
            self.take(chunk)?;
        }
        let until = Instant::now() + EXIT_TIME;
        let code = loop {
            match self.watches.host.pane(&self.id().to_string()).await {
                Ok(now) if now.pid != self.pane.pid => return Err(Lost::Respawned(self.id())),
                Ok(PaneState { life: Life::Exited(Some(code)), .. }) => break Some(code),
                Ok(_) if Instant::now() > until => break None,
                Ok(_) => {}
                Err(error) if error.is_no_server() => return Err(Lost::ServerGone),
                Err(_) => return Err(Lost::PaneGone(self.id())),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        self.exited = Some(code);
        let held = self.held();
        if held.is_none() {
            self.read_rest().await;
        }
        let event = match held.or_else(|| self.held()) {
            Some(held) => self.tell(held),
            None => self.last_word(),
        };
        Ok(Event { is_last: true, ..event })
    }

    /// tmux drops what a client has not been sent yet when a pane's program ends. Its screen still
    /// has it.
    async fn read_rest(&mut self) {
        let Some(mark) = &self.begun_at else { return };
        match mark::news(self.watches.host.tmux(), mark).await {
            Ok(Some(News { lines, missed: false, .. })) => self.view.end(lines),
            Ok(_) => {}
            Err(error) => tracing::debug!("reading the rest of {}: {error}", self.id()),
        }
    }
}
