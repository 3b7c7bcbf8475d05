//! Settings of the HTTP transport, and their validation.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::authority::{Authority, Origin};
use super::directories::state_file;

/// Length below which a token could be guessed.
const MIN_TOKEN_CHARS: usize = 16;

/// Settings of the HTTP transport.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// Address to listen on; none if HTTP is off.
    pub listen: Option<SocketAddr>,
    /// Token from the environment.
    pub token: Option<HttpToken>,
    /// File that holds the token, if one was named.
    pub token_file: Option<PathBuf>,
    /// Whether the address may be reachable from other machines.
    pub allow_remote: bool,
    /// Accepted host names, besides loopback names.
    pub hosts: Vec<Authority>,
    /// Accepted origins of web pages, besides loopback origins.
    pub origins: Vec<Origin>,
}

/// The bearer token of HTTP clients. Only its digest is kept, so it cannot be printed by accident, and
/// comparing digests leaks nothing through timing.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpToken([u8; 32]);

impl fmt::Debug for HttpToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpToken")
    }
}

impl HttpToken {
    /// A token with this text. Fails if it is too short or cannot be sent in a header.
    pub fn new(text: &str) -> Result<Self, String> {
        let length = text.chars().count();
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err("the token may contain only ASCII letters, digits and punctuation, \
                        no spaces"
                .to_owned());
        }
        if length < MIN_TOKEN_CHARS {
            return Err(format!(
                "the token has {length} characters, fewer than {MIN_TOKEN_CHARS}; make one with \
                 `openssl rand -hex 32`"
            ));
        }
        Ok(Self::digest(text))
    }

    /// A token from the text of a setting; an empty text means no token.
    pub(super) fn optional(text: &str) -> Result<Option<Self>, String> {
        if text.is_empty() { Ok(None) } else { Self::new(text).map(Some) }
    }

    /// Whether this is the token's text.
    pub fn is(&self, text: &str) -> bool {
        *self == Self::digest(text)
    }

    fn digest(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl HttpSettings {
    /// Refuses settings that contradict each other.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(listen) = self.listen else { return Ok(()) };
        if cfg!(not(feature = "http")) {
            return Err("--http: this tmuxwright was built without the cargo feature `http`".into());
        }
        if !listen.ip().is_loopback() && !self.allow_remote {
            return Err(format!(
                "--http: other machines can reach {listen}, and anyone with the token can run \
                 commands here; listen on 127.0.0.1, or add --http-allow-remote to allow it"
            ));
        }
        if self.token.is_some() && self.token_file.is_some() {
            return Err("TMUXWRIGHT_HTTP_TOKEN and --http-token-file: give only one of them".into());
        }
        Ok(())
    }
}

/// The default token file. It outlives the server, so that clients need no new token after a restart.
pub fn default_token_file() -> Option<PathBuf> {
    state_file("http-token")
}

/// Parses an address to listen on. Empty means none.
pub(super) fn address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let numbers = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numbers.as_deref().unwrap_or(text).parse().map(Some).map_err(|_| {
        format!("`{text}` is not an address with a port, such as 127.0.0.1:8765 or [::1]:8765")
    })
}

/// Parses host names, one per line. An IPv6 address needs no brackets.
pub(super) fn hosts<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Authority>, String> {
    lines
        .map(|line| match line.parse::<IpAddr>() {
            Ok(address) => Ok(address.into()),
            Err(_) => Authority::parse(line)
                .ok_or_else(|| format!("`{line}` is not a host name, such as `box.lan`")),
        })
        .collect()
}

/// Parses origins of web pages, one per line. One without a port gets its scheme's default port, as in
/// a browser.
pub(super) fn origins<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<Origin>, String> {
    lines
        .map(|line| {
            Origin::parse_rule(line).ok_or_else(|| {
                format!(
                    "`{line}` is not an origin, such as `https://app.example` or `http://box.lan:*`"
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_matches_only_its_exact_text() {
        let token = HttpToken::new("0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef "] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "HttpToken");
    }

    #[test]
    fn short_or_unsendable_token_is_refused() {
        for wrong in ["", "short", "0123456789abcde", "0123456789 abcdef", "0123456789abcdéf"] {
            let error = HttpToken::new(wrong).unwrap_err();
            assert!(wrong.is_empty() || !error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn address_needs_a_port() {
        for (text, address) in [
            ("127.0.0.1:8765", "127.0.0.1:8765"),
            ("[::1]:0", "[::1]:0"),
            ("localhost:1", "127.0.0.1:1"),
        ] {
            assert_eq!(super::address(text).unwrap().unwrap().to_string(), address);
        }
        assert_eq!(address(""), Ok(None));
        for wrong in ["8765", "127.0.0.1", "::1", "localhost", "localhost:x", "box.lan:80"] {
            assert!(address(wrong).unwrap_err().contains(wrong));
        }
    }

    #[test]
    fn origin_needs_a_scheme_and_gets_a_port() {
        for (text, same) in [
            ("https://app.example", "https://app.example:443"),
            ("http://box.lan", "http://box.lan:80"),
            ("http://[fd00::1]", "http://[fd00::1]:80"),
            ("http://[fd00::1]:81", "http://[fd00::1]:81"),
        ] {
            assert_eq!(origins([text].into_iter()), origins([same].into_iter()));
        }
        assert!(origins(["http://box.lan:*"].into_iter()).is_ok());
        for wrong in ["app.example", "null", "*", "ftp://x", "https://", "https://*", "http://x/y"]
        {
            assert!(origins([wrong].into_iter()).unwrap_err().contains(wrong), "{wrong}");
        }
        for wrong in ["http://x:", "http://x:99999", "http://x:1:*"] {
            assert!(origins([wrong].into_iter()).is_err(), "{wrong}");
        }
        assert!(hosts(["box.lan", "box.lan:80", "::1", "[::1]:80"].into_iter()).is_ok());
        assert!(hosts(["http://box.lan"].into_iter()).is_err());
    }
}
