//! Parsing of setting values.

use std::fmt;
use std::path::{self, PathBuf};
use std::str::FromStr;

use strum::VariantNames;
use tmux_control::{Route, Socket};

use crate::contract::expand_home;
use crate::host::project_socket;

/// Parses a number within bounds.
pub(super) fn number<N: FromStr + PartialOrd + fmt::Display>(
    text: &str,
    from: N,
    to: N,
) -> Result<N, String> {
    match text.parse() {
        Ok(number) if (&from..=&to).contains(&&number) => Ok(number),
        _ => Err(format!("`{text}` is not a number from {from} to {to}")),
    }
}

/// Parses a path, expands `~` and makes it absolute. An empty text turns a setting off.
pub(super) fn path(text: &str) -> Result<Option<PathBuf>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let path = path::absolute(expand_home(text));
    path.map(Some).map_err(|error| format!("`{text}`: {error}"))
}

/// The beginning of a socket that is derived from a directory.
const PROJECT_PREFIX: &str = "auto:";

/// Parses a socket: a path, a name, or `auto:DIR` for that of a project, by default the current directory.
pub(super) fn socket(text: &str) -> Result<Socket, String> {
    let Some(directory) = text.strip_prefix(PROJECT_PREFIX) else {
        return Socket::parse(text).map_err(|error| error.to_string());
    };
    let named = if directory.is_empty() { PathBuf::from(".") } else { expand_home(directory) };
    match named.canonicalize() {
        Ok(path) if path.is_dir() => project_socket(&path).map(Socket::Name),
        _ => Err(format!("`{text}`: `{}` is not a directory", named.display())),
    }
}

/// Parses the way to another host. An empty text means none.
pub(super) fn ssh(text: &str) -> Result<Option<Route>, String> {
    if text.is_empty() { Ok(None) } else { Route::ssh(text).map(Some) }
}

/// Parses a command that runs programs on another system, split by the rules of a shell. An empty text means none.
pub(super) fn via(text: &str) -> Result<Option<Route>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let words = shlex::split(text).ok_or_else(|| format!("`{text}` has an open quote"))?;
    Route::command(words).map(Some)
}

/// Parses a switch.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

/// Parses a variant of an enum.
pub(super) fn choice<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not one of {}", T::VARIANTS.join(", ")))
}
