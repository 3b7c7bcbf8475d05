//! `send_keys`: types text literally and presses keys.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tmux_control::keys::{TmuxKey, type_text};
use tmux_control::receivers::Receivers;

use crate::actions::typing::{must_take_input, pause_before_enter, press_enter};
use crate::actions::wait_after_typing::{PlannedWait, answer};
use crate::context::{Cx, Keystroke, ProgressStep, Tool};
use crate::contract::{Group, Load, Meta, Target, Tier, ToolError, Toolset, nearest};
use crate::host::PaneState;
use crate::results::typed::Typed;

/// Limit of `repeat`.
const MAX_REPEATS: u32 = 1000;

/// Limit of `delay_ms`.
const MAX_DELAY_MS: u32 = 10_000;

/// Keys at which a terminal that edits lines drops the text typed so far.
const LINE_DROPPING_KEYS: &[&str] = &["C-c", "C-u", "C-\\"];

pub(super) struct SendKeys;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// Text to type literally.
    text: Option<String>,
    /// Keys to press then: Enter, C-c, ^C, M-x, Up, F5, 0x1b.
    keys: Option<Vec<String>>,
    /// Press Enter last.
    enter: Option<bool>,
    /// Repetitions (default 1).
    repeat: Option<u32>,
    /// Milliseconds between keys.
    delay_ms: Option<u32>,
    /// Wait for one of: text:…, regex:…, prompt, input, exit, error, stable:SECONDS, ….
    until: Option<Vec<String>>,
    /// Seconds to wait (default 30).
    timeout: Option<f64>,
}

impl Tool for SendKeys {
    const META: Meta = Meta {
        name: "send_keys",
        title: "Send keys",
        description: "Type into a pane: text literally, then keys, then Enter. until waits and returns new output or the screen.",
        group: Group::Input,
        tier: Tier::Mutate,
        sets: &[Toolset::Debug, Toolset::Agent, Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::Always,
    };
    type Args = Args;
    type Output = Typed;

    async fn call(cx: &Cx, args: Args) -> Result<Typed, ToolError> {
        let typing = KeySequence::check(&args)?;
        let wait = PlannedWait::check(cx, args.until.as_deref(), args.timeout)?;
        let pane = cx.pane(&args.target).await?;
        must_take_input(&pane, !typing.text.is_empty())?;
        let turn = cx.turn_to_type(&pane, typing.strokes()).await?;
        let receivers = cx.receivers(&args.target, &pane).await?;
        let wait = PlannedWait::begin(wait, cx, &pane).await?;
        for round in 0..typing.repeat {
            if round > 0 {
                typing.wait(cx, round).await;
            }
            cx.runs.note_typed(&pane, &typing.echoed_text(), typing.ends_line()).await;
            typing.once(cx, &pane, &receivers).await?;
        }
        turn.done();
        answer(cx, &pane, wait).await
    }
}

/// The checked arguments of a call.
struct KeySequence {
    text: String,
    keys: Vec<TmuxKey>,
    enter: bool,
    repeat: u32,
    delay: Option<Duration>,
}

impl KeySequence {
    fn check(args: &Args) -> Result<Self, ToolError> {
        let text = args.text.clone().unwrap_or_default();
        let keys = args.keys.iter().flatten().enumerate().map(|(at, name)| key(at, name));
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let enter = args.enter.unwrap_or(false);
        if text.is_empty() && keys.is_empty() && !enter {
            return Err(ToolError::invalid_argument("there is nothing to type")
                .hint("give `text`, `keys` or `enter`"));
        }
        let repeat = args.repeat.unwrap_or(1);
        if !(1..=MAX_REPEATS).contains(&repeat) {
            return Err(ToolError::invalid_argument(format!(
                "`repeat`: {repeat} is not from 1 to {MAX_REPEATS}"
            ))
            .hint("leave it out to type once"));
        }
        if let Some(delay) = args.delay_ms.filter(|&delay| delay > MAX_DELAY_MS) {
            return Err(ToolError::invalid_argument(format!(
                "`delay_ms`: {delay} is more than {MAX_DELAY_MS}"
            ))
            .hint("give a pause of at most ten seconds"));
        }
        let delay = args.delay_ms.map(|ms| Duration::from_millis(ms.into()));
        Ok(Self { text, keys, enter, repeat, delay })
    }

    /// The text that the program may echo: `text`, and the keys that are characters.
    fn echoed_text(&self) -> String {
        let keys = self.keys.iter().filter_map(|key| match Keystroke::of_key(key) {
            Keystroke::Char(c) => Some(c),
            Keystroke::Enter => Some('\n'),
            _ => None,
        });
        self.text.chars().chain(keys).collect()
    }

    /// Whether no text is left in the line: it is entered or dropped behind the last character.
    fn ends_line(&self) -> bool {
        let ends = self.keys.iter().fold(false, |ends, key| match key {
            TmuxKey::Named(name) if LINE_DROPPING_KEYS.contains(&name.as_str()) => true,
            key => match Keystroke::of_key(key) {
                Keystroke::Enter => true,
                Keystroke::Char(_) => false,
                _ => ends,
            },
        });
        self.enter || ends
    }

    /// All strokes, for the policy.
    fn strokes(&self) -> impl Iterator<Item = Keystroke> {
        let keys = self.keys.iter().map(Keystroke::of_key);
        let once = Keystroke::of_text(&self.text)
            .chain(keys)
            .chain(self.enter.then_some(Keystroke::Enter));
        (0..self.repeat).flat_map(move |_| once.clone())
    }

    async fn once(
        &self,
        cx: &Cx,
        pane: &PaneState,
        receivers: &Receivers,
    ) -> Result<(), ToolError> {
        cx.tmux().type_into(receivers, type_text(pane.pane, &self.text)).await?;
        let after_text = !self.text.is_empty();
        // An Enter among the keys must not count as a part of the text either.
        let enter = self.keys.iter().position(|key| after_text && *key == TmuxKey::enter());
        let (keys, rest) = self.keys.split_at(enter.unwrap_or(self.keys.len()));
        self.press(cx, receivers, keys, after_text).await?;
        if !rest.is_empty() {
            pause_before_enter(cx, pane, self.delay.unwrap_or_default()).await?;
            self.press(cx, receivers, rest, false).await?;
        }
        if self.enter {
            if after_text || !self.keys.is_empty() {
                pause_before_enter(cx, pane, self.delay.unwrap_or_default()).await?;
            }
            press_enter(cx, receivers).await?;
        }
        Ok(())
    }

    /// Presses keys: with a delay one by one, otherwise all in one round trip.
    async fn press(
        &self,
        cx: &Cx,
        receivers: &Receivers,
        keys: &[TmuxKey],
        pause_first: bool,
    ) -> Result<(), ToolError> {
        let Some(delay) = self.delay else {
            let commands = keys.iter().map(|key| key.press(receivers.pane())).collect();
            return Ok(cx.tmux().type_into(receivers, commands).await?);
        };
        for (index, key) in keys.iter().enumerate() {
            if index > 0 || pause_first {
                tokio::time::sleep(delay).await;
            }
            cx.tmux().type_into(receivers, vec![key.press(receivers.pane())]).await?;
        }
        Ok(())
    }

    async fn wait(&self, cx: &Cx, round: u32) {
        if let Some(delay) = self.delay {
            let step = ProgressStep {
                done: f64::from(round),
                total: Some(f64::from(self.repeat)),
                message: format!("typed {round} of {} times", self.repeat),
            };
            cx.request.progress.report(step).await;
            tokio::time::sleep(delay).await;
        }
    }
}

/// Parses a key. An unknown key may be a secret meant as text, so the error names only its index.
fn key(at: usize, name: &str) -> Result<TmuxKey, ToolError> {
    TmuxKey::parse(name).map_err(|_| {
        let near = nearest(name, TmuxKey::names()).map(|near| format!("did you mean `{near}`? "));
        ToolError::invalid_argument(format!("`keys[{at}]` is not the name of a key")).hint(format!(
            "{}keys are named like Enter, Escape, C-c, M-x, Up, F5, 0x1b; text goes into `text`",
            near.unwrap_or_default()
        ))
    })
}
