//! `paste_buffer`: pastes a tmux buffer into a pane.

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::{PASTE_END, must_take_input};
use crate::context::{Cx, Keystroke, Tool, buffer_failed};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::words::{FactRow, count, field};

/// Size of the tail of a buffer that is recorded as typed input.
const MAX_TAIL_BYTES: usize = 64 * 1024;

pub(super) struct PasteBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer.
    name: BufferName,
    /// Pane.
    target: Target,
    /// Bracketed paste (default true).
    bracketed: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct PastedBuffer {
    /// Name of the buffer.
    name: String,
    /// Size of the buffer in bytes.
    bytes: u64,
    /// Pane id.
    pane_id: String,
}

impl Output for PastedBuffer {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { name, bytes, pane_id } = self;
        FactRow::new(format!("pasted {} into {pane_id}", field(name)))
            .fact(count(*bytes, "byte"))
            .into()
    }
}

impl Tool for PasteBuffer {
    const META: Meta = Meta {
        name: "paste_buffer",
        title: "Paste buffer",
        description: "Paste a tmux buffer into a pane; the buffer stays.",
        group: Group::Input,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = PastedBuffer;

    async fn call(cx: &Cx, args: Args) -> Result<PastedBuffer, ToolError> {
        let bracketed = args.bracketed.unwrap_or(true);
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        let name = cx.buffer(&args.name).await?.row.name;
        let failed = |error| buffer_failed(&name, error);
        let mut scan = PasteScan { keeps_all: cx.filters_commands(), ..PasteScan::default() };
        let mut reader = cx.tmux().read_buffer(&name).await.map_err(failed)?;
        while let Some(piece) = reader.next().await.map_err(failed)? {
            scan.push(piece);
        }
        if bracketed && scan.ends_a_paste {
            return Err(ToolError::invalid_argument(format!(
                "buffer `{name}` contains the sequence that ends a paste"
            ))
            .hint("remove ESC [ 2 0 1 ~ from it, or give `bracketed` false"));
        }
        let text = String::from_utf8_lossy(&scan.tail);
        let turn = cx.turn_to_type(&pane, Keystroke::of_paste(&text, bracketed)).await?;
        cx.runs.note_typed(&pane, &text, false).await;
        let receivers = cx.receivers(&args.target, &pane).await?;
        cx.tmux().paste_buffer(&name, bracketed, &receivers).await.map_err(failed)?;
        turn.done();
        Ok(PastedBuffer { name, bytes: scan.bytes, pane_id: pane.pane.to_string() })
    }
}

/// Facts about a buffer, collected before it is pasted.
#[derive(Debug, Default)]
struct PasteScan {
    bytes: u64,
    tail: Vec<u8>,
    ends_a_paste: bool,
    /// Whether `tail` keeps the whole buffer, since the policy judges every line.
    keeps_all: bool,
}

impl PasteScan {
    fn push(&mut self, piece: &[u8]) {
        let start = self.tail.len().saturating_sub(PASTE_END.len() - 1);
        self.bytes += piece.len() as u64;
        self.tail.extend_from_slice(piece);
        let unsearched = self.tail.get(start..).unwrap_or_default();
        self.ends_a_paste |= memmem::find(unsearched, PASTE_END.as_bytes()).is_some();
        if !self.keeps_all {
            let excess = self.tail.len().saturating_sub(MAX_TAIL_BYTES);
            self.tail.drain(..excess);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paste_end_is_found_across_pieces() {
        let text = b"abc\x1b[201~def";
        for cut in 0..text.len() {
            let mut scan = PasteScan::default();
            scan.push(&text[..cut]);
            scan.push(&text[cut..]);
            assert!(scan.ends_a_paste && scan.tail == text, "{cut}");
        }
        let mut scan = PasteScan::default();
        scan.push(&vec![b'x'; MAX_TAIL_BYTES]);
        scan.push(b"\x1b[20");
        assert_eq!((scan.tail.len(), scan.bytes), (MAX_TAIL_BYTES, MAX_TAIL_BYTES as u64 + 4));
        assert!(!scan.ends_a_paste);
        scan.push(b"1~");
        assert!(scan.ends_a_paste);
    }
}
