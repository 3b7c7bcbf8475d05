//! The tmux server of a call, among all that can be reached: its name in answers, and the mark in cursors that keeps
//! them from being used on another server.

use std::path::PathBuf;
use std::sync::Arc;

use tmux_control::Route;

use crate::contract::{Guard, ToolError, shorten};
use crate::host::Host;

/// Separates the server of a cursor from the cursor. Neither digits of cursors nor names hold it.
const TAG_SEPARATOR: char = ':';

/// The longest name that is written into cursors as it is.
const MAX_TAG_BYTES: usize = 40;

/// The tmux server of a call.
#[derive(Debug, Clone)]
pub struct ServerScope {
    name: Arc<str>,
    is_default: bool,
    route: Option<Route>,
    /// The names of all servers that can be reached, this one's too; the default one is first.
    all: Arc<[Arc<str>]>,
}

/// A reachable tmux server, for tools that look at all of them.
#[derive(Clone)]
pub struct ReachableServer {
    /// Its scope.
    pub scope: ServerScope,
    /// The path of its socket, as far as it is known here.
    pub socket: PathBuf,
    /// The server as the MCP client sees it.
    pub host: Arc<Host>,
    /// Its rules.
    pub guard: Arc<dyn Guard>,
}

impl ServerScope {
    /// The scope of the server at this place of the list, of which the first one is the default.
    pub fn new(all: Arc<[Arc<str>]>, place: usize, route: Option<Route>) -> Self {
        let name = all.get(place).map_or_else(|| Arc::from(""), Arc::clone);
        Self { name, is_default: place == 0, route, all }
    }

    /// Its name, as the argument `server` takes it.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether calls without the argument `server` are for it.
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// The way to its system; `None` for this one.
    pub fn route(&self) -> Option<&Route> {
        self.route.as_ref()
    }

    /// Whether it runs on another system.
    pub fn is_remote(&self) -> bool {
        self.route.is_some()
    }

    /// Whether other servers can be reached, so that answers name theirs.
    pub fn has_others(&self) -> bool {
        self.all.len() > 1
    }

    /// A cursor of this server as text.
    pub(crate) fn tagged(&self, cursor: String) -> String {
        match self.has_others() {
            true => format!("{}{TAG_SEPARATOR}{cursor}", tag(&self.name)),
            false => cursor,
        }
    }

    /// The cursor in a text of [`tagged`](Self::tagged). An error that names the server if it is another one's.
    pub(crate) fn untagged<'a>(&self, text: &'a str) -> Result<&'a str, ToolError> {
        let Some((theirs, cursor)) = text.trim().rsplit_once(TAG_SEPARATOR) else {
            return Ok(text);
        };
        if theirs == tag(&self.name) {
            return Ok(cursor);
        }
        Err(match self.all.iter().find(|name| tag(name) == theirs) {
            Some(other) => self.elsewhere("the cursor", other),
            None => {
                let shown: String = theirs.chars().take(MAX_TAG_BYTES).collect();
                let what = format!("the cursor is of server `{shown}`, which cannot be reached");
                ToolError::invalid_argument(what).hint("call with `target` alone to start anew")
            }
        })
    }

    /// The error for something of another server, which is named by the call.
    pub fn elsewhere(&self, subject: &str, other: &str) -> ToolError {
        ToolError::invalid_argument(format!(
            "{subject} is of server `{other}`, but the call is for `{}`",
            self.name
        ))
        .hint(format!("call again with `server`: `{other}`"))
    }

    /// The other servers, in words; empty if there are none.
    pub fn other_names(&self) -> String {
        let others: Vec<&Arc<str>> = self.all.iter().filter(|name| **name != self.name).collect();
        shorten(&others)
    }
}

/// The mark of a server in cursors: its name, or a hash of a name that is too long or has blanks.
fn tag(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if name.len() <= MAX_TAG_BYTES && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(names: &[&str]) -> Vec<ServerScope> {
        let all: Arc<[Arc<str>]> = names.iter().map(|name| Arc::from(*name)).collect();
        (0..names.len()).map(|place| ServerScope::new(Arc::clone(&all), place, None)).collect()
    }

    #[test]
    fn cursor_is_refused_on_another_server() {
        let long = format!("/tmp/a b:{}", "x".repeat(60));
        let all = scopes(&["default", "b-1.c", &long]);
        for scope in &all {
            let text = scope.tagged("Ab-_9".to_owned());
            assert!(!text.contains(' ') && text.len() < 60, "{text}");
            for other in &all {
                match (scope.name() == other.name(), other.untagged(&text)) {
                    (true, read) => assert_eq!(read.unwrap(), "Ab-_9"),
                    (false, read) => {
                        let error = read.unwrap_err().to_string();
                        assert!(error.contains(&format!("`{}`", scope.name())), "{error}");
                    }
                }
            }
        }
        let error = all[0].untagged("gone:Ab").unwrap_err().to_string();
        assert!(error.contains("`gone`") && error.contains("cannot be reached"), "{error}");
    }

    #[test]
    fn single_server_leaves_no_mark() {
        let one = &scopes(&["default"])[0];
        assert_eq!(one.tagged("Ab".to_owned()), "Ab");
        assert_eq!(one.untagged("Ab").unwrap(), "Ab");
        assert!(!one.has_others() && one.other_names().is_empty());
    }
}
