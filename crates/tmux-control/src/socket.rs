//! Addresses of tmux servers: the default socket, a named one (`-L`) or a path (`-S`).

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The length limit of a Unix socket's path, without its closing NUL.
const MAX_SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The address of a tmux server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Socket {
    /// The server that `tmux` connects to without `-L` or `-S`.
    Default,
    /// A name below tmux's socket directory, as in `tmux -L name`.
    Name(String),
    /// A path, as in `tmux -S path`.
    Path(PathBuf),
}

impl Socket {
    /// Parses a user's text: with a slash it is a path, otherwise a name.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::BadSocket { socket: text.to_owned(), why: "it is empty" });
        }
        if text.contains('/') {
            if text.len() > MAX_SOCKET_PATH_BYTES {
                return Err(Error::BadSocket {
                    socket: text.to_owned(),
                    why: "the path is longer than a socket path may be",
                });
            }
            return Ok(Self::Path(PathBuf::from(text)));
        }
        Ok(Self::Name(text.to_owned()))
    }

    /// The socket named in a `$TMUX` value (`path,pid,session`).
    pub fn from_tmux_variable(value: &str) -> Option<Self> {
        let path = value.rsplitn(3, ',').nth(2)?;
        (!path.is_empty()).then(|| Self::Path(PathBuf::from(path)))
    }

    /// The arguments that make `tmux` use this socket.
    pub fn args(&self) -> Vec<String> {
        match self {
            Self::Default => Vec::new(),
            Self::Name(name) => vec!["-L".to_owned(), name.clone()],
            Self::Path(path) => vec!["-S".to_owned(), path.to_string_lossy().into_owned()],
        }
    }

    /// The path of the socket file, by tmux's own rules.
    pub fn path(&self) -> PathBuf {
        let name = match self {
            Self::Path(path) => return path.clone(),
            Self::Name(name) => name,
            Self::Default => "default",
        };
        Self::directory().join(name)
    }

    /// The directory of tmux's named sockets. It may not exist yet.
    pub fn directory() -> PathBuf {
        let base = env::var_os("TMUX_TMPDIR")
            .map(PathBuf::from)
            .filter(|dir| dir.is_dir())
            .unwrap_or_else(|| PathBuf::from("/tmp"));
        let base = base.canonicalize().unwrap_or(base);
        base.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
    }

    /// Whether both addresses lead to the same socket file.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        real(&self.path()) == real(&other.path())
    }
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path().display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_with_a_slash_is_a_path() {
        assert_eq!(Socket::parse("work").unwrap(), Socket::Name("work".into()));
        assert_eq!(Socket::parse("/tmp/s").unwrap(), Socket::Path("/tmp/s".into()));
        assert_eq!(Socket::parse("./s").unwrap().args(), ["-S", "./s"]);
        assert!(Socket::parse("").is_err());
    }

    #[test]
    fn path_over_the_length_limit_is_refused() {
        let error = Socket::parse(&format!("/{}", "x".repeat(200))).unwrap_err();
        assert!(error.to_string().contains("longer than a socket path may be"), "{error}");
    }

    #[test]
    fn tmux_variable_path_may_hold_commas() {
        assert_eq!(
            Socket::from_tmux_variable("/tmp/a,b/default,123,0"),
            Some(Socket::Path("/tmp/a,b/default".into()))
        );
        assert_eq!(Socket::from_tmux_variable("nonsense"), None);
    }
}
