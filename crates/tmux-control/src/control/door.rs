//! The way in and out for our control clients: one at a time, and while nothing else happens.
//!
//! Before 3.7 a tmux server dies, and everybody's sessions with it, if it has to announce something
//! (a client left, a session or a buffer came or went) while a control client is halfway through
//! its greeting: <https://github.com/tmux/tmux/pull/4980>. What other people do at that moment is
//! not in our hands. What we do is: a client comes only when none of ours is leaving and none of
//! our commands that change something is on its way.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedRwLockReadGuard, RwLock};

use crate::command::Command;
use crate::control::connection::Connection;
use crate::error::Error;
use crate::id::SessionId;
use crate::spawn::Program;

/// The right to have tmux announce something; no client comes while one is held.
pub(crate) type Permit = OwnedRwLockReadGuard<()>;

/// Where our clients come and go. Clones are the same door.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    program: Program,
    deadline: Duration,
    lock: Arc<RwLock<()>>,
}

impl Door {
    pub(crate) fn new(program: Program, deadline: Duration) -> Self {
        Self { program, deadline, lock: Arc::default() }
    }

    /// Waits until no client is coming in.
    pub(crate) async fn permit(&self) -> Permit {
        Arc::clone(&self.lock).read_owned().await
    }

    /// Starts a client attached to `session`.
    pub(crate) async fn enter(
        &self,
        session: SessionId,
        output: bool,
    ) -> Result<Connection, Error> {
        let _alone = self.in_time("attach-session", self.lock.write()).await?;
        let mut connection = Connection::start(&self.program, session, output)?;
        match connection.confirmed(self.deadline).await {
            Ok(()) => Ok(connection),
            Err(error) => {
                self.end(connection).await;
                Err(error)
            }
        }
    }

    /// Ends a client, without keeping anybody waiting but those who want to come in.
    pub(crate) fn leave(&self, connection: Connection) {
        let door = self.clone();
        tokio::spawn(async move {
            let _permit = door.permit().await;
            door.end(connection).await;
        });
    }

    /// Runs commands in a process of their own.
    pub(crate) async fn spawned(&self, commands: &[Command]) -> Result<Vec<u8>, Error> {
        let _permit = match commands.iter().find(|command| !command.is_repeatable()) {
            Some(action) => Some(self.in_time(action.name(), self.permit()).await?),
            None => None,
        };
        self.program.run(commands, self.deadline).await
    }

    async fn in_time<T>(&self, command: &str, wait: impl Future<Output = T>) -> Result<T, Error> {
        tokio::time::timeout(self.deadline, wait)
            .await
            .map_err(|_| Error::Timeout { command: command.to_owned(), after: self.deadline })
    }

    /// tmux announces that a client left some time after its process has ended; once it answers
    /// another, it has.
    async fn end(&self, connection: Connection) {
        connection.close().await;
        let nothing = Command::query("display-message").arg("-p").arg("");
        let _ = self.program.run(&[nothing], self.deadline).await;
    }
}
