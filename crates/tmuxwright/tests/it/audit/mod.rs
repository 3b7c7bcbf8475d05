//! Tests of the audit log.

pub(crate) mod docs;
pub(crate) mod life;
pub(crate) mod log;
