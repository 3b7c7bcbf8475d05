//! Parsing of setting values.

use std::fmt;
use std::path::{self, PathBuf};
use std::str::FromStr;

use strum::VariantNames;

use crate::contract::expand_home;

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
