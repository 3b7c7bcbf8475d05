//! The HTTP transport, for many MCP clients at once: listener, connections, shutdown.
//!
//! `access` checks the token; rmcp does the rest of the protocol, Host and Origin included. `token`
//! owns the token file.

mod access;
mod token;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::access::AccessCheck;
use super::Handler;
use super::stdio::GRACE;
use crate::app::App;
use crate::config::http::{HttpSettings, HttpToken, default_token_file};
use crate::contract::{Code, ToolError};

/// The path at which MCP is served.
const MCP_PATH: &str = "/mcp";

/// Concurrent connections. A connection carries one request at a time, and idle ones count as well.
const MAX_CONNECTIONS: usize = 256;

/// The response to a connection above the limit.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Length: 0\r\n\r\n";

/// Time to read the headers of a request; also the idle time between two requests.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Size of a request's headers.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// Idle time after which an MCP session of the older revisions ends. Longer than any call and than a
/// person's lunch break, because a client loses its panes with its session.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Delay after `accept` has failed, as when no file descriptor is free.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// A listening socket with the token that its clients must send.
#[derive(Debug)]
pub(crate) struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    token: HttpToken,
    /// The token's file, if it is in one, and the token's text, if it was created just now.
    token_file: Option<(PathBuf, Option<String>)>,
}

impl HttpListener {
    /// Binds the address of the settings. None if HTTP is off.
    pub(crate) async fn open(http: &HttpSettings) -> Result<Option<Self>, ToolError> {
        let Some(listen) = http.listen else { return Ok(None) };
        let (token, token_file) = match &http.token {
            Some(token) => (token.clone(), None),
            None => {
                let path =
                    http.token_file.clone().or_else(default_token_file).ok_or_else(|| {
                        ToolError::invalid_argument("HOME is not set, so there is no token file")
                            .hint("give --http-token-file, or set TMUXWRIGHT_HTTP_TOKEN")
                    })?;
                let token::StoredToken { token, created } = token::read_or_create(&path)?;
                (token, Some((path, created)))
            }
        };
        let failed = |error: std::io::Error| {
            ToolError::new(Code::Busy, format!("--http: cannot listen on {listen}: {error}"))
                .hint("choose another port, or 0 for any free port")
        };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Some(Self { listener, address, token, token_file }))
    }

    /// Text for the person who connects a client: URL, token file, command to type. It holds the token
    /// only if that is new.
    pub(crate) fn connect_hint(&self) -> String {
        let url = format!("http://{}{MCP_PATH}", self.address);
        let (note, token) = match &self.token_file {
            None => (String::new(), "$TMUXWRIGHT_HTTP_TOKEN".to_owned()),
            Some((path, created)) => {
                let path = path.display().to_string();
                let note = match created {
                    Some(text) => format!("created a token in {path}: {text}\n"),
                    None => format!("the token is in {path}\n"),
                };
                (note, format!("$(cat '{}')", path.replace('\'', "'\\''")))
            }
        };
        format!(
            "serving MCP at {url}\n{note}claude mcp add --transport http tmux {url} \
             --header \"Authorization: Bearer {token}\"\n"
        )
    }

    /// Serves clients until `stop` is cancelled. Then it gives running calls a moment to finish, ends
    /// the waiting ones with an answer, and closes the streams.
    pub(crate) async fn serve(self, app: Arc<App>, stop: CancellationToken) {
        let Self { listener, address, token, .. } = self;
        let streams = CancellationToken::new();
        let access = Arc::new(AccessCheck::new(token, service(&app, address, streams.clone())));
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) if open.len() < MAX_CONNECTIONS => {
                    open.spawn(connection(stream, Arc::clone(&access), stop.clone()));
                }
                Ok((stream, _)) => drop(stream.try_write(TOO_MANY_CONNECTIONS)),
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop(listener);
        for end in [&app.ending, &streams] {
            wait_for_connections(&mut open).await;
            end.cancel();
        }
        wait_for_connections(&mut open).await;
    }
}

/// Waits until all connections have ended, for [`GRACE`] at most.
async fn wait_for_connections(open: &mut JoinSet<()>) {
    let _ = tokio::time::timeout(GRACE, async { while open.join_next().await.is_some() {} }).await;
}

/// rmcp's service. It creates a handler for each session, and in the newest revision for each request.
fn service(
    app: &Arc<App>,
    address: SocketAddr,
    streams: CancellationToken,
) -> StreamableHttpService<Handler, LocalSessionManager> {
    let http = &app.settings.http;
    let here = Some(address.ip()).filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string());
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"].map(str::to_owned);
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(loopback.into_iter().chain(here).chain(http.hosts.iter().cloned()))
        .with_allowed_origins(origins.into_iter().chain(http.origins.iter().cloned()))
        .with_json_response(true)
        .with_cancellation_token(streams);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    let app = Arc::clone(app);
    let handler = move || Ok(Handler::for_http(Arc::clone(&app)));
    StreamableHttpService::new(handler, Arc::new(sessions), config)
}

async fn connection(stream: TcpStream, access: Arc<AccessCheck>, stop: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY not set, answers may be delayed: {error}");
    }
    let service = service_fn(move |request| {
        let access = Arc::clone(&access);
        async move { Ok::<_, Infallible>(access.handle(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_header_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection failed: {error}");
    }
}
