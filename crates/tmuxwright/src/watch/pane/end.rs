//! How a watched pane ends: its program, its command, its process.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, pending};
use tokio::time::Instant;

use super::{FIRST_PAUSE, LONGEST_PAUSE, Step, Watched};
use crate::bookmark;
use crate::host::{PaneState, ProcessState};
use crate::watch::{Event, Lost};
use process::Foreground;

/// How long tmux may take to see that a pane's process is gone.
const EXIT_TIME: Duration = Duration::from_millis(800);

/// How long the last output may take to us.
const ON_ITS_WAY: Duration = Duration::from_millis(30);

/// The same for those who had no window of their own, where nothing tells that all has come: on a
/// busy machine the kernel takes its time from one end of a terminal to the other.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// How often, and after which pause, it is looked whether a process is gone that was ending.
const DYING_LOOKS: u32 = 5;
const DYING: Duration = Duration::from_millis(2);

/// The same for a program that takes the terminal back from one it ran.
const BACK_LOOKS: u32 = 20;
const BACK: Duration = Duration::from_millis(5);

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
    pub(super) async fn is_over(&mut self) -> bool {
        let due = self.may_be_over();
        let Some(command) = self.command.as_mut().filter(|_| due) else { return false };
        let is_first = command.pause == FIRST_PAUSE;
        let (shell, was_alone) = (command.shell, command.is_alone);
        command.look_after = Instant::now() + command.pause;
        command.pause = (command.pause * 2).min(LONGEST_PAUSE);
        let mut alone = process::has_company(shell) == Some(false);
        // What told the end may take a moment to its own.
        for _ in 0..if is_first { DYING_LOOKS } else { 0 } {
            if alone {
                break;
            }
            tokio::time::sleep(DYING).await;
            alone = process::has_company(shell) == Some(false);
        }
        if !alone {
            // It goes on, and what it prints belongs to what was seen.
            self.at_end = None;
            return false;
        }
        let patient = !is_first && !was_alone;
        let came = (patient && self.hears_more(LAST_WORDS).await) || self.hear_out().await;
        if let Some(command) = self.command.as_mut().filter(|_| came) {
            command.is_alone = true;
            command.look_after = Instant::now();
        }
        !came
    }

    /// Whether something comes within this time.
    async fn hears_more(&mut self, within: Duration) -> bool {
        match tokio::time::timeout(within, self.stream.next()).await {
            Ok(chunk) => {
                self.take(chunk);
                true
            }
            Err(_) => false,
        }
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
            let mut looks = 0;
            loop {
                process::exited(member).await;
                match process::foreground(pid) {
                    Some(now) if now.group == group && now.pid != member => member = now.pid,
                    // What the pane was made for is not over yet: it only ran this.
                    Some(now) if now.pid == pid && process::shell(&now).is_none() => {
                        return pending().await;
                    }
                    // Nobody has taken the terminal back yet.
                    None if looks < BACK_LOOKS => {
                        looks += 1;
                        tokio::time::sleep(BACK).await;
                    }
                    _ => return None,
                }
            }
        }
        .boxed()
    }

    /// The pane's own process is gone. This ends the watch in any case, once all that was printed
    /// has been taken. May be dropped and called again.
    pub(super) async fn take_the_rest(&mut self) {
        while self.lost.is_none() && self.hears_more(ON_ITS_WAY).await {}
        let until = Instant::now() + EXIT_TIME;
        let code = loop {
            self.lost = match self.watches.host.pane(&self.id().to_string()).await {
                Ok(now) if now.pid != self.pane.pid => Some(Lost::Respawned(self.id())),
                Ok(PaneState { process_state: ProcessState::Exited(Some(code)), .. }) => {
                    break Some(code);
                }
                Ok(_) if Instant::now() > until => break None,
                Ok(_) => None,
                Err(error) if error.is_no_server() => Some(Lost::ServerGone),
                Err(_) => Some(Lost::PaneGone(self.id())),
            };
            if self.lost.is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        if let Some(lines) = self.all_lines().await {
            self.steps.push_back(Step::All(lines));
        }
        self.steps.push_back(Step::Dead(code));
        self.dying = false;
    }

    /// All that was printed since the watch began, from tmux itself: it drops what a client has not
    /// been sent yet when a pane's program ends.
    async fn all_lines(&mut self) -> Option<Vec<String>> {
        let news = bookmark::news(self.watches.host.tmux(), self.begun_at.as_ref()?).await;
        match news {
            Ok(news) => news.filter(|news| !news.missed).map(|news| news.lines),
            Err(error) => {
                tracing::debug!("reading the rest of {}: {error}", self.id());
                None
            }
        }
    }
}
