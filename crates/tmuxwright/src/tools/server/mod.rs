//! Tools of the group `server`: this tmux server and other ones.

mod kill_server;
mod list_servers;
mod server_info;
mod socket_for_path;

use crate::context::ToolEntry;

pub(super) const TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<server_info::ServerInfo>(),
    ToolEntry::of::<list_servers::ListServers>(),
    ToolEntry::of::<socket_for_path::SocketForPath>(),
    ToolEntry::of::<kill_server::KillServer>(),
];
