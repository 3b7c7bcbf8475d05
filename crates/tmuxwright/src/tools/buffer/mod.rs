//! Tools on tmux paste buffers, and the answer that those share which write one. `paste_buffer` types
//! into a pane and is with the input tools.

mod delete_buffer;
mod list_buffers;
mod rename_buffer;
#[cfg(feature = "files")]
mod save_buffer;
mod search_buffer;
mod set_buffer;
mod show_buffer;

use schemars::JsonSchema;
use serde::Serialize;

use crate::context::ToolEntry;
use crate::contract::{Form, Output};
use crate::results::words::{FactRow, count, field};

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

/// A buffer after it was set or renamed.
#[derive(Serialize, JsonSchema)]
struct WrittenBuffer {
    /// Full name of the buffer.
    name: String,
    /// Size in bytes.
    bytes: u64,
    /// Side effect on a person's paste key.
    note: Option<&'static str>,
    /// The change, as a verb in front of the name.
    #[serde(skip)]
    verb: &'static str,
}

impl Output for WrittenBuffer {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("{} {}", self.verb, field(&self.name)))
            .fact(count(self.bytes, "byte"))
            .maybe(self.note)
            .into()
    }
}
