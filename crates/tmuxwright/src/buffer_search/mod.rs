//! Finding things in text that comes piece by piece and of which little is held at a time. Pure:
//! where the pieces come from is not known here.

mod extract;
mod found;
mod pattern;
mod search;
#[cfg(test)]
mod tests;
mod windows;

pub(crate) use extract::Extract;
pub(crate) use found::{Found, Hit};
pub(crate) use pattern::Pattern;
pub(crate) use search::Search;
