//! The own session `mcp-<pid>`: created with its first pane, removed when the MCP client disconnects.

use std::collections::BTreeMap;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tmux_control::target::Level;
use tmux_control::{Command, Error, Row, Server, SessionId, Version, WindowId, escape_format, row};
use tokio::sync::{Mutex, oneshot};
use tracing::Instrument as _;

use super::owner::{Owner, OwnerRow};
use super::rows::CreatedPane;

/// The user option of a session that is removed with its owner.
pub(super) const OWN_SESSION_OPTION: &str = "@mcp_home";

const WINDOW_WIDTH: u32 = 200;
const WINDOW_HEIGHT: u32 = 50;
const HISTORY_LINES: u32 = 50_000;

/// Maximum number of names tried for the own session.
const MAX_NAME_ATTEMPTS: u32 = 20;

/// The environment of the own session. It keeps programs from waiting in a pager or an editor.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
];

/// A pane to be created.
#[derive(Debug, Clone, Default)]
pub struct NewPane {
    /// A command line for the shell; without one, and without `program`, the pane runs the user's shell.
    pub command: Option<String>,
    /// A program with arguments, run without a shell. At least two words, because tmux passes a single
    /// one to a shell.
    pub program: Vec<String>,
    /// The name of its window.
    pub name: Option<String>,
    /// The directory it starts in.
    pub cwd: Option<String>,
    /// The name that its window has until tmux names it by the program in it, unless it has a `name`.
    pub(crate) first_name: Option<String>,
    /// Variables to add to its environment.
    pub env: BTreeMap<String, String>,
}

#[derive(Debug)]
pub(super) struct OwnSession {
    name: String,
    keep: bool,
    /// Locked while a pane is created, so that two calls do not create two sessions.
    id: Mutex<Option<SessionId>>,
    /// Set when no further pane may be created: the MCP client has disconnected.
    is_closed: AtomicBool,
}

impl OwnSession {
    pub(super) fn new(owner: &Owner, keep: bool) -> Self {
        let (name, is_closed) = (owner.session_name(), AtomicBool::new(false));
        Self { name, keep, id: Mutex::new(None), is_closed }
    }

    /// Creates a pane, in a task of its own: a call that is cancelled meanwhile, as all calls are when the
    /// process is to exit, must not leave a session whose id is unknown.
    pub(super) async fn new_pane(
        self: &Arc<Self>,
        tmux: &Server,
        owner: &Owner,
        pane: NewPane,
    ) -> Result<CreatedPane, Error> {
        let (session, tmux, owner) = (Arc::clone(self), tmux.clone(), owner.clone());
        let (caller, created) = oneshot::channel();
        let create = async move {
            let mut id = session.id.lock().await;
            // The call was cancelled while it waited for another one.
            if !caller.is_closed() {
                let created = session.create_pane(&mut id, &tmux, &owner, pane).await;
                let _ = caller.send(created);
            }
        };
        tokio::spawn(create.in_current_span());
        created.await.unwrap_or_else(|_| Err(not_created()))
    }

    async fn create_pane(
        &self,
        session: &mut Option<SessionId>,
        tmux: &Server,
        owner: &Owner,
        pane: NewPane,
    ) -> Result<CreatedPane, Error> {
        if self.is_closed.load(Ordering::Relaxed) {
            return Err(not_created());
        }
        let version = tmux.version().await?;
        if let Some(id) = *session {
            let place = format!("{id}:{{end}}");
            let window = Command::action("new-window").arg("-d").arg("-a");
            let commands = own_window(window, &place, &pane, owner, version);
            match tmux.sequence(commands).await {
                Ok(replies) => return created(replies),
                // The session was destroyed with its last pane.
                Err(error) if error.is_not_found() || error.is_no_server() => *session = None,
                // The link was attached to it, so that no reply came. Nothing was created in it.
                Err(Error::Lost { .. }) if !exists(tmux, id).await => *session = None,
                Err(error) => return Err(error),
            }
        }
        let created = self.create(tmux, owner, &pane, version).await?;
        tracing::info!("created the own session {}", created.session);
        *session = Some(created.session);
        match owner.client() {
            0 => tmux.prefer(created.session),
            _ => tmux.prefer_also(created.session),
        }
        Ok(created)
    }

    /// Creates the session. Its name may be taken: a process with the same pid in another container may
    /// have kept its session.
    async fn create(
        &self,
        tmux: &Server,
        owner: &Owner,
        pane: &NewPane,
        version: Version,
    ) -> Result<CreatedPane, Error> {
        let mut name = self.name.clone();
        for number in 2..=MAX_NAME_ATTEMPTS {
            match tmux.sequence(self.first_pane(&name, owner, pane, version)).await {
                Err(error) if error.is_duplicate() => name = format!("{}-{number}", self.name),
                other => return created(other?),
            }
        }
        created(tmux.sequence(self.first_pane(&name, owner, pane, version)).await?)
    }

    /// The commands that create the session with its first pane.
    ///
    /// The history limit applies only to panes created after it was set, so the session starts with a
    /// placeholder, which the first pane replaces within the same sequence.
    fn first_pane(
        &self,
        name: &str,
        owner: &Owner,
        pane: &NewPane,
        version: Version,
    ) -> Vec<Command> {
        let session = format!("={name}:");
        let place = format!("{session}^");
        let start = Command::action("new-session")
            .arg("-d")
            .option("-s", name)
            .option("-x", WINDOW_WIDTH)
            .option("-y", WINDOW_HEIGHT);
        let start = with_environment(start, ENVIRONMENT.iter().copied());
        let set = |name: &str, value: String| {
            Command::action("set-option").option("-t", &session).arg(name).arg(value)
        };
        let mut commands = vec![
            start.arg("--").arg("exec sleep 60"),
            set("history-limit", HISTORY_LINES.to_string()),
            destroy_unattached_off(&session),
        ];
        if !self.keep {
            commands.push(set(OWN_SESSION_OPTION, owner.token()));
        }
        let window = Command::action("new-window").arg("-d").arg("-k");
        commands.extend(own_window(window, &place, pane, owner, version));
        commands
    }

    /// The id of the session, if it exists.
    pub(super) async fn id(&self, tmux: &Server) -> Option<SessionId> {
        let id = (*self.id.lock().await)?;
        exists(tmux, id).await.then_some(id)
    }

    /// Forgets the session after the tmux server was killed.
    pub(super) async fn forget(&self) {
        self.id.lock().await.take();
    }

    /// Removes the session, except for panes of other owners.
    pub(super) async fn close(&self, tmux: &Server, owner: &Owner) {
        self.is_closed.store(true, Ordering::Relaxed);
        let session = self.id.lock().await.take();
        let Some(id) = session.filter(|_| !self.keep) else { return };
        match close_session(tmux, id, owner).await {
            Ok(()) => tracing::info!("removed the own session {id}"),
            Err(error) => tracing::debug!("removing the own session: {error}"),
        }
    }
}

/// The error for a pane that is not created since the process is about to exit.
fn not_created() -> Error {
    Error::Lost { command: "new-session".to_owned() }
}

async fn exists(tmux: &Server, session: SessionId) -> bool {
    tmux.run(Command::query("has-session").option("-t", session)).await.is_ok()
}

row! {
    /// Whether a window is zoomed: tmux 3.4 crashes when a session with such a window is killed.
    WindowZoom {
        window: WindowId = "window_id",
        zoomed: bool = "window_zoomed_flag",
    }
}

/// Kills a session through a spawned tmux. The link may be attached to the session and moves away first.
pub(super) async fn kill_session(tmux: &Server, id: SessionId) -> Result<(), Error> {
    let mut commands = Vec::new();
    if tmux.version().await?.dies_of_zoomed_sessions() {
        let list =
            Command::query("list-windows").option("-t", id).option("-F", WindowZoom::format());
        let printed: Vec<u8> = tmux.spawned(&[list]).await?.into_iter().flat_map(|r| r.0).collect();
        let windows = WindowZoom::parse_all("list-windows", &printed)?;
        commands.extend(
            windows
                .iter()
                .filter(|window| window.zoomed)
                .map(|zoomed| Command::action("resize-pane").arg("-Z").option("-t", zoomed.window)),
        );
    }
    commands.push(Command::action("kill-session").option("-t", id));
    let _away = tmux.leave(id).await;
    tmux.spawned(&commands).await.map(|_| ())
}

row! {
    /// Whether a window or a pane is all that its session has.
    SessionParts {
        windows: u32 = "session_windows",
        panes: u32 = "window_panes",
    }
}

/// Kills a window or a pane. A session ends with the last one, and with it the link if it is attached
/// there: then it moves away first, so that neither this reply nor a command of another caller is lost.
pub(super) async fn kill_part(
    tmux: &Server,
    session: SessionId,
    level: Level,
    id: &str,
) -> Result<(), Error> {
    let parts = tmux.row::<SessionParts>(id).await?;
    let (command, is_last) = match level {
        Level::Pane => ("kill-pane", parts.windows == 1 && parts.panes == 1),
        _ => ("kill-window", parts.windows == 1),
    };
    let kill = Command::action(command).option("-t", id);
    let killed = if is_last {
        let _away = tmux.leave(session).await;
        tmux.spawned(&[kill]).await.map(|_| ())
    } else {
        tmux.run(kill).await.map(|_| ())
    };
    match killed {
        // It became the last one meanwhile. The reply was lost with the session, not the command.
        Err(Error::Lost { .. }) if tmux.row::<SessionParts>(id).await.is_err() => Ok(()),
        other => other,
    }
}

async fn close_session(tmux: &Server, id: SessionId, owner: &Owner) -> Result<(), Error> {
    let list = Command::query("list-panes").arg("-s").option("-t", id);
    let list = list.option("-F", OwnerRow::format());
    let printed: Vec<u8> = tmux.spawned(&[list]).await?.into_iter().flat_map(|r| r.0).collect();
    let panes = OwnerRow::parse_all("list-panes", &printed)?;
    if panes.iter().all(|pane| pane.owner == owner.token()) {
        return kill_session(tmux, id).await;
    }
    for pane in panes.iter().filter(|pane| pane.owner == owner.token()) {
        tmux.spawned(&[Command::action("kill-pane").option("-t", pane.pane)]).await?;
    }
    Ok(())
}

/// The command that keeps a session while no tmux client is attached to it.
pub(super) fn destroy_unattached_off(session: &str) -> Command {
    Command::action("set-option").option("-t", session).arg("destroy-unattached").arg("off")
}

impl NewPane {
    /// Command line or program, as arguments for tmux; empty for tmux's default.
    pub(super) fn plain_words(&self) -> &[String] {
        self.command.as_ref().map_or(self.program.as_slice(), slice::from_ref)
    }
}

/// The commands that create a window whose pane remains on exit and is marked as own. They are one
/// sequence, because a program may exit before a later command reaches tmux.
fn own_window(
    window: Command,
    place: &str,
    pane: &NewPane,
    owner: &Owner,
    version: Version,
) -> Vec<Command> {
    let window = window
        .arg("-P")
        .option("-F", CreatedPane::format())
        .option("-t", place)
        .option_if("-n", pane.name.as_deref().or(pane.first_name.as_deref()).map(escape_format))
        .option_if("-c", pane.cwd.as_deref().map(escape_format));
    let mut window =
        with_environment(window, pane.env.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    let words = pane.plain_words();
    if !words.is_empty() {
        window = words.iter().fold(window.arg("--"), |window, word| window.arg(word));
    }
    let mut commands = vec![window];
    if pane.name.is_none() && pane.first_name.is_some() {
        // A given name has turned it off.
        let unset = Command::action("set-option").arg("-wu").option("-t", place);
        commands.push(unset.arg("automatic-rename"));
    }
    commands.extend(remain_on_exit("-w", place, version));
    if version.ignores_new_size() {
        commands.extend(resize(place, Some(WINDOW_WIDTH), Some(WINDOW_HEIGHT)));
    }
    commands.push(owner.mark(place));
    commands
}

/// The commands that keep a pane (`-p`), or the panes of a window (`-w`), after the program has
/// exited.
pub(super) fn remain_on_exit(scope: &str, target: &str, version: Version) -> Vec<Command> {
    let set = |name: &str, value: &str| {
        Command::action("set-option").arg(scope).option("-t", target).arg(name).arg(value)
    };
    let mut commands = vec![set("remain-on-exit", "on")];
    if version.has_remain_on_exit_format() {
        commands.push(set("remain-on-exit-format", ""));
    }
    commands
}

/// The commands that resize a window. `resize-window` sets `window-size` to `manual`, which would keep
/// the size for ever, so the option is unset afterwards.
pub(super) fn resize(window: &str, width: Option<u32>, height: Option<u32>) -> [Command; 2] {
    let resize = Command::action("resize-window").option("-t", window);
    let unset = Command::action("set-option").arg("-wu").option("-t", window);
    [resize.option_if("-x", width).option_if("-y", height), unset.arg("window-size")]
}

/// Adds `-e NAME=VALUE` for each variable.
pub(crate) fn with_environment<'a>(
    command: Command,
    env: impl Iterator<Item = (&'a str, &'a str)>,
) -> Command {
    env.fold(command, |command, (name, value)| command.option("-e", format!("{name}={value}")))
}

/// Parses the row that the creating command of a sequence printed.
fn created(replies: Vec<tmux_control::TmuxReply>) -> Result<CreatedPane, Error> {
    let printed: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    CreatedPane::parse_one("new-window", &printed)
}
