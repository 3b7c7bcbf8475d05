//! Removes what dead processes of this program left in tmux. All of it attaches to no session.

use process::Processes;
use tmux_control::{Command, Error, Row, Server, row};

use super::buffers;
use super::owner::{Owner, OwnerRow};

row! {
    /// A client and whose it is.
    LabelRow {
        pid: u32 = "client_pid",
        label: String = "client_termname",
    }
}

/// Removes clients, panes and buffers.
pub(super) async fn reap(tmux: &Server, processes: &Processes) -> Result<(), Error> {
    // First, because tmux does not read the output of a pane that a dead client follows.
    clients(tmux, processes).await?;
    panes(tmux).await?;
    buffers::reap(tmux).await
}

/// Ends the control clients. tmux keeps one whose input has ended until it has taken all output.
async fn clients(tmux: &Server, processes: &Processes) -> Result<(), Error> {
    for client in rows::<LabelRow>(tmux, Command::query("list-clients")).await? {
        if Owner::of_client_label(&client.label).is_some_and(|owner| owner.is_dead()) {
            tracing::info!("ending client {} of a dead process", client.pid);
            processes.terminate(client.pid).await;
        }
    }
    Ok(())
}

/// Removes the panes in own sessions. A pane that a person opened there stays, and the session with it.
async fn panes(tmux: &Server) -> Result<(), Error> {
    for pane in rows::<OwnerRow>(tmux, Command::query("list-panes").arg("-a")).await? {
        let dead = Owner::parse(&pane.session_owner).is_some_and(|owner| owner.is_dead());
        if dead && pane.owner == pane.session_owner {
            tracing::info!("removing pane {} of a dead process", pane.pane);
            tmux.spawned(&[Command::action("kill-pane").option("-t", pane.pane)]).await?;
        }
    }
    Ok(())
}

async fn rows<R: Row>(tmux: &Server, list: Command) -> Result<Vec<R>, Error> {
    let name = list.name().to_owned();
    let replies = tmux.spawned(&[list.option("-F", R::format())]).await?;
    let printed: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    R::parse_all(&name, &printed)
}
