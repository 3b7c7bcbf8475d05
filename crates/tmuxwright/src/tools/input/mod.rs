//! Tools of the group `input`: typing and pasting.

mod paste_buffer;
mod paste_text;
mod send_keys;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<send_keys::SendKeys>(),
    ToolEntry::of::<paste_text::PasteText>(),
    ToolEntry::of::<paste_buffer::PasteBuffer>(),
];
