//! The output of one command, however much: kept in little memory, and shown in readable parts.
//! Knows neither tmux nor tools; `show` alone knows what an agent can ask for.

mod grep;
mod show;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use show::{Wish, show};
pub(crate) use store::Transcript;
pub(crate) use view::View;
