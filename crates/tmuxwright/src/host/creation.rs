//! Creation of hosts: for a tmux server on this system or on another one, and for the MCP clients that share it.

use std::path::PathBuf;
use std::sync::Arc;

use tmux_control::{Program, RelayProgram, Route, Server};
use tokio::sync::{Mutex, OnceCell};

use super::buffers::OwnBuffers;
use super::caller::Caller;
use super::keepers::Keepers;
use super::own_session::OwnSession;
use super::owner::Owner;
use super::remote_shell::OtherSystem;
use super::system::System;
use super::{Host, RELAY, Shared};
use crate::private_dir::{LocalDir, PrivateDir};

impl Host {
    /// The host for a tmux server. Starts nothing; needs a Tokio runtime.
    pub fn new(program: Program, keep: bool, keeper: Option<PathBuf>) -> Self {
        let caller = Caller::detect(&program.socket);
        let owner = Owner::this_process();
        let dir = Arc::new(LocalDir::new(owner.identity()));
        let relay = keeper.as_ref().map(|path| RelayProgram {
            path: path.into(),
            args: vec![RELAY.into()],
            dir: Arc::<LocalDir>::clone(&dir),
        });
        let program = Program { relay, ..program };
        let (keepers, dir) = (Keepers::new(keeper), PrivateDir::Local(dir));
        Self::of_system(program, keep, System::local(), (owner, caller), (keepers, dir))
    }

    /// The host for a tmux server on another system, to which nothing is connected yet. This program is not there:
    /// panes run without keepers, control clients without a relay.
    pub fn remote(program: Program, route: Route, keep: bool) -> Self {
        let (owner, caller) = (Owner::this_process(), Caller::none());
        let sockets = Arc::new(LocalDir::new(owner.identity()));
        let OtherSystem { remote, processes, shell } =
            OtherSystem::new(route, &program, Arc::clone(&sockets));
        let dir = PrivateDir::remote(owner.identity(), Arc::clone(&shell));
        let system = System::remote(processes, shell, remote.clone(), sockets);
        let program = Program { remote: Some(remote), ..program };
        Self::of_system(program, keep, system, (owner, caller), (Keepers::new(None), dir))
    }

    fn of_system(
        program: Program,
        keep: bool,
        system: System,
        (owner, caller): (Owner, Caller),
        (keepers, private_dir): (Keepers, PrivateDir),
    ) -> Self {
        let client_label = Some(owner.client_label());
        let tmux = Server::new(Program { client_label, ..program });
        let shared = Shared {
            tmux,
            system,
            caller,
            keep,
            keepers,
            private_dir,
            clean_up: OnceCell::new(),
            checked_exits: Mutex::default(),
        };
        Self::of_owner(Arc::new(shared), owner)
    }

    /// The same tmux server for a further MCP client of this process, which owns nothing yet.
    #[must_use]
    pub fn for_client(&self, number: u32) -> Self {
        Self::of_owner(Arc::clone(&self.shared), self.owner.of_client(number))
    }

    fn of_owner(shared: Arc<Shared>, owner: Owner) -> Self {
        let session = Arc::new(OwnSession::new(&owner, shared.keep));
        let buffers = OwnBuffers::new(&owner, shared.keep);
        Self { shared, owner, session, buffers }
    }
}
