//! `paste_text`: pastes text of any length into a pane.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::paste::Paste;

use crate::actions::typing::{PASTE_END, must_take_input, pause_before_enter, press_enter};
use crate::actions::wait_after_typing::{PlannedWait, answer};
use crate::context::{Cx, Keystroke, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset, not_empty};
use crate::results::typed::Typed;

pub(super) struct PasteText;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Text to paste.
    text: String,
    /// Bracketed paste (default true).
    bracketed: Option<bool>,
    /// Press Enter afterwards.
    enter: Option<bool>,
    /// As in send_keys.
    until: Option<Vec<String>>,
    /// Seconds to wait (default 30).
    timeout: Option<f64>,
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
        not_empty("text", &args.text, "give text to paste")?;
        let bracketed = args.bracketed.unwrap_or(true);
        if bracketed && args.text.contains(PASTE_END) {
            return Err(ToolError::invalid_argument(
                "`text` contains the sequence that ends a paste",
            )
            .hint("remove ESC [ 2 0 1 ~ from it"));
        }
        let wait = PlannedWait::check(cx, args.until.as_deref(), args.timeout)?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, true)?;
        let enter = args.enter.unwrap_or(false);
        let strokes =
            Keystroke::of_paste(&args.text, bracketed).chain(enter.then_some(Keystroke::Enter));
        let turn = cx.turn_to_type(&pane, strokes).await?;
        let receivers = cx.receivers(&args.target, &pane).await?;
        let wait = PlannedWait::begin(wait, cx, &pane).await?;
        cx.runs.note_typed(&pane, &args.text, enter).await;
        let buffer = cx.host.temporary_buffer_name();
        let paste = Paste { buffer: &buffer, text: &args.text, bracketed };
        paste.into(cx.tmux(), receivers.clone()).await?;
        if enter {
            pause_before_enter(cx, &pane, Duration::ZERO).await?;
            press_enter(cx, &receivers).await?;
        }
        turn.done();
        answer(cx, &pane, wait).await
    }
}
