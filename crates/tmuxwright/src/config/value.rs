//! Values of settings, from text.

use std::env;
use std::fmt;
use std::path::{self, PathBuf};
use std::str::FromStr;

/// A number within bounds.
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

/// A path as people write it, absolute from now on. None at all turns a setting off.
pub(super) fn path(text: &str) -> Result<Option<PathBuf>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    let below = text.strip_prefix("~/").and_then(|below| Some(home?.join(below)));
    let path = path::absolute(below.unwrap_or_else(|| text.into()));
    path.map(Some).map_err(|error| format!("`{text}`: {error}"))
}

/// On or off.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}
