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

use crate::command::Command;
use crate::error::Error;
use crate::id::{PaneId, SessionId};
use crate::server::{Server, TmuxReply};
use crate::stream::PaneSession;

/// How often a respawn is tried while control clients come and go: a command for a client that has
/// just detached fails, and tmux then runs no later command of the sequence.
const MAX_ATTEMPTS: u32 = 5;

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
}

/// A client on which the pane is paused during the respawn.
struct PausedClient {
    name: String,
    /// Whether it is continued afterwards.
    continues: bool,
}

impl PausedClient {
    fn command(&self, pane: PaneId, state: &str) -> Command {
        let state = format!("{pane}:{state}");
        Command::action("refresh-client").option("-t", &self.name).option("-A", state)
    }
}

impl Server {
    /// Runs `respawn`, a `respawn-pane` of this pane, and then `later` without a break between the
    /// commands. Returns the replies to these commands.
    ///
    /// A client that attaches in the moment before the sequence is not paused. Neither is a client
    /// of another program that received the pane's output and has left the pane's session since.
    pub async fn respawn(
        &self,
        pane: PaneId,
        respawn: Command,
        later: Vec<Command>,
    ) -> Result<Vec<TmuxReply>, Error> {
        let mut attempt = 1;
        loop {
            let clients = self.clients_to_pause(pane).await?;
            let pauses = clients.iter().map(|client| client.command(pane, "pause"));
            let continues: Vec<Command> = clients
                .iter()
                .filter(|client| client.continues)
                .map(|client| client.command(pane, "continue"))
                .collect();
            let mut commands: Vec<Command> = pauses.collect();
            let first = commands.len();
            commands.push(respawn.clone());
            commands.extend(continues.iter().cloned());
            commands.extend(later.iter().cloned());
            match self.sequence(commands).await {
                Ok(mut replies) => {
                    replies.drain(..first.min(replies.len()));
                    return Ok(replies);
                }
                Err(error) => {
                    // Each in a line of its own: clients that are gone do not matter.
                    let _ = self.run_all(continues).await;
                    let client_gone = matches!(&error, Error::Refused { command, .. }
                        if command == "refresh-client");
                    if !client_gone || attempt == MAX_ATTEMPTS {
                        return Err(error);
                    }
                    attempt += 1;
                }
            }
        }
    }

    /// The clients on which a pane has to be paused.
    async fn clients_to_pause(&self, pane: PaneId) -> Result<Vec<PausedClient>, Error> {
        let (panes, clients) = tokio::join!(
            self.rows::<PaneSession>(Command::query("list-panes").arg("-a")),
            self.rows::<AttachedClient>(Command::query("list-clients")),
        );
        // A window can be linked into several sessions.
        let sessions: Vec<SessionId> =
            panes?.into_iter().filter(|row| row.pane == pane).map(|row| row.session).collect();
        let clients = clients?.into_iter().filter(AttachedClient::receives_output);
        Ok(clients
            .filter_map(|client| {
                let sees_pane = client.session.is_some_and(|session| sessions.contains(&session));
                // The pane may have left the session of a stream client of ours, with output unsent.
                // To continue there would make tmux keep all further output for it.
                if !sees_pane && !self.attach_lock().is_stream_client(client.pid) {
                    return None;
                }
                // A client with `pause-after` continues its panes by itself, when it wants to.
                let continues = sees_pane && !client.has_flag("pause-after");
                Some(PausedClient { name: client.name, continues })
            })
            .collect())
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
