//! The names in a request: its `Host`, its target and the `Origin` of the page that sent it. Checking
//! them stops DNS rebinding and requests of foreign web pages.

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Scheme;
use http::{HeaderMap, HeaderName, Uri};

use crate::config::authority::{Authority, Origin};
use crate::config::http::HttpSettings;

/// The hosts and origins that requests may name.
#[derive(Debug)]
pub(super) struct AllowedNames {
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
}

/// Why the names in a request are refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameError {
    /// They are missing, given twice, or contradict each other.
    Malformed(&'static str),
    /// No rule admits them.
    NotAllowed,
}

impl AllowedNames {
    /// The names of this machine, the address that is listened on, and those in the settings.
    pub(super) fn new(settings: &HttpSettings, listening: IpAddr) -> Self {
        let here = Some(listening).filter(|ip| !ip.is_unspecified()).map(Authority::from);
        let hosts = Authority::loopback().into_iter().chain(here);
        let origins = Origin::loopback().into_iter();
        Self {
            hosts: hosts.chain(settings.hosts.iter().cloned()).collect(),
            origins: origins.chain(settings.origins.iter().cloned()).collect(),
        }
    }

    /// Checks the target and the headers of a request.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), NameError> {
        let host = match texts(headers, &HOST).as_slice() {
            [Some(host)] => Authority::parse(host),
            _ => return Err(NameError::Malformed("send exactly one Host header")),
        };
        let host = host.ok_or(NameError::Malformed("the Host header is not a host and a port"))?;
        // In the form for proxies (`GET http://host/path`) the target names the host once more.
        if let Some(named) = target.authority() {
            let is_plain = target.scheme() == Some(&Scheme::HTTP);
            if !is_plain || Authority::parse(named.as_str()).as_ref() != Some(&host) {
                return Err(NameError::Malformed("the target and the Host header differ"));
            }
        }
        if !self.hosts.iter().any(|allowed| allowed.admits(&host)) {
            return Err(NameError::NotAllowed);
        }
        let origin = match texts(headers, &ORIGIN).as_slice() {
            [] => return Ok(()),
            [Some(origin)] => Origin::parse(origin),
            _ => None,
        };
        match origin {
            Some(origin) if self.origins.iter().any(|allowed| allowed.admits(&origin)) => Ok(()),
            _ => Err(NameError::NotAllowed),
        }
    }
}

/// The values of a header, `None` for one that is not text.
fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<Option<&'a str>> {
    headers.get_all(name).iter().map(|value| value.to_str().ok()).collect()
}
