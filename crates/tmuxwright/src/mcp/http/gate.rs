//! What every request has to pass: the token before anything else is looked at, then Host and
//! Origin, then the limits.

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

use super::PATH;
use crate::config::http::Token;
use crate::mcp::Handler;

/// How many requests may be under way. A call that waits is one, and so is a stream of
/// notifications.
const REQUESTS: usize = 192;

type Bytestream = BoxBody<Bytes, Infallible>;
type Answer = Response<Bytestream>;

/// The way in.
pub(super) struct Gate {
    token: Token,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    free: Arc<Semaphore>,
}

impl Gate {
    /// A way to `mcp` for those who have the token.
    pub(super) fn new(
        token: Token,
        mcp: StreamableHttpService<Handler, LocalSessionManager>,
    ) -> Self {
        Self { token, mcp, free: Arc::new(Semaphore::new(REQUESTS)) }
    }

    /// Answers one request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        match bearer(request.headers()) {
            Some(token) if self.token.is(token) => {}
            shown => return unauthorized(shown.is_some()),
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, &format!("there is nothing here but {PATH}"), &[]);
        }
        let Ok(place) = Arc::clone(&self.free).try_acquire_owned() else {
            let text = format!("{REQUESTS} requests are under way; try again when one has ended");
            let later = (RETRY_AFTER, HeaderValue::from_static("1"));
            return plain(StatusCode::SERVICE_UNAVAILABLE, &text, &[later]);
        };
        let answer = self.mcp.handle(request).await;
        if answer.status() == StatusCode::FORBIDDEN {
            let text = "this Host or Origin is not allowed; if it should be, name it in \
                        `http.hosts` or `http.origins` of the config file";
            return plain(StatusCode::FORBIDDEN, text, &[]);
        }
        answer.map(|body| Held { body, _place: place }.boxed())
    }
}

/// An answer that takes its place until its last byte is sent or its client has gone.
struct Held {
    body: Bytestream,
    _place: OwnedSemaphorePermit,
}

impl Body for Held {
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

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The rest of such a request is not read, so the connection ends with the answer.
fn unauthorized(shown: bool) -> Answer {
    let (text, challenge) = match shown {
        true => ("this is not the token", "Bearer realm=\"tmuxwright\", error=\"invalid_token\""),
        false => ("a token is needed", "Bearer realm=\"tmuxwright\""),
    };
    let text = format!(
        "{text}: send `Authorization: Bearer TOKEN`; tmuxwright says at its start where the token is"
    );
    let headers = [
        (WWW_AUTHENTICATE, HeaderValue::from_static(challenge)),
        (CONNECTION, HeaderValue::from_static("close")),
    ];
    plain(StatusCode::UNAUTHORIZED, &text, &headers)
}

fn plain(status: StatusCode, text: &str, headers: &[(HeaderName, HeaderValue)]) -> Answer {
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

    fn shown(values: &[&'static str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, HeaderValue::from_static(value));
        }
        bearer(&headers).map(str::to_owned)
    }

    #[test]
    fn one_header_shows_one_token() {
        for value in ["Bearer abc", "bearer abc", "BEARER  abc "] {
            assert_eq!(shown(&[value]).as_deref(), Some("abc"), "{value}");
        }
        for none in [&[][..], &["abc"], &["Basic abc"], &["Bearer"], &["Bearer a", "Bearer b"]] {
            assert_eq!(shown(none), None, "{none:?}");
        }
    }
}
