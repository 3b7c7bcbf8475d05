//! `pane_state`: a pane's foreground process and the input it waits for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{PaneId, Row, Server, row};

use crate::context::{Cx, Tool};
use crate::contract::{Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset};
use crate::results::words::{FactRow, field};
use crate::run::ForegroundProgram;
use crate::run::activity::Activity;
use process::InputState;

pub(super) struct GetPaneState;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct StateReport {
    /// Pane id.
    pane_id: String,
    /// Process id of the program the pane was started with.
    pid: u32,
    /// Process id of the foreground process.
    foreground_pid: Option<u32>,
    /// Command line of the foreground process.
    foreground: String,
    /// Whether the process `pid` runs.
    alive: bool,
    /// Exit code of the process `pid`.
    exit_code: Option<i32>,
    /// Input that the foreground process waits for.
    input: InputName,
    /// Whether a shell is at its prompt.
    at_prompt: bool,
    /// Name of the shell, if one is in the foreground.
    shell: Option<&'static str>,
    /// Whether a program uses the alternate screen.
    alternate_screen: bool,
    /// Working directory of the foreground process.
    cwd: String,
    /// The state in a word, as `wait_for` reports it.
    #[serde(skip)]
    word: &'static str,
}

#[derive(Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum InputName {
    None,
    Line,
    Password,
    Raw,
    Unknown,
}

impl From<InputState> for InputName {
    fn from(input: InputState) -> Self {
        match input {
            InputState::None => Self::None,
            InputState::Line => Self::Line,
            InputState::Password => Self::Password,
            InputState::Raw => Self::Raw,
            InputState::Unknown => Self::Unknown,
        }
    }
}

row! {
    StateFacts {
        pane: PaneId = "pane_id",
        alternate_screen: bool = "alternate_on",
        path: String = "pane_current_path",
    }
}

impl Output for StateReport {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let state = match (self.word, self.exit_code) {
            ("prompt", _) => "at its prompt".to_owned(),
            ("line", _) => "waits for a line".to_owned(),
            ("password", _) => "waits for a password".to_owned(),
            ("raw", _) => "waits for keys".to_owned(),
            ("exited", Some(code)) => format!("exited {code}"),
            (word, _) if self.input == InputName::Unknown => format!("{word}, input unknown"),
            (word, _) => word.to_owned(),
        };
        let foreground = self
            .foreground_pid
            .map(|pid| format!("foreground {} (pid {pid})", field(&self.foreground)));
        let cwd = Some(&self.cwd).filter(|cwd| !cwd.is_empty());
        FactRow::new(&self.pane_id)
            .fact(state)
            .maybe(foreground)
            .maybe(self.shell.map(|shell| format!("shell {shell}")))
            .maybe(cwd.map(|cwd| format!("cwd {}", field(cwd))))
            .fact(format!("pane pid {}", self.pid))
            .flag(self.alternate_screen, "alternate_screen")
            .into()
    }
}

impl Tool for GetPaneState {
    const META: Meta = Meta {
        name: "pane_state",
        title: "Pane state",
        description: "Inspect a pane's foreground process and the input it waits for: shell prompt, line, password, keys or none.",
        group: Group::Pane,
        tier: Tier::Read,
        sets: &[Toolset::Agent],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = StateReport;

    async fn call(cx: &Cx, args: Args) -> Result<StateReport, ToolError> {
        let facts = |pane: PaneId| [Server::row_query::<StateFacts>(&pane.to_string())];
        let (pane, mut replies) = cx.pane_with(&args.target, facts).await?;
        let reply = replies.pop().map(|reply| reply.0).unwrap_or_default();
        let facts = StateFacts::parse_one("display-message", &reply)?;
        let activity = Activity::probe(&cx.runs, &pane).await;
        let program = activity.foreground.as_ref();
        let cwd = match program.map(|program| program.process.pid) {
            Some(pid) => cx.host.processes().inspect(pid).await.cwd(pid),
            None => None,
        };
        Ok(StateReport {
            pane_id: pane.pane.to_string(),
            pid: pane.pid,
            foreground_pid: program.map(|program| program.process.pid),
            foreground: program.map(command_line).unwrap_or_default(),
            alive: !activity.process_state.has_exited(),
            exit_code: activity.process_state.exit_code(),
            input: activity.input().into(),
            at_prompt: activity.at_prompt,
            shell: program.and_then(|program| program.shell).map(|kind| kind.name()),
            alternate_screen: facts.alternate_screen,
            cwd: cwd.map_or(facts.path, |path| path.to_string_lossy().into_owned()),
            word: activity.word(),
        })
    }
}

/// The command line, or the process name where there is none: a process that is just starting has none.
fn command_line(program: &ForegroundProgram) -> String {
    match program.process.argv.join(" ") {
        line if line.is_empty() => program.process.name.clone(),
        line => line,
    }
}
