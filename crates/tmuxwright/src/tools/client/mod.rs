//! Tools of the group `client`: attached people, and messages to them.

mod detach_client;
mod list_clients;
mod show_message;
mod write_to_display;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<list_clients::ListClients>(),
    ToolEntry::of::<detach_client::DetachClient>(),
    ToolEntry::of::<show_message::ShowMessage>(),
    ToolEntry::of::<write_to_display::WriteToDisplay>(),
];
