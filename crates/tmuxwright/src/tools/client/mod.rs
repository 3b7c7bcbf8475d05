//! Tools of the group `client`: attached people, and messages to them.

mod detach_client;
mod list_clients;
mod show_message;
mod write_to_display;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<list_clients::ListClients>(),
    Entry::of::<detach_client::DetachClient>(),
    Entry::of::<show_message::ShowMessage>(),
    Entry::of::<write_to_display::WriteToDisplay>(),
];
