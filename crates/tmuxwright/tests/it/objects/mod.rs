//! Sessions, windows, panes, and what belongs to them.

pub(crate) mod arrange;
pub(crate) mod caller;
pub(crate) mod clients;
pub(crate) mod input;
pub(crate) mod objects;
pub(crate) mod option_text;
pub(crate) mod options;
pub(crate) mod ownership;
pub(crate) mod panes;
pub(crate) mod pipe;
pub(crate) mod renew;
pub(crate) mod servers;
pub(crate) mod sessions;
pub(crate) mod targets;
pub(crate) mod windows;
