//! One tmux server as one client of the product sees it: who owns what on it, which pane we run in,
//! and the session of our own. Everything that belongs to a tmux server lives here, so that one
//! process can drive several. The clients of a process share the connection and what is known; what
//! each has made is its own.

mod buffers;
mod caller;
mod own_session;
mod owner;
mod rows;
mod tree;

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tmux_control::buffer::BufferRow;
use tmux_control::{Command, PaneId, Program, Server, SessionId, Socket};
use tokio::sync::{Mutex, MutexGuard};

use buffers::OwnBuffers;
pub use buffers::PasteBuffer;
pub(crate) use buffers::is_reserved_buffer_name;
use caller::Caller;
pub use own_session::NewPane;
use own_session::OwnSession;
pub(crate) use own_session::with_environment;
use owner::Owner;
pub use owner::Ownership;
use rows::RemainOnExit;
pub use rows::{ClientRow, CreatedPane, PaneState, ProcessState, SessionRow, WindowRow};
pub use tree::PaneRow;
pub(crate) use tree::{nested, read_nested};

/// How long a server may take to end, with all that runs in it.
const ENDING: Duration = Duration::from_secs(10);

/// A tmux server and a client's standing on it.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    owner: Owner,
    session: OwnSession,
    buffers: OwnBuffers,
}

/// What is the same for all clients.
#[derive(Debug)]
struct Shared {
    tmux: Server,
    caller: Caller,
    keep: bool,
    /// Panes and processes of whose exit tmux has been reminded.
    reminded: Mutex<HashSet<(PaneId, u32)>>,
}

impl Host {
    /// Takes up a server. Nothing is started; needs a Tokio runtime.
    pub fn new(program: Program, keep: bool) -> Self {
        let caller = Caller::detect(&program.socket);
        let tmux = Server::new(program);
        let shared = Shared { tmux, caller, keep, reminded: Mutex::default() };
        Self::of_owner(Arc::new(shared), Owner::this_process())
    }

    /// The same server for a further client of this process, which owns nothing yet.
    #[must_use]
    pub fn for_client(&self, number: u32) -> Self {
        Self::of_owner(Arc::clone(&self.shared), self.owner.of_client(number))
    }

    fn of_owner(shared: Arc<Shared>, owner: Owner) -> Self {
        let session = OwnSession::new(&owner, shared.keep);
        let buffers = OwnBuffers::new(&owner, shared.keep);
        Self { shared, owner, session, buffers }
    }

    /// The socket a user means who names none: that of the tmux we run in, or tmux's default.
    pub fn default_socket() -> Socket {
        std::env::var("TMUX")
            .ok()
            .and_then(|value| Socket::from_tmux_variable(&value))
            .unwrap_or(Socket::Default)
    }

    /// The connection.
    pub fn tmux(&self) -> &Server {
        &self.shared.tmux
    }

    /// Whether a pane with this mark was made by this client.
    pub fn owns(&self, mark: &str) -> bool {
        self.owner.is(mark)
    }

    /// The client's number; 0 for the process itself.
    pub fn client(&self) -> u32 {
        self.owner.client()
    }

    /// What names this process and its client for good, in [`Host::is_dead`]'s words.
    pub fn token(&self) -> String {
        self.owner.token()
    }

    /// Whether the process with this token is known to be dead.
    pub fn is_dead(token: &str) -> bool {
        Owner::parse(token).is_some_and(|owner| owner.is_dead())
    }

    /// The pane this process runs in, as far as its environment says. [`Host::is_caller`] knows more.
    pub fn caller(&self) -> Option<PaneId> {
        self.shared.caller.pane()
    }

    /// Whether this process runs in the pane.
    pub fn is_caller(&self, pane: PaneId, pid: u32) -> bool {
        self.shared.caller.is_in(pane, pid)
    }

    /// Notes in tmux that we made the pane. It may be gone by now, which is no error.
    pub async fn claim(&self, pane: PaneId) -> Result<(), tmux_control::Error> {
        match self.tmux().run(self.owner.mark(&pane.to_string())).await {
            Err(error) if error.is_not_found() || error.is_no_server() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// The commands that let a pane of this process stay after its program has exited also in another
    /// window: that was said of the window it is in. None for other panes.
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
        Ok(own_session::stay("-p", &id, self.tmux().version().await?))
    }

    /// What tmux is to run in a pane that is there already, in its words; none for the same again.
    pub async fn program_words(
        &self,
        pane: &PaneState,
        wish: &NewPane,
    ) -> Result<Vec<String>, tmux_control::Error> {
        Ok(match self.owner.same_process(&pane.owner) {
            true => wish.words(self.tmux().version().await?),
            false => wish.plain_words().to_vec(),
        })
    }

    /// The commands without which the last output of a program that is about to start in a pane of
    /// this process would be lost; none where no version needs them.
    pub async fn drain(&self, pane: &PaneState) -> Result<Vec<Command>, tmux_control::Error> {
        if !self.owner.same_process(&pane.owner)
            || !self.tmux().version().await?.loses_last_output()
        {
            return Ok(Vec::new());
        }
        Ok(own_session::drain(&pane.pane.to_string()).into())
    }

    /// The command that lets a session of this name live though nobody is attached to it, before
    /// anybody can come between; none for names that tmux would change or read in another way.
    pub fn keep_session_command(name: &str) -> Option<Command> {
        let plain = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
        plain.then(|| own_session::keep_unattached(&format!("={name}:")))
    }

    /// Lets a new session live though nobody is attached to it, whatever the user's settings say,
    /// and gives it its size where tmux did not. It may be gone by now, which is no error.
    pub async fn configure_session(
        &self,
        created: &CreatedPane,
        width: Option<u32>,
        height: Option<u32>,
    ) -> Result<(), tmux_control::Error> {
        let mut commands = vec![own_session::keep_unattached(&created.session.to_string())];
        let sized = width.is_some() || height.is_some();
        if sized && self.tmux().version().await?.ignores_new_size() {
            commands.extend(own_session::resize(&created.window.to_string(), width, height));
        }
        match self.tmux().sequence(commands).await {
            Err(error) if error.is_not_found() || error.is_no_server() => Ok(()),
            other => other.map(|_| ()),
        }
    }

    /// Every pane of the server; none if no server runs.
    pub async fn panes(&self) -> Result<Vec<PaneRow>, tmux_control::Error> {
        let panes = tree::panes(self.tmux()).await?;
        if self
            .remind_of_exits(
                panes.iter().map(|row| (row.pane.id, row.pane.pid, row.pane.process_state)),
            )
            .await
        {
            return tree::panes(self.tmux()).await;
        }
        Ok(panes)
    }

    /// The pane that is or stands for a target in tmux's own words.
    pub async fn pane(&self, target: &str) -> Result<PaneState, tmux_control::Error> {
        let now: PaneState = self.tmux().row(target).await?;
        if self.remind_of_exits([(now.pane, now.pid, now.process_state)].into_iter()).await {
            return self.tmux().row(target).await;
        }
        Ok(now)
    }

    /// Before 3.7 a tmux that writes to utmp can miss the exit of a pane's process, since the
    /// library it does this with ignores all children meanwhile. When another child exits, tmux
    /// looks after all of them; so one is made to. Returns whether it was, once for each process.
    async fn remind_of_exits(
        &self,
        panes: impl Iterator<Item = (PaneId, u32, ProcessState)>,
    ) -> bool {
        let missing: Vec<_> = panes
            .filter(|(_, _, process_state)| *process_state == ProcessState::Exited(None))
            .map(|(pane, pid, _)| (pane, pid))
            .collect();
        if missing.is_empty() {
            return false;
        }
        let mut reminded = self.shared.reminded.lock().await;
        let news = missing.into_iter().filter(|exit| reminded.insert(*exit)).count() > 0;
        if news && let Err(error) = self.tmux().run(Command::action("run-shell").arg(":")).await {
            tracing::debug!("reminding tmux of exits: {error}");
        }
        news
    }

    /// The clients people look through: not ours, nor those of another server like this one.
    pub async fn people(&self) -> Result<Vec<ClientRow>, tmux_control::Error> {
        let clients: Vec<ClientRow> =
            none_without_server(self.tmux().rows(Command::query("list-clients")).await)?;
        Ok(clients.into_iter().filter(ClientRow::is_person).collect())
    }

    /// A new pane in our own session, which is made if need be.
    pub async fn new_pane(&self, wish: NewPane) -> Result<CreatedPane, tmux_control::Error> {
        self.session.new_pane(self.tmux(), &self.owner, wish).await
    }

    /// Our own session, if it has been made and is still there.
    pub async fn own_session(&self) -> Option<SessionId> {
        self.session.session(self.tmux()).await
    }

    /// Ends a session.
    pub async fn kill_session(&self, session: SessionId) -> Result<(), tmux_control::Error> {
        own_session::kill_session(self.tmux(), session).await
    }

    /// Ends the server whose process this is, and waits until it is gone.
    pub async fn kill_server(&self, pid: u32) -> Result<(), tmux_control::Error> {
        let command = "kill-server";
        match self.tmux().spawned(&[Command::action(command)]).await {
            // It may be gone before it could say so.
            Err(error) if !error.is_no_server() => return Err(error),
            _ => {}
        }
        self.session.forget().await;
        tokio::time::timeout(ENDING, process::exited(pid)).await.map_err(|_| {
            tmux_control::Error::Timeout { command: command.to_owned(), after: ENDING }
        })
    }

    /// A name for a paste buffer that is gone in a moment.
    pub fn temporary_buffer_name(&self) -> String {
        self.buffers.temporary_name()
    }

    /// A name for a paste buffer of our own that stays.
    pub fn new_buffer_name(&self, label: &str) -> io::Result<String> {
        self.buffers.name(label)
    }

    /// The name of one of our buffers under another label.
    pub fn renamed_buffer(&self, name: &str, label: &str) -> Option<String> {
        OwnBuffers::renamed(name, label)
    }

    /// The paste buffers there are; none if no server runs.
    pub async fn buffers(&self) -> Result<Vec<PasteBuffer>, tmux_control::Error> {
        let rows = none_without_server(self.tmux().buffers().await)?;
        Ok(self.buffers.of_rows(rows))
    }

    /// The right to make or name buffers.
    pub async fn lock_buffer_names(&self) -> MutexGuard<'_, ()> {
        self.buffers.alone().await
    }

    /// Sees to it that a person who pastes gets what they would have got before `ours` was set.
    /// Returns whether there is something of theirs to paste.
    pub async fn restore_newest_buffer(
        &self,
        before: &[BufferRow],
        ours: &str,
    ) -> Result<bool, tmux_control::Error> {
        buffers::restore_newest(self.tmux(), before, ours).await
    }

    /// Removes what servers like this one left behind when they died.
    pub async fn reap_orphans(&self) {
        let mut reaped = own_session::reap(self.tmux()).await;
        if reaped.is_ok() {
            reaped = buffers::reap(self.tmux()).await;
        }
        if let Err(error) = reaped
            && !error.is_no_server()
        {
            tracing::debug!("looking for orphans: {error}");
        }
    }

    /// Removes the client's own buffers and session, unless they are to be kept.
    pub async fn close(&self) {
        self.buffers.close(self.tmux()).await;
        self.session.close(self.tmux(), &self.owner).await;
    }
}

/// Where nothing runs, a list is empty.
pub fn none_without_server<T>(
    rows: Result<Vec<T>, tmux_control::Error>,
) -> Result<Vec<T>, tmux_control::Error> {
    match rows {
        Err(error) if error.is_no_server() => Ok(Vec::new()),
        other => other,
    }
}
