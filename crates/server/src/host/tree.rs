//! Every pane of the server in one question.
//!
//! A format variable costs tmux about two microseconds. `list-panes` would print the session and the
//! window of each pane again and again; nested loops print each once.

use tmux::format::Cells;
use tmux::{Command, Error, PaneId, Row, Server, SessionId, WindowId, row};

use super::none_without_server;
use super::rows::{Life, PaneRow};

row! {
    SessionPart {
        session: SessionId = "session_id",
        name: String = "session_name",
    }
}

row! {
    WindowPart {
        window: WindowId = "window_id",
        index: u32 = "window_index",
        name: String = "window_name",
    }
}

row! {
    PanePart {
        pane: PaneId = "pane_id",
        index: u32 = "pane_index",
        title: String = "pane_title",
        command: String = "pane_current_command",
        path: String = "pane_current_path",
        pid: u32 = "pane_pid",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        active: bool = "pane_active",
        life: Life = "?pane_dead,x#{pane_dead_status}/#{pane_dead_signal},",
        owner: String = "@mcp_owner",
    }
}

/// Asks for all panes; none if no server runs.
pub(super) async fn panes(tmux: &Server) -> Result<Vec<PaneRow>, Error> {
    let format = format!(
        "s;{}#{{W:w;{}#{{P:p;{}}}}}",
        SessionPart::format(),
        WindowPart::format(),
        PanePart::format()
    );
    let list = Command::query("list-sessions").option("-F", format);
    let reply = none_without_server(tmux.run(list).await.map(|reply| reply.0))?;
    read(Cells::all("list-sessions", &reply)?)
        .ok_or_else(|| Error::unexpected("list-sessions", &reply))
}

/// Puts the parts together; each begins with its letter.
fn read(mut cells: Cells) -> Option<Vec<PaneRow>> {
    let (mut session, mut window, mut panes) = (None, None, Vec::new());
    while let Some(kind) = cells.next::<String>() {
        match kind.as_str() {
            "s" => session = Some(SessionPart::read(&mut cells)?),
            "w" => window = Some(WindowPart::read(&mut cells)?),
            "p" => {
                let (session, window): (&SessionPart, &WindowPart) =
                    (session.as_ref()?, window.as_ref()?);
                let pane = PanePart::read(&mut cells)?;
                panes.push(PaneRow {
                    pane: pane.pane,
                    session: session.session,
                    session_name: session.name.clone(),
                    window: window.window,
                    window_index: window.index,
                    window_name: window.name.clone(),
                    index: pane.index,
                    title: pane.title,
                    command: pane.command,
                    path: pane.path,
                    pid: pane.pid,
                    width: pane.width,
                    height: pane.height,
                    active: pane.active,
                    life: pane.life,
                    owner: pane.owner,
                });
            }
            _ => return None,
        }
    }
    Some(panes)
}
