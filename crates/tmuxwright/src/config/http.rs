//! What can be said about serving over HTTP.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::directories::state_file;

/// Fewer characters can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// How to serve over HTTP.
#[derive(Debug, Clone, Default)]
pub struct Http {
    /// Where to listen, if at all.
    pub listen: Option<SocketAddr>,
    /// What clients must show, if that was given.
    pub token: Option<Token>,
    /// The file it is in, if one was named.
    pub token_file: Option<PathBuf>,
    /// Whether other machines may get there.
    pub allow_remote: bool,
    /// Names of this machine, beside loopback's.
    pub hosts: Vec<String>,
    /// Web pages that may call, beside loopback's.
    pub origins: Vec<String>,
}

/// What a client must show. Only its digest is kept: that cannot be shown by accident, and to
/// compare it tells nothing by the time it takes.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// The token with this text, if it can be one.
    pub fn new(text: &str) -> Result<Self, String> {
        let length = text.chars().count();
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            return Err("the token holds what no header can: only letters, digits and signs of \
                        ASCII are possible, without blanks"
                .to_owned());
        }
        if length < SHORTEST_TOKEN {
            return Err(format!(
                "the token has {length} characters; at least {SHORTEST_TOKEN} are wanted, such \
                 as those of `openssl rand -hex 32`"
            ));
        }
        Ok(Self::digest(text))
    }

    /// The same for a setting that may be empty.
    pub(super) fn given(text: &str) -> Result<Option<Self>, String> {
        if text.is_empty() { Ok(None) } else { Self::new(text).map(Some) }
    }

    /// Whether this is its text.
    pub fn is(&self, text: &str) -> bool {
        *self == Self::digest(text)
    }

    fn digest(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }
}

impl Http {
    /// Refuses what does not go together.
    pub(super) fn check(&self) -> Result<(), String> {
        let Some(listen) = self.listen else { return Ok(()) };
        if cfg!(not(feature = "http")) {
            return Err("--http: this tmuxwright was built without the cargo feature `http`".into());
        }
        if !listen.ip().is_loopback() && !self.allow_remote {
            return Err(format!(
                "--http: other machines can reach {listen}, and who has the token can run \
                 commands here; listen on 127.0.0.1, or add --http-allow-remote if that is meant"
            ));
        }
        if self.token.is_some() && self.token_file.is_some() {
            return Err("TMUXWRIGHT_HTTP_TOKEN and --http-token-file: give only one of them".into());
        }
        Ok(())
    }
}

/// The file that holds the token when none is named. It outlives the server, so that clients need no
/// new token after every start.
pub fn default_token_file() -> Option<PathBuf> {
    state_file("http-token")
}

/// An address to listen on.
pub(super) fn address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let numbers = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    numbers.as_deref().unwrap_or(text).parse().map(Some).map_err(|_| {
        format!("`{text}` is no address with a port, such as 127.0.0.1:8765 or [::1]:8765")
    })
}

/// Names of this machine.
pub(super) fn hosts<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let known = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    lines
        .map(|line| match !line.is_empty() && line.chars().all(known) {
            true => Ok(line.to_owned()),
            false => Err(format!("`{line}` is no name of a host, such as `box.lan`")),
        })
        .collect()
}

/// Origins of web pages. One without a port means its scheme's, as in a browser.
pub(super) fn origins<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Vec<String>, String> {
    let port = |line: &str| {
        let (scheme, host) = line.split_once("://")?;
        let port = [("http", 80), ("https", 443)].into_iter().find(|(name, _)| *name == scheme)?.1;
        let end = host.rsplit(']').next()?;
        let is_bare = !host.is_empty() && !host.contains(['/', '*', ' ', '?', '#', '@']);
        match end.split_once(':') {
            None => is_bare.then(|| format!("{line}:{port}")),
            Some((_, "*")) => Some(line.to_owned()),
            Some((_, port)) => (is_bare && port.parse::<u16>().is_ok()).then(|| line.to_owned()),
        }
    };
    lines
        .map(|line| {
            port(line).ok_or_else(|| {
                format!(
                    "`{line}` is no origin, such as `https://app.example` or `http://box.lan:*`"
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_text_alone() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.is("0123456789abcdef"));
        for wrong in ["", "0123456789abcde", "0123456789abcdeg", "0123456789abcdef "] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn a_token_that_can_be_guessed_or_not_be_sent_is_none() {
        for wrong in ["", "short", "0123456789abcde", "0123456789 abcdef", "0123456789abcdéf"] {
            let error = Token::new(wrong).unwrap_err();
            assert!(wrong.is_empty() || !error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn addresses_have_a_port() {
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
    fn an_origin_has_a_scheme_and_always_a_port() {
        for (text, origin) in [
            ("https://app.example", "https://app.example:443"),
            ("http://box.lan", "http://box.lan:80"),
            ("http://box.lan:*", "http://box.lan:*"),
            ("http://[fd00::1]", "http://[fd00::1]:80"),
            ("http://[fd00::1]:81", "http://[fd00::1]:81"),
        ] {
            assert_eq!(origins([text].into_iter()).unwrap(), [origin]);
        }
        for wrong in ["app.example", "null", "*", "ftp://x", "https://", "https://*", "http://x/y"]
        {
            assert!(origins([wrong].into_iter()).unwrap_err().contains(wrong), "{wrong}");
        }
        for wrong in ["http://x:", "http://x:99999", "http://x:1:*"] {
            assert!(origins([wrong].into_iter()).is_err(), "{wrong}");
        }
        assert!(hosts(["box.lan", "box.lan:80", "::1"].into_iter()).is_ok());
        assert!(hosts(["http://box.lan"].into_iter()).is_err());
    }
}
