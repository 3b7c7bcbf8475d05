//! MCP over HTTP, for many clients at once: listening, connections, and the end of it.
//!
//! rmcp knows the protocol, Host and Origin. `gate` asks for the token before that, `token` keeps it.

mod gate;
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

use self::gate::Gate;
use super::Handler;
use super::stdio::GRACE;
use crate::app::App;
use crate::config::http::{Http, Token, default_token_file};
use crate::contract::{Code, ToolError};

/// Where MCP is.
const PATH: &str = "/mcp";

/// How many connections there may be. One carries a request at a time; some carry none.
const CONNECTIONS: usize = 256;

/// The answer to one more.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Length: 0\r\n\r\n";

/// How long a client may take over the head of a request; so long it may also say nothing between two.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long that head may be.
const HEAD_SIZE: usize = 32 * 1024;

/// How long a session of the older revisions lasts without a word. Longer than any call, and than
/// a person is away for a meal: with its session a client loses its panes.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// How long to wait when no connection can be taken, as when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket that listens, and what is needed to get in.
#[derive(Debug)]
pub(crate) struct Door {
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    /// Where the token is, if it is in a file, and its text, if it was made just now.
    kept: Option<(PathBuf, Option<String>)>,
}

impl Door {
    /// Listens, if the settings say so.
    pub(crate) async fn open(http: &Http) -> Result<Option<Self>, ToolError> {
        let Some(listen) = http.listen else { return Ok(None) };
        let (token, kept) = match &http.token {
            Some(token) => (token.clone(), None),
            None => {
                let path =
                    http.token_file.clone().or_else(default_token_file).ok_or_else(|| {
                        ToolError::invalid_argument("there is no HOME to keep a token in").hint(
                            "name a file with --http-token-file, or set TMUXWRIGHT_HTTP_TOKEN",
                        )
                    })?;
                let token::Kept { token, made } = token::read_or_make(&path)?;
                (token, Some((path, made)))
            }
        };
        let failed = |error: std::io::Error| {
            ToolError::new(Code::Busy, format!("--http: cannot listen on {listen}: {error}"))
                .hint("give another port, or 0 for a free one")
        };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Some(Self { listener, address, token, kept }))
    }

    /// What a person needs to know to connect a client, the token only if it is new.
    pub(crate) fn welcome(&self) -> String {
        let url = format!("http://{}{PATH}", self.address);
        let (said, shown) = match &self.kept {
            None => (String::new(), "$TMUXWRIGHT_HTTP_TOKEN".to_owned()),
            Some((path, made)) => {
                let path = path.display().to_string();
                let said = match made {
                    Some(text) => format!("a new token is in {path}: {text}\n"),
                    None => format!("the token is in {path}\n"),
                };
                (said, format!("$(cat '{}')", path.replace('\'', "'\\''")))
            }
        };
        format!(
            "serving MCP at {url}\n{said}claude mcp add --transport http tmux {url} \
             --header \"Authorization: Bearer {shown}\"\n"
        )
    }

    /// Serves all who come until `stop` is tripped. Then quick calls may end, waits are cut short and
    /// answered, streams closed.
    pub(crate) async fn serve(self, app: Arc<App>, stop: CancellationToken) {
        let Self { listener, address, token, .. } = self;
        let streams = CancellationToken::new();
        let gate = Arc::new(Gate::new(token, service(&app, address, streams.clone())));
        let mut open = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                Some(_) = open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) if open.len() < CONNECTIONS => {
                    open.spawn(connection(stream, Arc::clone(&gate), stop.clone()));
                }
                Ok((stream, _)) => drop(stream.try_write(NO_ROOM)),
                Err(error) => {
                    tracing::warn!("a connection could not be taken: {error}");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
        drop(listener);
        for end in [&app.ending, &streams] {
            all_gone(&mut open).await;
            end.cancel();
        }
        all_gone(&mut open).await;
    }
}

/// Waits for the end of all connections, but not for long.
async fn all_gone(open: &mut JoinSet<()>) {
    let _ = tokio::time::timeout(GRACE, async { while open.join_next().await.is_some() {} }).await;
}

/// rmcp's service. It makes a handler for every session, and in the newest revision for every request.
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
    sessions.session_config.keep_alive = Some(IDLE);
    let app = Arc::clone(app);
    let handler = move || Ok(Handler::for_http(Arc::clone(&app)));
    StreamableHttpService::new(handler, Arc::new(sessions), config)
}

async fn connection(stream: TcpStream, gate: Arc<Gate>, stop: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("answers may be delayed: {error}");
    }
    let service = service_fn(move |request| {
        let gate = Arc::clone(&gate);
        async move { Ok::<_, Infallible>(gate.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_header_size(HEAD_SIZE)
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
        tracing::debug!("a connection ended badly: {error}");
    }
}
