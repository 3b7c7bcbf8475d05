//! Search in paste buffers of any size: the content comes in pieces, of which little is held at a time.
//! Pure: it does not know tmux.

mod extract;
mod hits;
mod pattern;
mod search;
#[cfg(test)]
mod tests;
mod windows;

pub(crate) use extract::Extract;
pub(crate) use hits::{Hit, HitList};
pub(crate) use pattern::BufferPattern;
pub(crate) use search::BufferSearch;
