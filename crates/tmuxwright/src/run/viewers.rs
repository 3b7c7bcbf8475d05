//! The people who look at a pane: tmux clients with a keyboard whose current pane it is, and when
//! they last pressed a key.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tmux_control::{Command, Error, PaneId, Server, SessionId, row};

use super::cursor_row::CursorRow;
use super::limits::QUIET_SECONDS;
use crate::host::PaneState;

row! {
    ClientFacts {
        control_mode: bool = "client_control_mode",
        pane: Option<PaneId> = "pane_id",
        session: Option<SessionId> = "session_id",
        last_key: u64 = "client_activity",
        session_activity: u64 = "session_activity",
    }
}

/// The people who look at one pane.
#[derive(Debug)]
pub(super) struct Viewers {
    /// When one of them pressed the last key, in seconds since 1970.
    last_key: Option<u64>,
    /// The same for all people in the pane's session: one of them may have left the pane.
    last_key_in_session: Option<u64>,
    /// Their sessions, with the activity that tmux counts for each: a key, or a client that attached.
    sessions: BTreeMap<SessionId, u64>,
}

impl Viewers {
    pub(super) async fn read(tmux: &Server, pane: &PaneState) -> Result<Self, Error> {
        let mut clients: Vec<ClientFacts> = tmux.rows(Command::query("list-clients")).await?;
        clients.retain(|client| !client.control_mode);
        let here = |client: &&ClientFacts| client.pane == Some(pane.pane);
        let in_session = |client: &&ClientFacts| client.session == Some(pane.session);
        let last_key = |client: &ClientFacts| client.last_key;
        let activity = |client: &ClientFacts| Some((client.session?, client.session_activity));
        Ok(Self {
            last_key: clients.iter().filter(here).map(last_key).max(),
            last_key_in_session: clients.iter().filter(in_session).map(last_key).max(),
            sessions: clients.iter().filter(here).filter_map(activity).collect(),
        })
    }

    /// Whether nobody looks at the pane.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Whether a person has pressed a key within this time, or may have.
    pub(super) fn typed_within(&self, time: Duration) -> bool {
        self.last_key.is_some_and(|last| is_within(last, time))
    }

    /// The same for all people in the pane's session.
    pub(super) fn session_typed_within(&self, time: Duration) -> bool {
        self.last_key.max(self.last_key_in_session).is_some_and(|last| is_within(last, time))
    }

    /// Time to wait until a key of these people can be told from the last one; `None` if it can be
    /// now.
    pub(super) fn wait(&self) -> Option<Duration> {
        let quiet_from = self.last_key.map(|last| last + QUIET_SECONDS);
        // Within one second tmux shows no difference between one key and two.
        let distinct_from = self.sessions.values().max().map(|activity| activity + 1);
        let until = UNIX_EPOCH + Duration::from_secs(quiet_from.max(distinct_from)?);
        until.duration_since(SystemTime::now()).ok().filter(|rest| !rest.is_zero())
    }

    /// Whether nobody had pressed a key by the time they were read again.
    pub(super) fn have_been_idle(&self, now: &Self) -> bool {
        self.sessions == now.sessions
    }

    /// A format that is true while none of them has pressed a key since.
    pub(super) fn unchanged(&self) -> String {
        self.sessions.iter().fold("1".to_owned(), |all, (session, activity)| {
            let now =
                format!("#{{S:#{{?#{{==:#{{session_id}},{session}}},#{{session_activity}},}}}}");
            format!("#{{&&:{all},#{{==:{now},{activity}}}}}")
        })
    }

    /// A format that is true while none of them has pressed a key since, and the cursor is where it was.
    pub(super) fn unchanged_at(&self, cursor: &CursorRow) -> String {
        format!("#{{&&:{},{}}}", cursor.unmoved(), self.unchanged())
    }
}

/// A format that is true for a pane in whose session no key was pressed within this time; or in whose
/// window nobody is now, and whose session has the same activity as when it was `unwatched`: at a moment
/// when nobody looked at the pane.
pub(super) fn no_key_within(time: Duration, unwatched: Option<u64>) -> String {
    // tmux tells whole seconds.
    let before = now().saturating_sub(time.as_secs().saturating_add(QUIET_SECONDS - 1));
    let quiet = format!("#{{<:#{{session_activity}},{before}}}");
    match unwatched {
        // The name of a client with a keyboard is the path of its terminal.
        Some(activity) => format!(
            "#{{||:{quiet},#{{&&:#{{==:#{{session_activity}},{activity}}},\
             #{{?#{{m:*/*,#{{window_active_clients_list}}}},0,1}}}}}}"
        ),
        None => quiet,
    }
}

/// Whether a second is within this time from now, or may be.
pub(super) fn is_within(second: u64, time: Duration) -> bool {
    now() < second.saturating_add(time.as_secs().saturating_add(QUIET_SECONDS))
}

/// Seconds since 1970, as tmux counts activity.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
