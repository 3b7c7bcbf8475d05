//! `paste_buffer`: a paste buffer as one paste.

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::typing::{PASTE_END, must_take_input};
use crate::context::{Cx, Keystroke, Tool, buffer_failed};
use crate::contract::{BufferName, Form, Group, Load, Meta, Output, Target, Tier, ToolError};
use crate::results::words::count;
use terminal::text::inline;

/// How much of the end of a buffer is remembered as typed: more than anybody asks for.
const REMEMBERED: usize = 64 * 1024;

pub(super) struct PasteBuffer;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Buffer.
    name: BufferName,
    /// Pane.
    target: Target,
    /// As in paste_text (default true).
    bracketed: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Pasted {
    /// The buffer.
    name: String,
    /// How large it is.
    bytes: u64,
    /// The pane.
    pane_id: String,
}

impl Output for Pasted {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let Self { name, bytes, pane_id } = self;
        format!("pasted {} into {pane_id} · {}", inline(name), count(*bytes, "byte"))
    }
}

impl Tool for PasteBuffer {
    const META: Meta = Meta {
        name: "paste_buffer",
        title: "Paste buffer",
        description: "Paste a buffer into a pane; the buffer stays.",
        group: Group::Input,
        tier: Tier::Mutate,
        sets: &[],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Pasted;

    async fn call(cx: &Cx, args: Args) -> Result<Pasted, ToolError> {
        let bracketed = args.bracketed.unwrap_or(true);
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        let name = cx.buffer(&args.name).await?.row.name;
        let lost = |error| buffer_failed(&name, error);
        let mut seen = Seen { keeps_all: cx.filters_commands(), ..Seen::default() };
        let mut reader = cx.tmux().read_buffer(&name).map_err(lost)?;
        while let Some(piece) = reader.next().await.map_err(lost)? {
            seen.push(piece);
        }
        if bracketed && seen.ends_a_paste {
            return Err(ToolError::invalid_argument(format!(
                "buffer `{name}` holds the sequence that ends a paste"
            ))
            .hint("take ESC [ 2 0 1 ~ out of it, or give `bracketed` false"));
        }
        let text = String::from_utf8_lossy(&seen.end);
        let turn = cx.turn(&pane, Keystroke::of_paste(&text, bracketed)).await?;
        cx.runs.typed_into(pane.pane, &text, false);
        cx.tmux().paste_buffer(&name, bracketed, pane.pane).await.map_err(lost)?;
        turn.done();
        Ok(Pasted { name, bytes: seen.bytes, pane_id: pane.pane.to_string() })
    }
}

/// What is to be known of a buffer before it is pasted.
#[derive(Debug, Default)]
struct Seen {
    bytes: u64,
    end: Vec<u8>,
    ends_a_paste: bool,
    /// Whether its end is all of it, since all lines have to be known.
    keeps_all: bool,
}

impl Seen {
    fn push(&mut self, piece: &[u8]) {
        let torn = self.end.len().saturating_sub(PASTE_END.len() - 1);
        self.bytes += piece.len() as u64;
        self.end.extend_from_slice(piece);
        let news = self.end.get(torn..).unwrap_or_default();
        self.ends_a_paste |= memmem::find(news, PASTE_END.as_bytes()).is_some();
        if !self.keeps_all {
            let old = self.end.len().saturating_sub(REMEMBERED);
            self.end.drain(..old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_paste_is_seen_wherever_the_cut_is() {
        let text = b"abc\x1b[201~def";
        for cut in 0..text.len() {
            let mut seen = Seen::default();
            seen.push(&text[..cut]);
            seen.push(&text[cut..]);
            assert!(seen.ends_a_paste && seen.end == text, "{cut}");
        }
        let mut seen = Seen::default();
        seen.push(&vec![b'x'; REMEMBERED]);
        seen.push(b"\x1b[20");
        assert_eq!((seen.end.len(), seen.bytes), (REMEMBERED, REMEMBERED as u64 + 4));
        assert!(!seen.ends_a_paste);
        seen.push(b"1~");
        assert!(seen.ends_a_paste);
    }
}
