//! The host: one tmux server as one MCP client sees it, with ownership, the own session, own buffers and
//! the pane this process runs in. All state of a tmux server is here, so that one process can drive
//! several. The MCP clients of a process share the connection; the objects they made are their own.

mod barrier;
mod buffers;
mod caller;
mod creation;
mod keepers;
mod own_session;
mod owner;
mod project_socket;
mod reap;
mod remote_clean_up;
mod remote_shell;
mod rows;
mod system;
mod tree;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use process::Processes;
use tmux_control::buffer::BufferRow;
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, Server, SessionId, Socket};
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use buffers::OwnBuffers;
pub use buffers::PasteBuffer;
pub(crate) use buffers::is_reserved_buffer_name;
use caller::Caller;
use keepers::Keepers;
pub(crate) use keepers::{COMMAND, KEEP};
pub use own_session::NewPane;
use own_session::OwnSession;
pub(crate) use own_session::with_environment;
use owner::Owner;
pub use owner::Ownership;
pub use project_socket::project_socket;
use rows::RemainOnExit;
pub use rows::{ClientRow, CreatedPane, PaneState, ProcessState, SessionRow, WindowRow};
pub use system::System;
pub use tree::PaneRow;
pub(crate) use tree::{nested, read_nested};

use crate::private_dir::PrivateDir;

/// The subcommand that relays control clients; see `tmux_control::relay_clients`.
pub(crate) const RELAY: &str = "relay";

/// How long a tmux server may take to exit, with all programs in it.
const SERVER_EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A tmux server as one MCP client sees it.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    owner: Owner,
    session: Arc<OwnSession>,
    buffers: OwnBuffers,
}

/// The part that all MCP clients of the process share.
#[derive(Debug)]
struct Shared {
    tmux: Server,
    system: System,
    caller: Caller,
    /// Whether own sessions and buffers outlive the process (`--keep`).
    keep: bool,
    keepers: Keepers,
    private_dir: PrivateDir,
    /// Set once another system has its clean-up script.
    clean_up: OnceCell<()>,
    /// Exited panes, with their processes, for which tmux was made to check its children.
    checked_exits: Mutex<HashSet<(PaneId, u32)>>,
}

impl Host {
    /// The default socket: that of the tmux server this process runs in, else tmux's default.
    pub fn default_socket() -> Socket {
        std::env::var("TMUX")
            .ok()
            .and_then(|value| Socket::from_tmux_variable(&value))
            .unwrap_or(Socket::Default)
    }

    /// The connection to tmux.
    pub fn tmux(&self) -> &Server {
        &self.shared.tmux
    }

    /// The processes of the system on which the tmux server runs.
    pub fn processes(&self) -> &Processes {
        self.shared.system.processes()
    }

    /// The system on which the tmux server runs.
    pub(crate) fn system(&self) -> &System {
        &self.shared.system
    }

    /// The private directory of the process.
    pub(crate) fn private_dir(&self) -> &PrivateDir {
        &self.shared.private_dir
    }

    /// Whether a pane with this owner was made for this MCP client.
    pub fn owns(&self, owner: &str) -> bool {
        self.owner.is(owner)
    }

    /// The number of the MCP client; 0 for the process itself.
    pub fn client(&self) -> u32 {
        self.owner.client()
    }

    /// The identity of this process and MCP client, as [`Host::is_dead`] takes it. Not secret.
    pub fn identity(&self) -> String {
        self.owner.identity()
    }

    /// Whether the process with this identity is known to be dead.
    pub fn is_dead(identity: &str) -> bool {
        Owner::parse(identity).is_some_and(|owner| owner.is_dead())
    }

    /// The pane this process runs in, according to its environment. [`Host::is_caller`] knows more.
    pub fn caller(&self) -> Option<PaneId> {
        self.shared.caller.pane()
    }

    /// Whether this process runs in the pane.
    pub fn is_caller(&self, pane: PaneId, pid: u32) -> bool {
        self.shared.caller.is_in(pane, pid)
    }

    /// Records in tmux that this MCP client owns the pane. A pane that no longer exists is not an error.
    pub async fn claim(&self, pane: PaneId) -> Result<(), tmux_control::Error> {
        match self.tmux().run(self.owner.mark(&pane.to_string())).await {
            Err(error) if error.is_not_found() || error.is_no_server() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// The commands that keep `remain-on-exit` for a pane of this process when it moves to another
    /// window: the option is set on the window. None for other panes.
    pub async fn keep_remain_on_exit(
        &self,
        pane: &PaneState,
    ) -> Result<Vec<Command>, tmux_control::Error> {
        let id = pane.pane.to_string();
        if !self.owner.same_process(&pane.owner)
            || !self.tmux().row::<RemainOnExit>(&id).await?.is_on()
        {
            return Ok(Vec::new());
        }
        Ok(own_session::remain_on_exit("-p", &id, self.tmux().version().await?))
    }

    /// The arguments for tmux to run a program in an existing pane; empty to repeat the last program.
    pub async fn program_words(&self, pane: &PaneState, program: NewPane) -> Vec<String> {
        let program = match self.owner.same_process(&pane.owner) {
            true => self.shared.keepers.around(self, program).await,
            false => program,
        };
        program.plain_words().to_vec()
    }

    /// The command that turns `destroy-unattached` off for a session with this name, to be sent with the
    /// one that creates it. `None` for names that tmux would change or parse as something else.
    pub fn keep_session_command(name: &str) -> Option<Command> {
        let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
        plain.then(|| own_session::destroy_unattached_off(&format!("={name}:")))
    }

    /// Turns `destroy-unattached` off for a new session, and sets its size where tmux ignored it. A
    /// session that no longer exists is not an error.
    pub async fn configure_session(
        &self,
        created: &CreatedPane,
        width: Option<u32>,
        height: Option<u32>,
    ) -> Result<(), tmux_control::Error> {
        let mut commands = vec![own_session::destroy_unattached_off(&created.session.to_string())];
        let sized = width.is_some() || height.is_some();
        if sized && self.tmux().version().await?.ignores_new_size() {
            commands.extend(own_session::resize(&created.window.to_string(), width, height));
        }
        match self.tmux().sequence(commands).await {
            Err(error) if error.is_not_found() || error.is_no_server() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Every pane of the tmux server; none if no server runs.
    pub async fn panes(&self) -> Result<Vec<PaneRow>, tmux_control::Error> {
        let panes = tree::panes(self.tmux()).await?;
        if self
            .check_exits(
                panes.iter().map(|row| (row.pane.id, row.pane.pid, row.pane.process_state)),
            )
            .await
        {
            return tree::panes(self.tmux()).await;
        }
        Ok(panes)
    }

    /// The pane of a target in tmux's syntax: itself, or the active pane of the object.
    pub async fn pane(&self, target: &str) -> Result<PaneState, tmux_control::Error> {
        let now: PaneState = self.tmux().row(target).await?;
        if self.check_exits([(now.pane, now.pid, now.process_state)].into_iter()).await {
            return self.tmux().row(target).await;
        }
        Ok(now)
    }

    /// Makes tmux check its children, if an exited pane has no exit code. Before 3.7 a tmux that writes
    /// to utmp can miss the exit of a pane's process, because the utmp library ignores SIGCHLD
    /// meanwhile. When another child exits, tmux checks all of them; an empty `run-shell` is such a
    /// child. Returns whether it did, once for each process.
    async fn check_exits(&self, panes: impl Iterator<Item = (PaneId, u32, ProcessState)>) -> bool {
        let missing: Vec<_> = panes
            .filter(|(_, _, process_state)| *process_state == ProcessState::Exited(None))
            .map(|(pane, pid, _)| (pane, pid))
            .collect();
        if missing.is_empty() {
            return false;
        }
        let mut checked = self.shared.checked_exits.lock().await;
        let is_new = missing.into_iter().filter(|exit| checked.insert(*exit)).count() > 0;
        if is_new && let Err(error) = self.tmux().run(Command::action("run-shell").arg(":")).await {
            tracing::debug!("making tmux check its children: {error}");
        }
        is_new
    }

    /// The tmux clients of people: neither ours nor those of another server like this one.
    pub async fn people(&self) -> Result<Vec<ClientRow>, tmux_control::Error> {
        let clients: Vec<ClientRow> =
            none_without_server(self.tmux().rows(Command::query("list-clients")).await)?;
        Ok(clients.into_iter().filter(ClientRow::is_person).collect())
    }

    /// Creates a pane in the own session, and the session if it does not exist.
    pub async fn new_pane(&self, pane: NewPane) -> Result<CreatedPane, tmux_control::Error> {
        self.leave_clean_up().await;
        let pane = self.shared.keepers.around(self, pane).await;
        self.session.new_pane(self.tmux(), &self.owner, pane).await
    }

    /// The own session, if it exists.
    pub async fn own_session(&self) -> Option<SessionId> {
        self.session.id(self.tmux()).await
    }

    /// Kills a session.
    pub async fn kill_session(&self, session: SessionId) -> Result<(), tmux_control::Error> {
        own_session::kill_session(self.tmux(), session).await
    }

    /// Kills a window or a pane of a session.
    pub async fn kill_part(
        &self,
        session: SessionId,
        level: Level,
        id: &str,
    ) -> Result<(), tmux_control::Error> {
        own_session::kill_part(self.tmux(), session, level, id).await
    }

    /// Kills the tmux server with this pid, and waits until the process has exited.
    pub async fn kill_server(&self, pid: u32) -> Result<(), tmux_control::Error> {
        let command = "kill-server";
        match self.tmux().spawned(&[Command::action(command)]).await {
            // The server may exit before it replies.
            Err(error) if !error.is_no_server() => return Err(error),
            _ => {}
        }
        self.session.forget().await;
        let exited = self.processes().exited_soon(pid);
        tokio::time::timeout(SERVER_EXIT_TIMEOUT, exited).await.map_err(|_| {
            tmux_control::Error::Timeout { command: command.to_owned(), after: SERVER_EXIT_TIMEOUT }
        })
    }

    /// A name for a paste buffer that is deleted right after use.
    pub fn temporary_buffer_name(&self) -> String {
        self.buffers.temporary_name()
    }

    /// A name for a new own paste buffer.
    pub fn new_buffer_name(&self, label: &str) -> io::Result<String> {
        self.buffers.name(label)
    }

    /// The name of an own buffer with another label.
    pub fn renamed_buffer(&self, name: &str, label: &str) -> Option<String> {
        OwnBuffers::renamed(name, label)
    }

    /// All paste buffers; none if no server runs.
    pub async fn buffers(&self) -> Result<Vec<PasteBuffer>, tmux_control::Error> {
        let rows = none_without_server(self.tmux().buffers().await)?;
        Ok(self.buffers.of_rows(rows))
    }

    /// The exclusive right to create or rename buffers.
    pub async fn lock_buffer_names(&self) -> MutexGuard<'_, ()> {
        self.leave_clean_up().await;
        self.buffers.lock().await
    }

    /// Makes a person's newest buffer the one that the paste key takes again, after `ours` was set.
    /// Returns whether there is such a buffer.
    pub async fn restore_newest_buffer(
        &self,
        before: &[BufferRow],
        ours: &str,
    ) -> Result<bool, tmux_control::Error> {
        buffers::restore_newest(self.tmux(), before, ours).await
    }

    /// Removes clients, panes and buffers that dead processes of this program left behind.
    pub async fn reap_orphans(&self) {
        if let Err(error) = reap::reap(self.tmux(), self.processes()).await
            && !error.is_no_server()
        {
            tracing::debug!("removing what dead processes left: {error}");
        }
    }

    /// Connects to another system, if there is no connection.
    pub async fn connect(&self) -> Result<(), tmux_control::Error> {
        match self.shared.system.connection() {
            Some(remote) => Box::pin(remote.connect()).await,
            None => Ok(()),
        }
    }

    /// Ends the connection to another system, for all MCP clients. After everything else, since it is needed for that.
    pub async fn disconnect(&self) {
        self.shared.system.close().await;
    }

    /// Removes the own buffers and the own session, unless they are kept.
    pub async fn close(&self) {
        self.buffers.close(self.tmux()).await;
        self.session.close(self.tmux(), &self.owner).await;
    }
}

/// Turns the error that no tmux server runs into an empty list.
pub fn none_without_server<T>(
    rows: Result<Vec<T>, tmux_control::Error>,
) -> Result<Vec<T>, tmux_control::Error> {
    match rows {
        Err(error) if error.is_no_server() => Ok(Vec::new()),
        other => other,
    }
}
