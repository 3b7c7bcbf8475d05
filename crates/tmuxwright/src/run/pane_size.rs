//! The size of a pane while a command runs in it.

use futures::FutureExt;
use tmux_control::stream::ring::Chunk;
use tmux_control::stream::{PaneStream, StreamItem};
use tmux_control::{Error, PaneId, Row, Server, row};

use super::limits::SHELL_RESPONSE_TIMEOUT;
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

/// An item of a job's stream.
#[derive(Debug)]
pub(super) enum SizedItem {
    Chunk(Chunk),
    /// Width and height of the pane from here on.
    Size(usize, usize),
}

/// The outcome of a wait for all output of a pane.
#[derive(Debug)]
pub(super) enum CatchUp {
    /// All output and all typed keys have arrived.
    Done,
    /// Output came meanwhile.
    Item(SizedItem),
    TimedOut,
}

/// Waits until all output that a pane has printed by now is in its stream. False on timeout.
pub(super) async fn catch_up(tmux: &Server, pane: &PaneState) -> bool {
    let caught_up = tmux.catch_up(pane.session, pane.pane);
    tokio::time::timeout(SHELL_RESPONSE_TIMEOUT, caught_up).await.is_ok()
}

/// The output of a pane, with its changes of size in their places.
pub(super) struct SizedStream {
    reader: PaneStream,
    tmux: Server,
    pane: PaneId,
    /// Whether the reader is at a change of the layout, and the size was not asked for yet.
    is_at_change: bool,
}

impl SizedStream {
    pub(super) fn new(reader: PaneStream, tmux: Server, pane: PaneId) -> Self {
        Self { reader, tmux, pane, is_at_change: false }
    }

    /// A reader of the same output that begins where this one is.
    pub(super) fn reader(&self) -> PaneStream {
        self.reader.clone()
    }

    /// The next item. Cancel safe.
    pub(super) async fn next(&mut self) -> SizedItem {
        loop {
            if let Some(size) = self.take_size().await {
                return size;
            }
            match self.reader.next_item().await {
                StreamItem::Chunk(chunk) => return SizedItem::Chunk(chunk),
                StreamItem::Layout => self.is_at_change = true,
            }
        }
    }

    /// The next item, if it has come. Cancel safe.
    pub(super) async fn next_arrived(&mut self) -> Option<SizedItem> {
        loop {
            if let Some(size) = self.take_size().await {
                return Some(size);
            }
            match self.reader.next_item().now_or_never()? {
                StreamItem::Chunk(chunk) => return Some(SizedItem::Chunk(chunk)),
                StreamItem::Layout => self.is_at_change = true,
            }
        }
    }

    /// Waits for a catch-up of the pane, or for the next item. Cancel safe.
    pub(super) async fn catch_up(&mut self, caught_up: impl Future<Output = bool>) -> CatchUp {
        let caught_up = tokio::select! {
            biased;
            item = self.next() => return CatchUp::Item(item),
            caught_up = caught_up => caught_up,
        };
        // A reader that is being woken has not read what has come.
        match self.next_arrived().await {
            Some(item) => CatchUp::Item(item),
            None if caught_up => CatchUp::Done,
            None => CatchUp::TimedOut,
        }
    }

    /// The size of the pane, if its layout has changed here.
    async fn take_size(&mut self) -> Option<SizedItem> {
        if !self.is_at_change {
            return None;
        }
        let size = self.tmux.row::<SizeFacts>(&self.pane.to_string()).await;
        // Asked again before the next item, unless the pane is gone, which the stream tells.
        let SizeFacts { width, height, .. } = size.ok()?;
        self.is_at_change = false;
        Some(SizedItem::Size(width as usize, height as usize))
    }
}
