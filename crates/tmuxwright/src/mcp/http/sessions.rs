//! The MCP sessions of the revisions that have them: rmcp's, limited in number.
//!
//! A session costs a task, and in tmux a session with panes. A client that starts one for every call and
//! ends none would use up both. When there are too many, the oldest session in which no tool was called
//! is ended. If tools were called in all of them, a new one is refused: ending one would kill the
//! programs that another client started.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::SESSION_IDLE_TIMEOUT;
use crate::lock::lock;

/// Concurrent sessions.
pub(super) const MAX_SESSIONS: usize = 128;

/// rmcp's session manager with a limit.
#[derive(Debug)]
pub(super) struct LimitedSessions {
    all: LocalSessionManager,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// The number of sessions so far.
    created: u64,
    open: HashMap<SessionId, Entry>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    /// Whether a tool was called.
    is_used: bool,
}

/// An error of a session.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    /// There are too many.
    #[error("there are {MAX_SESSIONS} sessions")]
    Full,
    /// rmcp's error.
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl LimitedSessions {
    pub(super) fn new() -> Self {
        let mut all = LocalSessionManager::default();
        all.session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
        Self { all, table: Mutex::default() }
    }

    /// Whether a session can be added, by ending an unused one if need be.
    pub(super) fn has_room(&self) -> bool {
        let table = lock(&self.table);
        table.open.len() < MAX_SESSIONS || table.oldest_unused().is_some()
    }
}

impl Table {
    fn oldest_unused(&self) -> Option<SessionId> {
        let unused = self.open.iter().filter(|(_, entry)| !entry.is_used);
        unused.min_by_key(|(_, entry)| entry.number).map(|(id, _)| Arc::clone(id))
    }
}

impl SessionManager for LimitedSessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let oldest = {
            let table = lock(&self.table);
            match table.open.len() < MAX_SESSIONS {
                true => None,
                false => Some(table.oldest_unused().ok_or(SessionsError::Full)?),
            }
        };
        if let Some(oldest) = oldest {
            self.close_session(&oldest).await?;
        }
        let (id, transport) = self.all.create_session().await?;
        let mut table = lock(&self.table);
        table.created += 1;
        let entry = Entry { number: table.created, is_used: false };
        table.open.insert(Arc::clone(&id), entry);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.all.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.all.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        lock(&self.table).open.remove(id);
        Ok(self.all.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let JsonRpcMessage::Request(request) = &message
            && matches!(request.request, ClientRequest::CallToolRequest(_))
            && let Some(entry) = lock(&self.table).open.get_mut(id)
        {
            entry.is_used = true;
        }
        Ok(self.all.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.all.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.all.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.all.resume(id, last_event_id).await?)
    }
}
