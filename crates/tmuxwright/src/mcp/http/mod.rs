//! The HTTP transport, for many MCP clients at once: listener, connections, shutdown.
//!
//! `access` checks every request: the token (`token` owns its file), Host and Origin (`names`), and the
//! numbers of requests and `sessions`. `connections` limits the connections. rmcp does the rest.

mod access;
mod connections;
mod names;
mod sessions;
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
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use self::access::AccessCheck;
use self::connections::{Connection, Connections};
use self::names::AllowedNames;
use self::sessions::LimitedSessions;
use super::Handler;
use super::stdio::GRACE;
use crate::app::App;
use crate::config::http::{HttpSettings, HttpToken, default_token_file};
use crate::contract::{Code, ToolError};

/// The path at which MCP is served.
const MCP_PATH: &str = "/mcp";

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
        let names = AllowedNames::new(&app.settings.http, address.ip());
        let sessions = Arc::new(LimitedSessions::new());
        let mcp = service(&app, Arc::clone(&sessions), streams.clone());
        let access = Arc::new(AccessCheck::new(token, names, sessions, mcp));
        let mut open = Connections::default();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                Some(()) = open.next_end() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => open.spawn(|connection| {
                    serve_connection(stream, connection, Arc::clone(&access), stop.clone())
                }),
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
async fn wait_for_connections(open: &mut Connections) {
    let _ = tokio::time::timeout(GRACE, async { while open.next_end().await.is_some() {} }).await;
}

/// rmcp's service. It creates a handler for each session, and in the newest revision for each request.
/// Host and Origin are checked before.
fn service(
    app: &Arc<App>,
    sessions: Arc<LimitedSessions>,
    streams: CancellationToken,
) -> StreamableHttpService<Handler, LimitedSessions> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_cancellation_token(streams);
    let app = Arc::clone(app);
    let handler = move || Ok(Handler::for_http(Arc::clone(&app)));
    StreamableHttpService::new(handler, sessions, config)
}

async fn serve_connection(
    stream: TcpStream,
    connection: Connection,
    access: Arc<AccessCheck>,
    stop: CancellationToken,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("TCP_NODELAY not set, answers may be delayed: {error}");
    }
    let connection = Arc::new(connection);
    let service = service_fn(move |request| {
        let (access, connection) = (Arc::clone(&access), Arc::clone(&connection));
        async move { Ok::<_, Infallible>(access.handle(request, &connection).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_header_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            served.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection failed: {error}");
    }
}
