//! Answers that several tools share: objects of tmux, a command's result, the result of a wait. The field
//! names are a contract.

pub(crate) mod command;
pub(crate) mod filter;
pub mod objects;
pub(crate) mod wait;
pub(crate) mod words;
