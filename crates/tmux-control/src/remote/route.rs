//! The way to another system, checked when it is configured.

use std::fmt;

/// The way to another system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Route {
    /// OpenSSH.
    Ssh {
        /// Options of `ssh`.
        options: Vec<String>,
        /// The host, with the user if one is given.
        destination: String,
    },
    /// A command that runs the program behind its last word there, with stdin and stdout.
    Command(Vec<String>),
}

impl Route {
    /// Parses `[options] destination`, split by the rules of a shell.
    pub fn ssh(text: &str) -> Result<Self, String> {
        let mut options =
            shlex::split(text).ok_or_else(|| format!("`{text}` has an open quote"))?;
        match options.pop() {
            Some(destination) if !destination.starts_with('-') => {
                Ok(Self::Ssh { options, destination })
            }
            _ => Err(format!("`{text}` names no destination, such as `user@host`")),
        }
    }

    /// The way through a command, such as `docker exec -i box`.
    pub fn command(words: Vec<String>) -> Result<Self, String> {
        match words.first() {
            Some(program) if !program.is_empty() => Ok(Self::Command(words)),
            _ => Err("it is empty; give a command such as `docker exec -i box`".to_owned()),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { destination, .. } => f.write_str(destination),
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}
