//! `show_message`: a notice in the status line of those who look.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, escape_message};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::count;
use terminal::text::clean;

/// The longest notice, in characters; no status line is longer.
const LONGEST: usize = 1000;

/// The longest time it stays, in seconds.
const STAYS: f64 = 3600.0;

pub(super) struct ShowMessage;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Literal.
    text: String,
    /// Seconds (default 3).
    duration: Option<f64>,
    /// Session, or all.
    target: Option<Target>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Shown {
    /// How many clients show it.
    clients: usize,
    /// Which.
    names: Vec<String>,
}

impl Output for Shown {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        match self.clients {
            0 => "nobody is attached, so nobody has seen it".to_owned(),
            n => format!("shown to {}: {}", count(n as u64, "client"), self.names.join(", ")),
        }
    }
}

impl Tool for ShowMessage {
    const META: Meta = Meta {
        name: "show_message",
        title: "Show message",
        description: "A notice in people's status line.",
        group: Group::Client,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Shown;

    async fn call(cx: &Cx, args: Args) -> Result<Shown, ToolError> {
        let seconds = args.duration.unwrap_or(3.0);
        if !(seconds > 0.0 && seconds <= STAYS) {
            return Err(ToolError::invalid_argument(format!(
                "`duration`: {seconds} is not above 0 and up to {STAYS} seconds"
            ))
            .hint("leave it out for 3 seconds"));
        }
        let text: String = clean(&args.text, false).replace(['\n', '\t'], " ");
        let text: String = text.trim().chars().take(LONGEST).collect();
        if text.is_empty() {
            return Err(ToolError::invalid_argument("`text` has nothing to show").hint("give text"));
        }
        let session = match &args.target {
            Some(target) => Some(cx.resolve(target).await?.pane.session),
            None => None,
        };
        let mut people = cx.people().await?;
        people.retain(|row| session.is_none() || row.session == session);
        let names: Vec<String> = people.into_iter().map(|row| row.name).collect();
        if names.is_empty() {
            return Ok(Shown { clients: 0, names });
        }
        let version = cx.tmux().version().await?;
        if !version.can_address_clients() {
            let what = format!("tmux {version} cannot show a message to others, 3.3 and newer can");
            return Err(ToolError::new(Code::TmuxRefused, what)
                .hint("write_to_display shows text in a pane beside theirs"));
        }
        let show = |name: &String| {
            let message = Command::action("display-message").option("-c", name);
            let message = message.arg_if(version.can_show_messages_beside(), "-C");
            let message = message.option("-d", (seconds * 1000.0).ceil());
            message.arg("--").arg(escape_message(&text))
        };
        match cx.tmux().run_all(names.iter().map(show).collect()).await {
            // Somebody left meanwhile.
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(Shown { clients: names.len(), names }),
        }
    }
}
