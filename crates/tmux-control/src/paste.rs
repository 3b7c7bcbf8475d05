//! Pastes: text of any length that a pane receives as one input.

use crate::command::Command;
use crate::error::Error;
use crate::id::PaneId;
use crate::receivers::Receivers;
use crate::server::Server;

/// How many bytes of the text one `set-buffer` command holds.
const MAX_PIECE_BYTES: usize = 256 * 1024;

/// A paste through a temporary buffer, which is deleted afterwards.
#[derive(Debug, Clone, Copy)]
pub struct Paste<'a> {
    /// The name of the temporary buffer; no other buffer may have it.
    pub buffer: &'a str,
    /// The text.
    pub text: &'a str,
    /// Whether to send bracketed-paste sequences if the program has requested them.
    pub bracketed: bool,
}

impl Paste<'_> {
    /// Pastes into a pane.
    pub async fn into(self, server: &Server, receivers: impl Into<Receivers>) -> Result<(), Error> {
        let receivers = receivers.into();
        let paste = self.command(server, receivers.pane()).await?;
        let mut outcome = self.load(server).await;
        if outcome.is_ok() {
            outcome = server.type_into(&receivers, vec![paste]).await;
        }
        if outcome.is_err() {
            self.delete(server).await;
        }
        outcome
    }

    /// Presses keys and pastes without a break, if the format `condition` is true for the pane at that moment.
    /// False if it is not; then nothing was typed.
    pub async fn into_if(
        self,
        server: &Server,
        receivers: impl Into<Receivers>,
        condition: &str,
        keys: Vec<Command>,
    ) -> Result<bool, Error> {
        let receivers = receivers.into();
        let paste = self.command(server, receivers.pane()).await?;
        let mut outcome = self.load(server).await.map(|()| true);
        if outcome.is_ok() {
            let commands = keys.into_iter().chain([paste]).collect();
            outcome = server.type_if(&receivers, condition, commands).await;
        }
        if !matches!(outcome, Ok(true)) {
            self.delete(server).await;
        }
        outcome
    }

    /// The command that pastes the buffer and deletes it.
    async fn command(self, server: &Server, pane: PaneId) -> Result<Command, Error> {
        Ok(paste(server, self.buffer, self.bracketed, pane).await?.arg("-d"))
    }

    async fn load(self, server: &Server) -> Result<(), Error> {
        let set = |(index, piece)| {
            let set = Command::action("set-buffer").arg_if(index > 0, "-a");
            set.option("-b", self.buffer).arg("--").arg(piece)
        };
        server.run_all(pieces(self.text).enumerate().map(set).collect()).await
    }

    /// A paste that failed has not deleted its buffer.
    async fn delete(self, server: &Server) {
        let _ = server.run(Command::action("delete-buffer").option("-b", self.buffer)).await;
    }
}

impl Server {
    /// Pastes a buffer into a pane, byte for byte. The buffer stays.
    pub async fn paste_buffer(
        &self,
        buffer: &str,
        bracketed: bool,
        receivers: &Receivers,
    ) -> Result<(), Error> {
        let paste = paste(self, buffer, bracketed, receivers.pane()).await?;
        self.type_into(receivers, vec![paste]).await
    }
}

async fn paste(
    server: &Server,
    buffer: &str,
    bracketed: bool,
    pane: PaneId,
) -> Result<Command, Error> {
    let raw = server.version().await?.paste_rewrites_controls();
    Ok(Command::action("paste-buffer")
        .arg_if(bracketed, "-p")
        .arg_if(raw, "-S")
        .option("-b", buffer)
        .option("-t", pane))
}

/// The text in pieces that end at character boundaries.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let longest = MAX_PIECE_BYTES.min(rest.len());
        let at = (0..=longest).rev().find(|&at| rest.is_char_boundary(at))?;
        let (piece, tail) = rest.split_at(at);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}
