//! Tools of the group `server`: this tmux server and other ones.

mod kill_server;
mod list_servers;
mod server_info;
mod socket_for_path;

use crate::context::Entry;

pub(super) const TOOLS: &[Entry] = &[
    Entry::of::<server_info::ServerInfo>(),
    Entry::of::<list_servers::ListServers>(),
    Entry::of::<socket_for_path::SocketForPath>(),
    Entry::of::<kill_server::KillServer>(),
];
