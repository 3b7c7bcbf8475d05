//! Hosts and origins of HTTP requests, parsed strictly: text that two programs could read in two ways is
//! refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host with or without a port, as in a `Host` header: `box.lan`, `127.0.0.1:80`, `[::1]:80`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    host: HostName,
    port: Option<u16>,
}

/// A host by address or by name, so that two spellings of an address are the same host.
#[derive(Debug, Clone, PartialEq, Eq)]
enum HostName {
    Ip(IpAddr),
    /// In lower case.
    Name(String),
}

impl From<IpAddr> for Authority {
    fn from(address: IpAddr) -> Self {
        Self { host: HostName::Ip(address), port: None }
    }
}

impl Authority {
    /// The names of this machine, on any port.
    pub fn loopback() -> [Self; 3] {
        let name = Self { host: HostName::Name("localhost".to_owned()), port: None };
        [name, IpAddr::from(Ipv4Addr::LOCALHOST).into(), IpAddr::from(Ipv6Addr::LOCALHOST).into()]
    }

    /// Parses a `Host` header. `None` for everything else that a URL may hold there: user names, zones,
    /// escapes, empty or signed ports.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                (HostName::Ip(address.parse::<Ipv6Addr>().ok()?.into()), rest)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (name, rest) = text.split_at_checked(end)?;
                (HostName::parse(name)?, rest)
            }
        };
        let port = match rest {
            "" => None,
            rest => Some(parse_port(rest.strip_prefix(':')?)?),
        };
        Some(Self { host, port })
    }

    /// Whether this rule admits a host: without a port it admits all ports.
    pub fn admits(&self, given: &Self) -> bool {
        self.host == given.host && (self.port.is_none() || self.port == given.port)
    }
}

impl HostName {
    fn parse(text: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if text.is_empty() || !text.chars().all(is_plain) {
            return None;
        }
        Some(match text.parse::<Ipv4Addr>() {
            Ok(address) => Self::Ip(address.into()),
            Err(_) => Self::Name(text.to_ascii_lowercase()),
        })
    }
}

/// Parses a port. Unlike `u16::from_str` it accepts no sign.
fn parse_port(text: &str) -> Option<u16> {
    if text.chars().all(|c| c.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The origin of a web page, or a rule for origins: without a port it admits all ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: &'static str,
    authority: Authority,
}

/// The schemes of origins, with their default ports.
const SCHEMES: [(&str, u16); 2] = [("http", 80), ("https", 443)];

impl Origin {
    /// The origins of pages that this machine serves, on any port.
    pub fn loopback() -> [Self; 3] {
        Authority::loopback().map(|authority| Self { scheme: "http", authority })
    }

    /// Parses an `Origin` header. `None` for `null`, and for everything that a browser does not send:
    /// other schemes, paths, user names.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let (scheme, port) = SCHEMES.into_iter().find(|(name, _)| *name == scheme)?;
        let authority = Authority::parse(rest)?;
        let port = Some(authority.port.unwrap_or(port));
        Some(Self { scheme, authority: Authority { port, ..authority } })
    }

    /// Parses a rule: an origin, or one with `:*` in place of the port.
    pub fn parse_rule(text: &str) -> Option<Self> {
        let Some(host) = text.strip_suffix(":*") else { return Self::parse(text) };
        let (scheme, authority) = host.split_once("://")?;
        let (scheme, _) = SCHEMES.into_iter().find(|(name, _)| *name == scheme)?;
        let authority = Authority::parse(authority).filter(|found| found.port.is_none())?;
        Some(Self { scheme, authority })
    }

    /// Whether this rule admits an origin.
    pub fn admits(&self, given: &Self) -> bool {
        self.scheme == given.scheme && self.authority.admits(&given.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_admitted_by_name_address_and_port() {
        let rule = |text| Authority::parse(text).unwrap();
        for (allowed, given) in [
            ("localhost", "LOCALHOST:80"),
            ("box.lan:80", "Box.Lan:80"),
            ("[::1]", "[0:0::1]:3000"),
            ("127.0.0.1", "127.0.0.1"),
        ] {
            assert!(rule(allowed).admits(&rule(given)), "{given}");
        }
        for (allowed, given) in [
            ("box.lan:80", "box.lan"),
            ("box.lan:80", "box.lan:81"),
            ("localhost", "localhost."),
            ("localhost", "localhost.evil.example"),
            ("127.0.0.1", "127.1"),
            ("127.0.0.1", "2130706433"),
            ("127.0.0.1", "[::ffff:127.0.0.1]"),
        ] {
            assert!(!rule(allowed).admits(&rule(given)), "{given}");
        }
    }

    #[test]
    fn ambiguous_hosts_are_refused() {
        for wrong in [
            "",
            ":80",
            "localhost:",
            "localhost:+80",
            "localhost:99999",
            "localhost:80@evil.example",
            "localhost@evil.example",
            "localhost:3000.evil.example",
            "localhost:80:80",
            "localhost, evil.example",
            " localhost",
            "localhost/",
            "local%68ost",
            "::1",
            "[::1",
            "[::1%25eth0]",
            "[::1]80",
            "[localhost]",
        ] {
            assert_eq!(Authority::parse(wrong), None, "{wrong}");
            assert_eq!(Origin::parse(&format!("http://{wrong}")), None, "{wrong}");
        }
    }

    #[test]
    fn origin_is_admitted_by_scheme_host_and_port() {
        let origin = |text| Origin::parse(text).unwrap();
        let any = Origin::parse_rule("http://box.lan:*").unwrap();
        assert!(any.admits(&origin("http://box.lan")) && any.admits(&origin("http://box.lan:81")));
        assert!(!any.admits(&origin("https://box.lan:81")));
        let one = Origin::parse_rule("https://app.example").unwrap();
        assert!(one.admits(&origin("https://app.example:443")));
        assert!(!one.admits(&origin("https://app.example:8443")));
        for wrong in ["null", "localhost", "file://", "HTTP://localhost", "http://localhost/", "*"]
        {
            assert_eq!(Origin::parse(wrong), None, "{wrong}");
        }
    }
}
