//! `show_message`: shows a message in the status line of attached people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, escape_message};

use crate::context::{Cx, Tool};
use crate::contract::{Code, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{count, field};
use terminal::text::clean;

/// Limit of the message, in characters; no status line is longer.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Limit of the time that the message stays, in seconds.
const MAX_MESSAGE_SECONDS: f64 = 3600.0;

pub(super) struct ShowMessage;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Message.
    text: String,
    /// Seconds (default 3).
    duration: Option<f64>,
    /// Session (default: all).
    target: Option<Target>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ShownTo {
    /// Number of tmux clients that show the message.
    clients: usize,
    /// Names of these clients.
    names: Vec<String>,
}

impl Output for ShownTo {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        match self.clients {
            0 => "shown to 0 clients: nobody is attached".to_owned(),
            number => {
                let names: Vec<String> = self.names.iter().map(|name| field(name)).collect();
                format!("shown to {}: {}", count(number as u64, "client"), names.join(", "))
            }
        }
    }
}

impl Tool for ShowMessage {
    const META: Meta = Meta {
        name: "show_message",
        title: "Show message",
        description: "Show people a message in the status line.",
        group: Group::Client,
        tier: Tier::Mutate,
        sets: &[Toolset::Agent],
        idempotent: false,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ShownTo;

    async fn call(cx: &Cx, args: Args) -> Result<ShownTo, ToolError> {
        let seconds = args.duration.unwrap_or(3.0);
        if !(seconds > 0.0 && seconds <= MAX_MESSAGE_SECONDS) {
            return Err(ToolError::invalid_argument(format!(
                "`duration`: {seconds} is not above 0 and up to {MAX_MESSAGE_SECONDS} seconds"
            ))
            .hint("leave it out for 3 seconds"));
        }
        let text: String = clean(&args.text, false).replace(['\n', '\t'], " ");
        let text: String = text.trim().chars().take(MAX_MESSAGE_CHARS).collect();
        if text.is_empty() {
            return Err(ToolError::invalid_argument("`text` has no visible characters")
                .hint("give text to show"));
        }
        let session = match &args.target {
            Some(target) => Some(cx.resolve(target).await?.pane.session),
            None => None,
        };
        let mut people = cx.people().await?;
        people.retain(|row| session.is_none() || row.session == session);
        let names: Vec<String> = people.into_iter().map(|row| row.name).collect();
        if names.is_empty() {
            return Ok(ShownTo { clients: 0, names });
        }
        let version = cx.tmux().version().await?;
        if !version.can_address_clients() {
            let message =
                format!("tmux {version} cannot show a message to other clients; 3.3 and newer can");
            return Err(ToolError::new(Code::TmuxRefused, message)
                .hint("write_to_display shows text in a pane beside theirs"));
        }
        let show = |name: &String| {
            let message = Command::action("display-message").option("-c", name);
            let message = message.arg_if(version.can_show_messages_beside(), "-C");
            let message = message.option("-d", (seconds * 1000.0).ceil());
            message.arg("--").arg(escape_message(&text))
        };
        match cx.tmux().run_all(names.iter().map(show).collect()).await {
            // A client detached meanwhile.
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(ShownTo { clients: names.len(), names }),
        }
    }
}
