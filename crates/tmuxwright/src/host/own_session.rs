//! The session of our own: made with its first pane, removed at the end.

use std::collections::BTreeMap;
use std::slice;

use tmux_control::{
    Command, Error, PaneId, Row, Server, SessionId, Version, WindowId, escape_format, row,
};
use tokio::sync::Mutex;

use super::owner::Owner;
use super::rows::CreatedPane;

/// The user option of a session that goes away with its owner.
const OWN_SESSION_OPTION: &str = "@mcp_home";

/// The user option of a pane that is piped to nowhere, so that its last output is not lost.
const DRAIN_OPTION: &str = "@mcp_drain";

const WINDOW_WIDTH: u32 = 200;
const WINDOW_HEIGHT: u32 = 50;
const HISTORY_LINES: u32 = 50_000;

/// How many names are tried for it.
const MAX_NAME_ATTEMPTS: u32 = 20;

/// Programs that would wait for a person to leave a pager or an editor.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
];

/// A pane to be made.
#[derive(Debug, Clone, Default)]
pub struct NewPane {
    /// What runs in it, as a shell's command line; the user's shell if nothing is said.
    pub command: Option<String>,
    /// What runs in it instead, as words that no shell looks at: two at least, since tmux takes one
    /// for a command line.
    pub program: Vec<String>,
    /// The name of its window.
    pub name: Option<String>,
    /// Where it starts.
    pub cwd: Option<String>,
    /// Its environment, beside what it inherits.
    pub env: BTreeMap<String, String>,
    /// Whether a moment must pass between its end and the pane's.
    pub lingers: bool,
}

#[derive(Debug)]
pub(super) struct OwnSession {
    name: String,
    keep: bool,
    /// Held while a pane is made, so that two calls do not make two sessions.
    session: Mutex<Option<SessionId>>,
}

impl OwnSession {
    pub(super) fn new(owner: &Owner, keep: bool) -> Self {
        Self { name: owner.session_name(), keep, session: Mutex::new(None) }
    }

    pub(super) async fn new_pane(
        &self,
        tmux: &Server,
        owner: &Owner,
        wish: NewPane,
    ) -> Result<CreatedPane, Error> {
        let mut session = self.session.lock().await;
        let version = tmux.version().await?;
        if let Some(id) = *session {
            let place = format!("{id}:{{end}}");
            let window = Command::action("new-window").arg("-d").arg("-a");
            let commands = window_of_our_own(window, &place, &wish, owner, version);
            match tmux.sequence(commands).await {
                Ok(replies) => return created(replies),
                // The last pane was closed and the session went with it.
                Err(error) if error.is_not_found() || error.is_no_server() => *session = None,
                Err(error) => return Err(error),
            }
        }
        let created = self.start(tmux, owner, &wish, version).await?;
        tracing::info!("made session {}, our own", created.session);
        *session = Some(created.session);
        match owner.client() {
            0 => tmux.prefer(created.session),
            _ => tmux.prefer_also(created.session),
        }
        Ok(created)
    }

    /// Makes the session. Its name may be taken: a process in another container can have had our
    /// pid, and have kept its session.
    async fn start(
        &self,
        tmux: &Server,
        owner: &Owner,
        wish: &NewPane,
        version: Version,
    ) -> Result<CreatedPane, Error> {
        let mut name = self.name.clone();
        for number in 2..=MAX_NAME_ATTEMPTS {
            match tmux.sequence(self.first(&name, owner, wish, version)).await {
                Err(error) if error.is_duplicate() => name = format!("{}-{number}", self.name),
                other => return created(other?),
            }
        }
        created(tmux.sequence(self.first(&name, owner, wish, version)).await?)
    }

    /// The commands that make the session with its first pane.
    ///
    /// The history limit counts only for panes made after it was set, so the session starts with a
    /// stand-in that the first pane replaces before anything else can happen.
    fn first(&self, name: &str, owner: &Owner, wish: &NewPane, version: Version) -> Vec<Command> {
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
            keep_unattached(&session),
        ];
        if !self.keep {
            commands.push(set(OWN_SESSION_OPTION, owner.token()));
        }
        let window = Command::action("new-window").arg("-d").arg("-k");
        commands.extend(window_of_our_own(window, &place, wish, owner, version));
        commands
    }

    pub(super) async fn session(&self, tmux: &Server) -> Option<SessionId> {
        let id = (*self.session.lock().await)?;
        let has = Command::query("has-session").option("-t", id);
        tmux.run(has).await.is_ok().then_some(id)
    }

    /// The server is gone, and the session with it.
    pub(super) async fn forget(&self) {
        self.session.lock().await.take();
    }

    /// Ends the session, but for what somebody else has brought there.
    pub(super) async fn close(&self, tmux: &Server, owner: &Owner) {
        let session = self.session.lock().await.take();
        let Some(id) = session.filter(|_| !self.keep) else { return };
        match close_session(tmux, id, owner).await {
            Ok(()) => tracing::info!("removed session {id}, our own"),
            Err(error) => tracing::debug!("removing our session: {error}"),
        }
    }
}

row! {
    /// What is needed to tell whether a session can be killed as it is.
    WindowZoom {
        window: WindowId = "window_id",
        zoomed: bool = "window_zoomed_flag",
    }
}

/// Ends a session, without any help of our client, which may sit in it and goes elsewhere.
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

/// The command that keeps a session from being destroyed while nobody is attached to it.
pub(super) fn keep_unattached(session: &str) -> Command {
    Command::action("set-option").option("-t", session).arg("destroy-unattached").arg("off")
}

impl NewPane {
    /// What tmux is to run, in its words; none for its own choice.
    pub(super) fn plain_words(&self) -> &[String] {
        self.command.as_ref().map_or(self.program.as_slice(), slice::from_ref)
    }

    /// The same for a pane that stays. When a program ends, tmux drops what it has not sent to a
    /// control client yet, or dies of it: where that matters, a pause follows its last words.
    pub(super) fn words(&self, version: Version) -> Vec<String> {
        let words = self.plain_words();
        if words.is_empty() || !(self.lingers || version.dies_of_unread_output()) {
            return words.to_vec();
        }
        // A command gets the foreground, as tmux would give it; there it could not be stopped either.
        // A shell takes the terminal by itself, and gives it back.
        let (flags, script) = match self.command {
            Some(_) => ("-mc", r#"trap '' TSTP; "${SHELL:-/bin/sh}" -c "$0"; code=$?; set +m"#),
            None => ("-c", r#""$0" "$@"; code=$?"#),
        };
        let script = format!("{script}; sleep 0.1; exit $code");
        let mut paused = vec!["/bin/sh".to_owned(), flags.to_owned(), script];
        paused.extend_from_slice(words);
        paused
    }
}

/// A window whose pane stays after its program has exited and is marked as ours. In one sequence,
/// since a program may exit before a second command could reach tmux.
fn window_of_our_own(
    window: Command,
    place: &str,
    wish: &NewPane,
    owner: &Owner,
    version: Version,
) -> Vec<Command> {
    let window = window
        .arg("-P")
        .option("-F", CreatedPane::format())
        .option("-t", place)
        .option_if("-n", wish.name.as_deref().map(escape_format))
        .option_if("-c", wish.cwd.as_deref().map(escape_format));
    let mut window =
        with_environment(window, wish.env.iter().map(|(k, v)| (k.as_str(), v.as_str())));
    let words = wish.words(version);
    if !words.is_empty() {
        window = words.iter().fold(window.arg("--"), |window, word| window.arg(word));
    }
    let mut commands = vec![window];
    commands.extend(stay("-w", place, version));
    // A shell does not end by itself, so it needs no pipe.
    if wish.command.is_some() && version.loses_last_output() {
        commands.extend(drain(place));
    }
    if version.ignores_new_size() {
        commands.extend(resize(place, Some(WINDOW_WIDTH), Some(WINDOW_HEIGHT)));
    }
    commands.push(owner.mark(place));
    commands
}

/// The commands that keep a pane (`-p`), or the panes of a window (`-w`), when the program has
/// exited.
pub(super) fn stay(scope: &str, target: &str, version: Version) -> Vec<Command> {
    let set = |name: &str, value: &str| {
        Command::action("set-option").arg(scope).option("-t", target).arg(name).arg(value)
    };
    let mut commands = vec![set("remain-on-exit", "on")];
    if version.has_remain_on_exit_format() {
        commands.push(set("remain-on-exit-format", ""));
    }
    commands
}

/// The commands that pipe a pane to nowhere, and note that this is so.
pub(super) fn drain(pane: &str) -> [Command; 2] {
    let set = Command::action("set-option").arg("-p").option("-t", pane);
    let pipe = Command::action("pipe-pane").option("-t", pane);
    [pipe.arg("exec cat >/dev/null"), set.arg(DRAIN_OPTION).arg("1")]
}

/// The commands that give a window a size, which is still the people's to change: a size that is
/// set stays for ever, so the setting is taken back.
pub(super) fn resize(window: &str, width: Option<u32>, height: Option<u32>) -> [Command; 2] {
    let resize = Command::action("resize-window").option("-t", window);
    let unset = Command::action("set-option").arg("-wu").option("-t", window);
    [resize.option_if("-x", width).option_if("-y", height), unset.arg("window-size")]
}

/// Adds `-e NAME=VALUE` for each.
pub(crate) fn with_environment<'a>(
    command: Command,
    env: impl Iterator<Item = (&'a str, &'a str)>,
) -> Command {
    env.fold(command, |command, (name, value)| command.option("-e", format!("{name}={value}")))
}

/// Reads what the creating command printed, whichever of the sequence it was.
fn created(replies: Vec<tmux_control::Reply>) -> Result<CreatedPane, Error> {
    let printed: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    CreatedPane::parse_one("new-window", &printed)
}

row! {
    /// What is needed to tell an orphan.
    OwnerRow {
        pane: PaneId = "pane_id",
        home: String = "@mcp_home",
        owner: String = "@mcp_owner",
    }
}

/// Removes the panes that dead servers left in sessions of their own. A pane that a person opened
/// there is left alone, and the session with it. Attaches to nothing.
pub(super) async fn reap(tmux: &Server) -> Result<(), Error> {
    let list = Command::query("list-panes").arg("-a").option("-F", OwnerRow::format());
    let printed: Vec<u8> = tmux.spawned(&[list]).await?.into_iter().flat_map(|r| r.0).collect();
    for pane in OwnerRow::parse_all("list-panes", &printed)? {
        let dead = Owner::parse(&pane.home).is_some_and(|owner| owner.is_dead());
        if dead && pane.owner == pane.home {
            tracing::info!("removing pane {} of a server that died", pane.pane);
            tmux.spawned(&[Command::action("kill-pane").option("-t", pane.pane)]).await?;
        }
    }
    Ok(())
}
