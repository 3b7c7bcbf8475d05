//! The size of a pane while a command runs in it.

use tmux_control::stream::PaneStream;
use tmux_control::stream::ring::Chunk;
use tmux_control::{Error, PaneId, Row, Server, row};

use super::follow::JobFollower;
use super::job::JobStatus;
use crate::host::PaneState;
use terminal::screen::ScreenPlace;

row! {
    PlaceFacts {
        x: u32 = "cursor_x",
        y: u32 = "cursor_y",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
        history: u32 = "history_size",
        activity: u64 = "session_activity",
    }
}

/// The output of a pane from now on.
pub(super) struct PlacedStream {
    pub(super) stream: PaneStream,
    /// Size and cursor where the stream begins.
    pub(super) place: ScreenPlace,
    /// When a key was last pressed in the pane's session, or a client attached.
    pub(super) activity: u64,
}

row! {
    SizeFacts {
        pane: PaneId = "pane_id",
        width: u32 = "pane_width",
        height: u32 = "pane_height",
    }
}

/// The output of a pane, with its size and cursor where the stream begins.
pub(super) async fn stream_with_place(
    tmux: &Server,
    pane: &PaneState,
) -> Result<PlacedStream, Error> {
    let query = Server::row_query::<PlaceFacts>(&pane.pane.to_string());
    let (stream, replies) = tmux.stream_from(pane.session, pane.pane, vec![query]).await?;
    let reply: Vec<u8> = replies.into_iter().flat_map(|reply| reply.0).collect();
    let PlaceFacts { x, y, width, height, history, activity } =
        PlaceFacts::parse_one("display-message", &reply)?;
    let [column, row, width, height, history] =
        [x, y, width, height, history].map(|number| number as usize);
    let place = ScreenPlace { width, height, row, column, history };
    Ok(PlacedStream { stream, place, activity })
}

impl JobFollower {
    /// Gives the job's screen the size that the pane has from this position of the stream on. Returns
    /// the status if the job is lost.
    pub(super) async fn resize_at(&mut self, position: u64) -> Option<JobStatus> {
        let pane = self.pane.pane.to_string();
        // The stream tells when a pane is gone.
        let SizeFacts { width, height, .. } = self.engine.tmux().row(&pane).await.ok()?;
        let size = (width as usize, height as usize);
        while self.stream.position() < position {
            let chunk = self.stream.next().await;
            let Chunk::Bytes { bytes, next } = chunk else {
                if let Some(status) = self.handle(chunk) {
                    return Some(status);
                }
                continue;
            };
            let after = usize::try_from(next.saturating_sub(position)).unwrap_or(usize::MAX);
            let (before, after) = bytes.split_at(bytes.len().saturating_sub(after));
            self.scan(before);
            if next >= position {
                self.resize(size);
                self.scan(after);
                return None;
            }
        }
        self.resize(size);
        None
    }

    fn resize(&mut self, (width, height): (usize, usize)) {
        self.echo.resize(width, height, &mut |_| {});
        self.job.resize(width, height);
    }
}
