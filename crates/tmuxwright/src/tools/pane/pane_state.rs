//! `pane_state`: what runs in a pane and what it waits for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{PaneId, Row, Server, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::run::Sight;
use crate::run::activity::Standing;
use process::Input;
use terminal::text::inline;

pub(super) struct GetPaneState;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct State {
    /// The pane.
    pane_id: String,
    /// Its first process.
    pid: u32,
    /// The process that has the terminal.
    foreground_pid: Option<u32>,
    /// That process's command line.
    foreground: String,
    /// Whether the first process runs.
    alive: bool,
    /// What it exited with.
    exit_code: Option<i32>,
    /// What the foreground does with what is typed.
    input: InputName,
    /// Whether a shell waits for a command.
    at_prompt: bool,
    /// Which shell, if one is in the foreground.
    shell: Option<&'static str>,
    /// Whether a program has taken over the screen.
    alternate_screen: bool,
    /// The foreground's directory.
    cwd: String,
    #[serde(skip)]
    word: &'static str,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InputName {
    None,
    Line,
    Password,
    Raw,
    Unknown,
}

impl From<Input> for InputName {
    fn from(input: Input) -> Self {
        match input {
            Input::None => Self::None,
            Input::Line => Self::Line,
            Input::Password => Self::Password,
            Input::Raw => Self::Raw,
            Input::Unknown => Self::Unknown,
        }
    }
}

row! {
    Facts {
        pane: PaneId = "pane_id",
        alternate_screen: bool = "alternate_on",
        path: String = "pane_current_path",
    }
}

impl Output for State {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let what = match (self.word, self.exit_code) {
            ("prompt", _) => "at its prompt".to_owned(),
            ("line", _) => "waits for a line".to_owned(),
            ("password", _) => "waits for a password".to_owned(),
            ("raw", _) => "waits for keys".to_owned(),
            ("exited", Some(code)) => format!("exited {code}"),
            (word, _) => word.to_owned(),
        };
        let mut facts = vec![self.pane_id.clone(), what];
        facts.extend(
            self.foreground_pid.map(|pid| format!("{} (pid {pid})", inline(&self.foreground))),
        );
        if self.alternate_screen {
            facts.push("alternate screen".to_owned());
        }
        if !self.cwd.is_empty() {
            facts.push(inline(&self.cwd));
        }
        facts.join(" · ")
    }
}

impl Tool for GetPaneState {
    const META: Meta = Meta {
        name: "pane_state",
        title: "Pane state",
        description: "What runs in a pane and what it waits for: a shell at its prompt, a line, a password, keys, nothing.",
        group: Group::Pane,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = State;

    async fn call(cx: &Cx, args: Args) -> Result<State, ToolError> {
        let facts = |pane: PaneId| [Server::row_query::<Facts>(&pane.to_string())];
        let (pane, mut replies) = cx.pane_with(&args.target, facts).await?;
        let reply = replies.pop().map(|reply| reply.0).unwrap_or_default();
        let facts = Facts::parse_one("display-message", &reply)?;
        let standing = Standing::of(&cx.runs, &pane).await;
        let sight = standing.sight.as_ref();
        Ok(State {
            pane_id: pane.pane.to_string(),
            pid: pane.pid,
            foreground_pid: sight.map(|sight| sight.foreground.pid),
            foreground: sight.map(command_line).unwrap_or_default(),
            alive: !standing.process_state.has_exited(),
            exit_code: standing.process_state.exit_code(),
            input: standing.input().into(),
            at_prompt: standing.at_prompt,
            shell: sight.and_then(|sight| sight.shell).map(|kind| kind.name()),
            alternate_screen: facts.alternate_screen,
            cwd: sight
                .and_then(|sight| process::cwd(sight.foreground.pid))
                .map_or(facts.path, |path| path.to_string_lossy().into_owned()),
            word: standing.word(),
        })
    }
}

/// Some programs have no arguments to show, such as one that is just being started.
fn command_line(sight: &Sight) -> String {
    match sight.foreground.argv.join(" ") {
        line if line.is_empty() => sight.foreground.name.clone(),
        line => line,
    }
}
