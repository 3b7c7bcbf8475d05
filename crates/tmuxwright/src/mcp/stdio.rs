//! The stdio transport: one MCP client over standard input and output, and an orderly shutdown.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion,
    ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::Handler;
use crate::app::McpClient;

/// How long calls may still take after the client has closed its side. Quick ones get their answer
/// out; waits are cut short, since clients kill servers that linger.
pub(super) const GRACE: Duration = Duration::from_millis(300);

/// Serves one client until it disconnects or `stop` is cancelled.
pub(crate) async fn serve<R, W>(client: Arc<McpClient>, read: R, write: W, stop: CancellationToken)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let closed = CancellationToken::new();
    let transport = Stdio {
        inner: AsyncRwTransport::new_server(read, write),
        open: false,
        closed: closed.clone(),
    };
    let cut_short = {
        let stop = stop.clone();
        tokio::spawn(async move {
            closed.cancelled().await;
            tokio::time::sleep(GRACE).await;
            stop.cancel();
        })
    };
    let starting = Handler::new(client).serve_with_ct(transport, stop.clone());
    let running = tokio::select! {
        running = starting => running,
        () = stop.cancelled() => return,
    };
    match running {
        Ok(service) => {
            if let Err(error) = service.waiting().await {
                tracing::error!("the server task failed: {error}");
            }
        }
        // The client disconnected without a message.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        // The message is not logged: it may hold text that was to be typed.
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            tracing::error!("the client did not begin with initialize");
        }
        Err(error) => tracing::error!("the client did not initialize: {error}"),
    }
    cut_short.abort();
}

/// rmcp's transport with two changes: rmcp ends the server when a notification comes before
/// `initialize`, and lets calls run on for five seconds at the end of input.
struct Stdio<R: AsyncRead, W: AsyncWrite> {
    inner: AsyncRwTransport<RoleServer, R, W>,
    /// Whether rmcp has been given a message that starts its main loop.
    open: bool,
    closed: CancellationToken,
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.closed.cancel();
                return None;
            };
            if self.open {
                return Some(message);
            }
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.open = opens(&request.request);
                    return Some(message);
                }
                _ => tracing::debug!("a message before initialize was ignored"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Whether rmcp enters its main loop on this request: the handshake of the older revisions, or any
/// request but `server/discover` that has the `_meta` keys which the newest revision requires.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => {
            let meta = other.get_meta();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta
                    .protocol_version()
                    .is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}
