//! The source and the documents: layers, sizes, generated pages, claims.

pub(crate) mod allow_lists;
pub(crate) mod capabilities;
pub(crate) mod claims;
pub(crate) mod coming_from;
pub(crate) mod docs;
pub(crate) mod graph;
pub(crate) mod promises;
pub(crate) mod registry;
pub(crate) mod source;
pub(crate) mod words;
