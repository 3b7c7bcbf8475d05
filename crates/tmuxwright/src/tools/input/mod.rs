//! Tools of the group `input`: typing and pasting.

mod paste_buffer;
mod paste_text;
mod send_keys;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<send_keys::SendKeys>(),
    Entry::of::<paste_text::PasteText>(),
    Entry::of::<paste_buffer::PasteBuffer>(),
];
