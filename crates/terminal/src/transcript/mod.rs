//! The output of one command, however much: kept in little memory, and shown in readable parts.
//! Knows neither tmux nor tools; `show` alone knows what an agent can ask for.

mod grep;
mod show;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub use show::{Wish, show};
pub use store::Transcript;
pub use view::View;
