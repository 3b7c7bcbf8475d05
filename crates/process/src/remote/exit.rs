//! Waiting for exits of processes of another system: one task asks about all of them, while any call waits.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

use super::super::procfs::Stat;
use super::reply::Reply;
use super::{RemoteShell, nonce, stat};

/// Pause after the first answer. It grows with every further one, since a process that has lived for long
/// mostly lives on.
const MIN_PAUSE: Duration = Duration::from_millis(100);

/// Limit for the pause between two answers.
const MAX_PAUSE: Duration = Duration::from_millis(500);

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
    /// Notified when a process is added, which shortens the pause.
    added: Notify,
}

#[derive(Debug, Default)]
struct Awaited {
    by_pid: BTreeMap<u32, AwaitedProcess>,
    is_polled: bool,
}

#[derive(Debug, Default)]
struct AwaitedProcess {
    /// Start time by the first answer. Another process with the same pid has another.
    started: Option<u64>,
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

    /// Waits until the process has exited.
    pub(super) async fn exited(&self, pid: u32) {
        let (sender, receiver) = oneshot::channel();
        let must_start = {
            let mut awaited = self.shared.lock();
            awaited.by_pid.entry(pid).or_default().waiting.push(sender);
            !std::mem::replace(&mut awaited.is_polled, true)
        };
        self.shared.added.notify_one();
        if must_start {
            tokio::spawn(poll(Arc::clone(&self.shell), Arc::clone(&self.shared)));
        }
        // The error says that the sender was dropped.
        let _ = receiver.await;
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
        awaited.is_polled.then(|| awaited.by_pid.keys().copied().collect())
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
    let mut pause = MIN_PAUSE;
    while let Some(pids) = shared.pids() {
        match ask(&*shell, &pids).await {
            Some(reply) => {
                shared.update(&pids, |pid| presence(&reply, pid));
                pause = (pause * 5 / 4).min(MAX_PAUSE);
            }
            None => pause = (pause * 2).min(MAX_RETRY_PAUSE),
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = shared.added.notified() => pause = MIN_PAUSE,
        }
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
