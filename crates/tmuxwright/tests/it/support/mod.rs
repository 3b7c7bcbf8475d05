//! What the tests share: calls, what a tmux server holds, messages by hand, made-up arguments.

mod calls;
pub(crate) mod made_up;
pub(crate) mod wire;
pub(crate) mod world;

pub(crate) use calls::*;
