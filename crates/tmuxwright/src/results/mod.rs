//! Answers that several tools share: sessions, windows and panes, their ids, a command's result, the
//! result of a wait. The field names are a contract.

pub(crate) mod command;
pub(crate) mod filter;
pub(crate) mod ids;
pub(crate) mod objects;
pub(crate) mod other_shell;
pub(crate) mod side_by_side;
pub(crate) mod typed;
pub(crate) mod wait;
pub(crate) mod words;
