//! Access checks of HTTP requests: the token first, then path, number of requests, Host and Origin.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::MCP_PATH;
use crate::config::http::HttpToken;
use crate::mcp::Handler;

/// Concurrent requests. A waiting call counts as one, and so does a stream of notifications.
const MAX_REQUESTS: usize = 192;

type Bytestream = BoxBody<Bytes, Infallible>;
type HttpResponse = Response<Bytestream>;

/// Checks requests and passes them to rmcp's service.
pub(super) struct AccessCheck {
    token: HttpToken,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    permits: Arc<Semaphore>,
}

impl AccessCheck {
    /// Access to `mcp` for requests with the token.
    pub(super) fn new(
        token: HttpToken,
        mcp: StreamableHttpService<Handler, LocalSessionManager>,
    ) -> Self {
        Self { token, mcp, permits: Arc::new(Semaphore::new(MAX_REQUESTS)) }
    }

    /// Answers one request.
    pub(super) async fn handle(&self, request: Request<Incoming>) -> HttpResponse {
        match bearer(request.headers()) {
            Some(token) if self.token.is(token) => {}
            shown => return unauthorized(shown.is_some()),
        }
        if request.uri().path() != MCP_PATH {
            return plain(
                StatusCode::NOT_FOUND,
                &format!("not found; MCP is served at {MCP_PATH}"),
                &[],
            );
        }
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            let text = format!("{MAX_REQUESTS} requests are in progress; retry when one has ended");
            let later = (RETRY_AFTER, HeaderValue::from_static("1"));
            return plain(StatusCode::SERVICE_UNAVAILABLE, &text, &[later]);
        };
        let answer = self.mcp.handle(request).await;
        if answer.status() == StatusCode::FORBIDDEN {
            let text = "this Host or Origin is not allowed; to allow it, add it to `http.hosts` \
                        or `http.origins` in the config file";
            return plain(StatusCode::FORBIDDEN, text, &[]);
        }
        answer.map(|body| CountedBody { body, _permit: permit }.boxed())
    }
}

/// A response body that holds a request's permit until its last byte is sent or its client has
/// disconnected.
struct CountedBody {
    body: Bytestream,
    _permit: OwnedSemaphorePermit,
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
