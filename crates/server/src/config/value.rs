//! Values as people write them.

use std::fmt;
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

/// On or off.
pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "" | "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}
