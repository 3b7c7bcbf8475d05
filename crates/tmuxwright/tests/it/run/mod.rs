//! Running commands and talking to interpreters.

pub(crate) mod commands;
pub(crate) mod gate;
pub(crate) mod input;
pub(crate) mod life;
pub(crate) mod output;
pub(crate) mod person;
pub(crate) mod repl;
pub(crate) mod shells;
