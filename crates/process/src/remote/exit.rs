//! Waiting for exits of processes of another system: one task asks about all of them, while any call waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use super::super::procfs::Stat;
use super::reply::Reply;
use super::{RemoteShell, nonce, stat};

/// Pause before the first question about a process. Mostly the output of its pane, or an inspection, tells of an
/// exit before.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// Pause after the first answer about a process that is about to exit. It grows with every further one, since a
/// process that has lived for long mostly lives on.
const MIN_PAUSE: Duration = Duration::from_millis(20);

/// Limit for the pause between two answers.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Limit for the pause while the system cannot be reached. That says nothing about the processes.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(5);

/// The processes whose exit is awaited, and the task that asks about them.
#[derive(Debug)]
pub(super) struct ExitPoller {
    shell: Arc<dyn RemoteShell>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    awaited: Mutex<Awaited>,
    /// Notified when the next question is due earlier.
    hurried: Notify,
}

#[derive(Debug, Default)]
struct Awaited {
    by_pid: BTreeMap<u32, AwaitedProcess>,
    is_polled: bool,
    /// When the next question is due, and the pause after it.
    due: Option<Instant>,
    pause: Duration,
}

#[derive(Debug, Default)]
struct AwaitedProcess {
    /// Start time by the first answer. Another process with the same pid has another.
    started: Option<u64>,
    /// The pane in which an inspection has found it.
    pane: Option<u32>,
    /// Dropped at the exit.
    waiting: Vec<oneshot::Sender<()>>,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Gone,
    /// It exists, but `/proc` does not show it.
    Hidden,
    Alive {
        started: u64,
    },
}

impl ExitPoller {
    pub(super) fn new(shell: Arc<dyn RemoteShell>) -> Self {
        Self { shell, shared: Arc::default() }
    }

    /// Waits until the process has exited, and asks about it after this pause.
    pub(super) async fn exited(&self, pid: u32, first: Duration) {
        let (sender, receiver) = oneshot::channel();
        let must_start = {
            let mut awaited = self.shared.lock();
            awaited.by_pid.entry(pid).or_default().waiting.push(sender);
            awaited.hurry(first);
            !std::mem::replace(&mut awaited.is_polled, true)
        };
        self.shared.hurried.notify_one();
        if must_start {
            tokio::spawn(poll(Arc::clone(&self.shell), Arc::clone(&self.shared)));
        }
        // The error says that the sender was dropped.
        let _ = receiver.await;
    }

    /// Makes a question due if an inspection of a pane has missed a process that was there.
    pub(super) fn compare(&self, pane: u32, found: &[Stat]) {
        let mut awaited = self.shared.lock();
        let mut is_missed = false;
        for (&pid, process) in &mut awaited.by_pid {
            if found.iter().any(|stat| stat.pid == pid && stat.is_alive()) {
                process.pane = Some(pane);
            } else if pid == pane || process.pane.take_if(|found_in| *found_in == pane).is_some() {
                is_missed = true;
            }
        }
        if is_missed {
            awaited.hurry(Duration::ZERO);
            drop(awaited);
            self.shared.hurried.notify_one();
        }
    }
}

impl Awaited {
    /// Makes the next question due after this time, unless it is due before.
    fn hurry(&mut self, after: Duration) {
        let due = Instant::now() + after;
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        let pause = after.max(MIN_PAUSE);
        if self.pause.is_zero() || pause < self.pause {
            self.pause = pause;
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Awaited> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The processes for whose exit a call still waits. `None` ends the task.
    fn pids(&self) -> Option<Vec<u32>> {
        let mut awaited = self.lock();
        awaited.by_pid.retain(|_, process| {
            process.waiting.retain(|sender| !sender.is_closed());
            !process.waiting.is_empty()
        });
        awaited.is_polled = !awaited.by_pid.is_empty();
        if !awaited.is_polled {
            (awaited.due, awaited.pause) = (None, Duration::ZERO);
        }
        awaited.is_polled.then(|| awaited.by_pid.keys().copied().collect())
    }

    /// When the next question is due.
    fn due(&self) -> Instant {
        self.lock().due.unwrap_or_else(Instant::now)
    }

    /// Plans the question after one that was answered or not.
    fn plan(&self, is_answered: bool) {
        let mut awaited = self.lock();
        let max_pause = if is_answered { MAX_PAUSE } else { MAX_RETRY_PAUSE };
        let due = Instant::now() + awaited.pause;
        awaited.due = Some(awaited.due.map_or(due, |earlier| earlier.min(due)));
        awaited.pause = (awaited.pause * 2).min(max_pause);
    }

    /// Ends the wait for processes that have exited. Others that were added meanwhile stay.
    fn update(&self, asked: &[u32], answer: impl Fn(u32) -> Presence) {
        let mut awaited = self.lock();
        for &pid in asked {
            let Some(process) = awaited.by_pid.get_mut(&pid) else { continue };
            let has_exited = match answer(pid) {
                Presence::Gone => true,
                Presence::Hidden => false,
                Presence::Alive { started } => *process.started.get_or_insert(started) != started,
            };
            if has_exited {
                awaited.by_pid.remove(&pid);
            }
        }
    }
}

/// The task: asks in intervals about all awaited processes in one script, and ends once there are none.
async fn poll(shell: Arc<dyn RemoteShell>, shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep_until(shared.due()) => {}
            () = shared.hurried.notified() => continue,
        }
        let Some(pids) = shared.pids() else { return };
        // What makes the next question due earlier counts from here on.
        shared.lock().due = None;
        let reply = ask(&*shell, &pids).await;
        if let Some(reply) = &reply {
            shared.update(&pids, |pid| presence(reply, pid));
        }
        shared.plan(reply.is_some());
    }
}

async fn ask(shell: &dyn RemoteShell, pids: &[u32]) -> Option<Reply> {
    let nonce = nonce();
    let list: String = pids.iter().map(|pid| format!(" {pid}")).collect();
    let reply = shell.run(format!("tw_states {nonce}{list}\n")).await.ok()?;
    Reply::parse(&reply, &nonce).filter(Reply::is_complete)
}

fn presence(reply: &Reply, pid: u32) -> Presence {
    let stats = reply.files().filter_map(|(path, text)| stat(path, text));
    match stats.into_iter().find(|stat| stat.pid == pid) {
        Some(stat) if stat.is_alive() => Presence::Alive { started: stat.started },
        Some(Stat { .. }) => Presence::Gone,
        None => {
            let name = pid.to_string();
            let is_hidden = reply.lines("hidden").any(|line| line.first() == Some(&name));
            if is_hidden { Presence::Hidden } else { Presence::Gone }
        }
    }
}
