//! What calls may not do, whatever their arguments.

pub(crate) mod command_filter;
pub(crate) mod fenced_tools;
pub(crate) mod fences;
pub(crate) mod hands_off;
pub(crate) mod hostile;
pub(crate) mod policy;
pub(crate) mod polite;
pub(crate) mod reading;
pub(crate) mod redaction;
pub(crate) mod secrets;
pub(crate) mod security;
