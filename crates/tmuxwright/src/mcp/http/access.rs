//! Access checks of HTTP requests: the token first, then the path, `Host` and `Origin`, and the numbers of
//! requests and sessions.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::MCP_PATH;
use super::connections::{Connection, MAX_CONNECTIONS, RequestInProgress};
use super::names::{AllowedNames, NameError};
use super::sessions::{LimitedSessions, MAX_SESSIONS};
use crate::config::http::HttpToken;
use crate::mcp::Handler;

/// Concurrent requests. A waiting call counts as one, and so does a stream of notifications.
const MAX_REQUESTS: usize = 192;

// Else a connection without a request could be missing when one has to be closed.
const _: () = assert!(MAX_REQUESTS < MAX_CONNECTIONS, "a connection must be free to be closed");

/// Header of a request that belongs to a session.
const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// Header with the protocol revision of a request.
const REVISION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

type Bytestream = BoxBody<Bytes, Infallible>;
type HttpResponse = Response<Bytestream>;

/// Checks requests and passes them to rmcp's service.
pub(super) struct AccessCheck {
    token: HttpToken,
    names: AllowedNames,
    sessions: Arc<LimitedSessions>,
    mcp: StreamableHttpService<Handler, LimitedSessions>,
    permits: Arc<Semaphore>,
}

impl AccessCheck {
    /// Access to `mcp`, which keeps `sessions`, for requests with the token and allowed names.
    pub(super) fn new(
        token: HttpToken,
        names: AllowedNames,
        sessions: Arc<LimitedSessions>,
        mcp: StreamableHttpService<Handler, LimitedSessions>,
    ) -> Self {
        Self { token, names, sessions, mcp, permits: Arc::new(Semaphore::new(MAX_REQUESTS)) }
    }

    /// Answers one request of a connection.
    pub(super) async fn handle(
        &self,
        request: Request<Incoming>,
        connection: &Arc<Connection>,
    ) -> HttpResponse {
        match bearer(request.headers()) {
            Some(token) if self.token.is(token) => {}
            shown => return unauthorized(shown.is_some()),
        }
        let in_progress = connection.begin_request();
        if request.uri().path() != MCP_PATH {
            return plain(
                StatusCode::NOT_FOUND,
                &format!("not found; MCP is served at {MCP_PATH}"),
                &[],
            );
        }
        if let Err(why) = self.names.check(request.uri(), request.headers()) {
            return refused_names(&why);
        }
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return busy(format!(
                "{MAX_REQUESTS} requests are in progress; retry when one has ended"
            ));
        };
        if begins_session(&request) && !self.sessions.has_room() {
            return busy(format!(
                "{MAX_SESSIONS} MCP sessions are open and in use; end one with DELETE, or wait until \
                 one has been idle for an hour"
            ));
        }
        let answer = self.mcp.handle(request).await;
        answer.map(|body| CountedBody { body, _permit: permit, _in_progress: in_progress }.boxed())
    }
}

/// Whether a request may begin a session. Requests of the stateless revision do not.
fn begins_session<T>(request: &Request<T>) -> bool {
    let headers = request.headers();
    let stateless = ProtocolVersion::V_2026_07_28;
    request.method() == Method::POST
        && !headers.contains_key(SESSION_HEADER)
        && headers.get(REVISION_HEADER).is_none_or(|revision| revision != stateless.as_str())
}

/// A response body that holds a request's permit until its last byte is sent or its client has
/// disconnected.
struct CountedBody {
    body: Bytestream,
    _permit: OwnedSemaphorePermit,
    _in_progress: RequestInProgress,
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The bearer token of a request. None if there are several `Authorization` headers.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The 401 response. It closes the connection, because the request's body is not read.
fn unauthorized(shown: bool) -> HttpResponse {
    let (text, challenge) = match shown {
        true => ("wrong token", "Bearer realm=\"tmuxwright\", error=\"invalid_token\""),
        false => ("token required", "Bearer realm=\"tmuxwright\""),
    };
    let text = format!(
        "{text}: send `Authorization: Bearer TOKEN`; tmuxwright prints the token's location at start"
    );
    let headers = [
        (WWW_AUTHENTICATE, HeaderValue::from_static(challenge)),
        (CONNECTION, HeaderValue::from_static("close")),
    ];
    plain(StatusCode::UNAUTHORIZED, &text, &headers)
}

/// The response to a request whose `Host`, target or `Origin` is refused. It closes the connection,
/// because the request's body is not read.
fn refused_names(why: &NameError) -> HttpResponse {
    let close = [(CONNECTION, HeaderValue::from_static("close"))];
    match why {
        NameError::Malformed(why) => plain(StatusCode::BAD_REQUEST, why, &close),
        NameError::NotAllowed => {
            let text = "this Host or Origin is not allowed; to allow it, add it to `http.hosts` \
                        or `http.origins` in the config file";
            plain(StatusCode::FORBIDDEN, text, &close)
        }
    }
}

/// The 503 response.
fn busy(text: String) -> HttpResponse {
    let later = (RETRY_AFTER, HeaderValue::from_static("1"));
    plain(StatusCode::SERVICE_UNAVAILABLE, &text, &[later])
}

fn plain(status: StatusCode, text: &str, headers: &[(HeaderName, HeaderValue)]) -> HttpResponse {
    let mut answer = Response::new(Full::from(format!("{text}\n")).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer.headers_mut().extend(headers.iter().cloned());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_of(values: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn token_is_read_from_a_single_header() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            assert_eq!(token_of(&[value]).as_deref(), Some("abc"), "{value}");
        }
        for none in [&[][..], &["abc"], &["Basic abc"], &["Bearer"], &["Bearer a", "Bearer b"]] {
            assert_eq!(token_of(none), None, "{none:?}");
        }
    }
}
