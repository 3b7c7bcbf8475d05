//! Paste buffers.

pub(crate) mod buffers;
pub(crate) mod policy;
pub(crate) mod search;
pub(crate) mod text;
