//! Replacing the program of a pane without crashing tmux.
//!
//! `respawn-pane` gives the pane a new output buffer, but tmux (3.2a to 3.7c, `spawn.c` and
//! `control.c`) keeps the positions in the old buffer up to which it has sent output to each
//! control client. If one of them lags, which it does while the pane prints a lot, tmux then reads
//! beyond the new buffer: the server crashes and all its sessions end.
//!
//! Pausing a pane on a client discards the unsent output and excludes the client's position, and
//! continuing sets that position anew. So the pane is paused on the control clients that receive its
//! output, respawned, and continued, in one sequence: tmux reads no output between the commands of a
//! sequence, so none of the new program is lost. `refresh-client -t` does this for the clients of
//! other programs too.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::command::Command;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::Server;

/// The failure that tmux reports if a client has come or gone since the clients were listed.
const CLIENTS_CHANGED: &str = "clients-changed";

/// The message if a pane has another first process than expected.
const RESPAWNED: &str = "respawned";

/// The pause before the clients are listed again.
const LIST_INTERVAL: Duration = Duration::from_millis(5);

crate::row! {
    /// A pane in one of its sessions, with the clients of that session.
    PaneClients {
        pane: PaneId = "pane_id",
        session: SessionId = "session_id",
        attached: String = "session_attached_list",
    }
}

crate::row! {
    /// A client attached to the tmux server.
    AttachedClient {
        name: String = "client_name",
        pid: u32 = "client_pid",
        session: Option<SessionId> = "session_id",
        flags: String = "client_flags",
    }
}

impl AttachedClient {
    fn has_flag(&self, name: &str) -> bool {
        self.flags.split(',').any(|flag| flag.split('=').next() == Some(name))
    }

    /// Whether tmux sends it the output of panes.
    fn receives_output(&self) -> bool {
        self.has_flag("control-mode") && !self.has_flag("no-output")
    }

    fn set_output(&self, pane: PaneId, state: &str) -> Command {
        let state = format!("{pane}:{state}");
        Command::action("refresh-client").option("-t", &self.name).option("-A", state)
    }
}

/// The commands around a respawn.
struct Precautions {
    /// Fail if the clients are others than when they were listed.
    unchanged: Vec<Command>,
    /// Pause the pane.
    pause: Vec<Command>,
    /// Continue it.
    resume: Vec<Command>,
}

impl Server {
    /// Runs `respawn`, a `respawn-pane` of this pane.
    ///
    /// One case is not covered: a control client of another program that received the pane's output
    /// and is attached to another session since.
    pub async fn respawn(&self, pane: PaneId, respawn: Command) -> Result<(), Error> {
        let deadline = Instant::now() + self.deadline();
        loop {
            if let Some(Precautions { unchanged, pause, resume }) = self.precautions(pane).await? {
                let mut commands = [unchanged, pause].concat();
                commands.push(respawn.clone());
                commands.extend_from_slice(&resume);
                match self.sequence(commands).await {
                    Ok(_) => return Ok(()),
                    Err(Error::Refused { message, .. })
                        if message.contains(CLIENTS_CHANGED)
                            || message.contains("can't find client") => {}
                    Err(error) => {
                        // Each in a line of its own: clients that are gone do not matter.
                        let _ = self.run_all(resume).await;
                        return Err(error);
                    }
                }
            }
            if Instant::now() >= deadline {
                let command = "respawn-pane".to_owned();
                return Err(Error::Timeout { command, after: self.deadline() });
            }
            sleep(LIST_INTERVAL).await;
        }
    }

    /// Stops the sending of a pane's output to control clients, before its first process exits. Does
    /// nothing if the pane was respawned: nobody would continue the output of the new process.
    pub async fn pause_output(&self, pane: PaneId, first_process: u32) -> Result<(), Error> {
        let Some(Precautions { pause, .. }) = self.precautions(pane).await? else { return Ok(()) };
        let is_same = format!("#{{==:#{{pane_pid}},{first_process}}}");
        let require_same = Command::require(pane, &is_same, RESPAWNED);
        // Each in a line of its own: clients that are gone do not matter.
        self.run_lines(pause.into_iter().map(|pause| vec![require_same.clone(), pause]).collect())
            .await
    }

    /// The commands around the respawn of a pane. `None` while a client is detaching: tmux no longer
    /// lists it, but keeps its position.
    async fn precautions(&self, pane: PaneId) -> Result<Option<Precautions>, Error> {
        // First the names of the clients, then the clients: one that attaches in between changes
        // the names.
        let mut panes: Vec<PaneClients> = self.rows(Command::query("list-panes").arg("-a")).await?;
        panes.retain(|row| row.pane == pane);
        let clients: Vec<AttachedClient> = self.rows(Command::query("list-clients")).await?;
        // A window can be linked into several sessions, and into one of them several times.
        let sessions: BTreeMap<SessionId, String> =
            panes.into_iter().map(|row| (row.session, row.attached)).collect();
        let mut names = sessions.values().flat_map(|names| names.split(','));
        let is_listed = |name: &str| clients.iter().any(|client| client.name == name);
        if names.any(|name| !name.is_empty() && !is_listed(name)) {
            return Ok(None);
        }
        let unchanged: Vec<Command> = sessions
            .iter()
            .map(|(session, names)| {
                let unchanged = format!("#{{==:#{{session_attached_list}},{names}}}");
                Command::require(session, &unchanged, CLIENTS_CHANGED)
            })
            .collect();
        let (mut pause, mut resume) = (Vec::new(), Vec::new());
        for client in clients.iter().filter(|client| client.receives_output()) {
            let sees_pane = client.session.is_some_and(|id| sessions.contains_key(&id));
            // The pane may have left the session of a stream client of ours, with output unsent. To
            // continue there would make tmux keep all further output for it.
            if sees_pane || self.attach_lock().is_stream_client(client.pid) {
                pause.push(client.set_output(pane, "pause"));
            }
            // A client with `pause-after` continues its panes by itself, when it wants to.
            if sees_pane && !client.has_flag("pause-after") {
                resume.push(client.set_output(pane, "continue"));
            }
        }
        Ok(Some(Precautions { unchanged, pause, resume }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_goes_to_control_clients_without_no_output() {
        let receives = |flags: &str| {
            let name = String::new();
            AttachedClient { name, pid: 1, session: None, flags: flags.to_owned() }
                .receives_output()
        };
        assert!(receives("attached,control-mode,UTF-8"));
        assert!(receives("attached,control-mode,pause-after=3"));
        assert!(!receives("attached,control-mode,no-output"));
        assert!(!receives("attached,focused,UTF-8"));
    }
}
