//! Paste buffers. Pasting one is typing, and so is with the tools that do that.

mod delete_buffer;
mod list_buffers;
mod rename_buffer;
#[cfg(feature = "files")]
mod save_buffer;
mod search_buffer;
mod set_buffer;
mod show_buffer;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<list_buffers::ListBuffers>(),
    ToolEntry::of::<show_buffer::ShowBuffer>(),
    ToolEntry::of::<search_buffer::SearchBuffer>(),
    ToolEntry::of::<set_buffer::SetBuffer>(),
    #[cfg(feature = "files")]
    ToolEntry::of::<save_buffer::SaveBuffer>(),
    ToolEntry::of::<rename_buffer::RenameBuffer>(),
    ToolEntry::of::<delete_buffer::DeleteBuffer>(),
];
