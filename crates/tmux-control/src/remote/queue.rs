//! The queue in front of a lasting shell: one script at a time, in the order of the calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use crate::error::Error;
use crate::remote::Remote;
use crate::remote::connection::{Connection, lost_reason};
use crate::remote::shell::{RemoteOutput, Shell, Work};

/// How many scripts may wait or run. More means that the other side is too slow for what is asked.
const MAX_QUEUED: usize = 256;

/// How long the end of a shell may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A lasting shell, opened with its first script and again after a failure.
#[derive(Debug, Clone)]
pub(super) struct ShellQueue {
    prelude: Arc<str>,
    /// The shell with the number of its connection. Taken while a script runs: a script that fails or is
    /// late ends its shell.
    shell: Arc<Mutex<Option<(u64, Shell)>>>,
    free: Arc<Semaphore>,
}

impl ShellQueue {
    pub(super) fn new(prelude: String) -> Self {
        Self {
            prelude: prelude.into(),
            shell: Arc::default(),
            free: Arc::new(Semaphore::new(MAX_QUEUED)),
        }
    }

    /// Runs something in its turn, in a task of its own: a shell in which a caller left a script half done
    /// could not be used again.
    pub(super) async fn run(
        &self,
        remote: &Remote,
        work: Work,
        limit: Duration,
    ) -> Result<RemoteOutput, Error> {
        let Ok(place) = Arc::clone(&self.free).try_acquire_owned() else {
            let reason = format!("{MAX_QUEUED} scripts are waiting for its shell");
            return Err(remote.unreachable(reason));
        };
        let (queue, remote) = (self.clone(), remote.clone());
        let name = remote.name();
        let task = tokio::spawn(async move {
            let output = queue.run_in_turn(&remote, &work, limit).await;
            drop(place);
            output
        });
        let ended = "the task of its shell ended".to_owned();
        task.await.unwrap_or(Err(Error::HostLost { host: name, reason: ended }))
    }

    async fn run_in_turn(
        &self,
        remote: &Remote,
        work: &Work,
        limit: Duration,
    ) -> Result<RemoteOutput, Error> {
        let mut slot = self.shell.lock().await;
        let connection = remote.connection().await?;
        let mut kept = slot.take();
        let usable = kept
            .as_mut()
            .is_some_and(|(number, shell)| *number == connection.number && shell.is_open());
        let mut shell = match kept.filter(|_| usable) {
            Some((_, shell)) => shell,
            None => timeout(limit, self.open(&connection))
                .await
                .unwrap_or_else(|_| Err("no further shell was opened in time".to_owned()))
                .map_err(|reason| remote.unreachable(reason))?,
        };
        match run(&mut shell, &connection, work, limit).await {
            Ok(output) => {
                *slot = Some((connection.number, shell));
                Ok(output)
            }
            Err(Some(reason)) => Err(Error::HostLost { host: remote.name(), reason }),
            Err(None) => Err(Error::Timeout { command: "script".to_owned(), after: limit }),
        }
    }

    async fn open(&self, connection: &Connection) -> Result<Shell, String> {
        let mut shell = connection.shell().await?;
        if !self.prelude.is_empty() {
            shell.run(&Work::Script(self.prelude.to_string())).await?;
        }
        Ok(shell)
    }

    /// Ends the shell, once the running script has ended.
    pub(super) async fn clear(&self) {
        if let Ok(mut slot) = timeout(CLOSE_TIMEOUT, self.shell.lock()).await
            && let Some((_, shell)) = slot.take()
        {
            shell.close(CLOSE_TIMEOUT).await;
        }
    }
}

/// Runs something. The error is the reason of a loss; `None` if the time is up.
async fn run(
    shell: &mut Shell,
    connection: &Connection,
    work: &Work,
    limit: Duration,
) -> Result<RemoteOutput, Option<String>> {
    let mut lost = connection.lost.clone();
    tokio::select! {
        output = timeout(limit, shell.run(work)) => match output {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(ended)) => Err(Some(connection.loss_or(ended).await)),
            Err(_) => Err(None),
        },
        reason = lost_reason(&mut lost) => Err(Some(reason)),
    }
}
