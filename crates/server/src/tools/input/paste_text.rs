//! `paste_text`: any amount of text as one paste.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux::Command;

use crate::tool::{Cx, Group, Load, Meta, Target, Tier, Tool, ToolError, Toolset};
use crate::typing::{Typed, must_take_input, pause_before_enter, press_enter};

/// How much of a text goes into one command.
const PIECE: usize = 256 * 1024;

/// What ends a bracketed paste; in the text it would let the rest be taken for typing.
const PASTE_END: &str = "\u{1b}[201~";

pub(super) struct PasteText;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// What to paste.
    text: String,
    /// Mark it as a paste where the program asks for that (default true).
    bracketed: Option<bool>,
    /// Then press Enter.
    enter: Option<bool>,
}

impl Tool for PasteText {
    const META: Meta = Meta {
        name: "paste_text",
        title: "Paste text",
        description: "Paste text of any length into a pane; several lines stay one input.",
        group: Group::Input,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Typed;

    async fn call(cx: &Cx, args: Args) -> Result<Typed, ToolError> {
        if args.text.is_empty() {
            return Err(ToolError::invalid_argument("`text` is empty").hint("give what to paste"));
        }
        let bracketed = args.bracketed.unwrap_or(true);
        if bracketed && args.text.contains(PASTE_END) {
            return Err(ToolError::invalid_argument("`text` holds the sequence that ends a paste")
                .hint("take ESC [ 2 0 1 ~ out of it"));
        }
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        let buffer = cx.host.new_buffer_name();
        let mut commands: Vec<Command> = pieces(&args.text)
            .enumerate()
            .map(|(index, piece)| {
                let set = Command::action("set-buffer").arg_if(index > 0, "-a");
                set.option("-b", &buffer).arg("--").arg(piece)
            })
            .collect();
        let raw = cx.tmux().version().await?.paste_rewrites_controls();
        commands.push(
            Command::action("paste-buffer")
                .arg("-d")
                .arg_if(bracketed, "-p")
                .arg_if(raw, "-S")
                .option("-b", &buffer)
                .option("-t", pane.pane),
        );
        if let Err(error) = cx.tmux().run_all(commands).await {
            let _ = cx.tmux().run(Command::action("delete-buffer").option("-b", &buffer)).await;
            return Err(error.into());
        }
        if args.enter.unwrap_or(false) {
            pause_before_enter(cx, &pane, Duration::ZERO).await?;
            press_enter(cx, &pane).await?;
        }
        Ok(Typed::into(&pane))
    }
}

/// The text in pieces that end between characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = (0..=PIECE.min(rest.len())).rev().find(|&at| rest.is_char_boundary(at))?;
        let (piece, tail) = rest.split_at(at);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}
