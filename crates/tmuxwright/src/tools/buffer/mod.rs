//! Paste buffers. Pasting one is typing, and so is with the tools that do that.

mod delete_buffer;
mod list_buffers;
mod rename_buffer;
#[cfg(feature = "files")]
mod save_buffer;
mod search_buffer;
mod set_buffer;
mod show_buffer;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_buffers::ListBuffers>(),
    Entry::of::<show_buffer::ShowBuffer>(),
    Entry::of::<search_buffer::SearchBuffer>(),
    Entry::of::<set_buffer::SetBuffer>(),
    #[cfg(feature = "files")]
    Entry::of::<save_buffer::SaveBuffer>(),
    Entry::of::<rename_buffer::RenameBuffer>(),
    Entry::of::<delete_buffer::DeleteBuffer>(),
];
