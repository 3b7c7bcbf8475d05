//! Transcripts: the output lines of one command, stored in little memory and shown in excerpts.
//!
//! - `store`: the lines, in memory or in a temporary file.
//! - `view`: the stored and the pending lines as one sequence. `grep`: search in it.
//! - `excerpt`: the lines that a caller selects, cut to a length.

mod excerpt;
mod grep;
mod store;
#[cfg(test)]
mod tests;
mod view;

pub use excerpt::{Excerpt, LineSelection, excerpt};
pub use store::Transcript;
pub use view::{Mask, MaskBytes, TranscriptView};
