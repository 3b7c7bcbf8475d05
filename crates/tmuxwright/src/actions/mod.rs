//! Steps that several tools share: creating, starting, typing, reading, arranging, waiting. Each goes
//! through the call context, which asks the policy.

pub(crate) mod arrange;
pub(crate) mod create;
pub(crate) mod cursor;
pub(crate) mod find_lines;
pub(crate) mod options;
pub(crate) mod read;
pub(crate) mod start;
pub(crate) mod typing;
pub(crate) mod wait;
pub(crate) mod wait_after_typing;
