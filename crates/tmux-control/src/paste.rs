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
        let Self { buffer, text, bracketed } = self;
        let receivers = receivers.into();
        let commands: Vec<Command> = pieces(text)
            .enumerate()
            .map(|(index, piece)| {
                let set = Command::action("set-buffer").arg_if(index > 0, "-a");
                set.option("-b", buffer).arg("--").arg(piece)
            })
            .collect();
        let paste = paste(server, buffer, bracketed, receivers.pane()).await?.arg("-d");
        let mut outcome = server.run_all(commands).await;
        if outcome.is_ok() {
            outcome = server.type_into(&receivers, vec![paste]).await;
        }
        if outcome.is_err() {
            let _ = server.run(Command::action("delete-buffer").option("-b", buffer)).await;
        }
        outcome
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
