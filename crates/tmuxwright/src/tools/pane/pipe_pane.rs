//! `pipe_pane`: writes a pane's output to a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::target::Level;
use tmux_control::{Command, PaneId, escape_format, row};

use crate::context::files::prepare_append;
use crate::context::{Cx, Resolved, Tool};
use crate::contract::{
    Code, FilePath, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset,
};
use crate::host::PaneState;
use crate::results::words::{FactRow, field};
use terminal::text::inline;

/// The pane option that holds the path of the file that this server pipes to.
const PIPE_OPTION: &str = "@mcp_pipe";

pub(super) struct PipePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// File to write, on the system of tmux; leave out to stop.
    path: Option<FilePath>,
    /// Append to the file (default true), or empty it first.
    append: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Piped {
    /// Pane id.
    pane_id: String,
    /// Whether the output goes to a file.
    piping: bool,
    /// The file.
    path: Option<String>,
}

row! {
    PipeRow {
        pane: PaneId = "pane_id",
        open: bool = "pane_pipe",
        path: String = "@mcp_pipe",
    }
}

impl Output for Piped {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        let state = match &self.path {
            Some(path) => format!("output goes to {}", field(path)),
            None => "output goes to no file".to_owned(),
        };
        FactRow::new(&self.pane_id).fact(state).into()
    }
}

impl Tool for PipePane {
    const META: Meta = Meta {
        name: "pipe_pane",
        title: "Pipe pane",
        description: "Log all further output of a pane to a file, raw. Without `path`, stop.",
        group: Group::Pane,
        tier: Tier::Mutate,
        sets: &[Toolset::Primitives],
        idempotent: false,
        open_world: true,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Piped;

    async fn call(cx: &Cx, args: Args) -> Result<Piped, ToolError> {
        let path = match &args.path {
            Some(path) => Some(cx.file_for_tmux(path, "path").await?),
            None => None,
        };
        if path.is_none() && args.append.is_some() {
            return Err(ToolError::invalid_argument("`append` needs `path`")
                .hint("give `path`, or leave `append` out to stop the pipe"));
        }
        let pane = cx.pane(&args.target).await?;
        let id = pane.pane;
        let before: PipeRow = cx.tmux().row(&id.to_string()).await?;
        let is_foreign = before.open && before.path.is_empty();
        let pipe = || Command::action("pipe-pane").option("-t", id);
        let Some(path) = path else {
            if is_foreign {
                may_stop_foreign(cx, &pane).await?;
            }
            let unset = Command::action("set-option").arg("-pqu").option("-t", id);
            cx.tmux().sequence(vec![pipe(), unset.arg(PIPE_OPTION)]).await?;
            return Ok(Piped { pane_id: id.to_string(), piping: false, path: None });
        };
        if pane.process_state.has_exited() {
            return Err(ToolError::new(
                Code::NotReady,
                format!("the program in {id} has exited: there will be no further output"),
            )
            .hint("capture_pane reads its last output"));
        }
        if is_foreign {
            return Err(ToolError::new(Code::Busy, foreign_pipe(&pane)).hint(
                "pipe another pane, or ask the person to stop that pipe; capture_since reads the \
                 pane's new output without a pipe",
            ));
        }
        let append = args.append.unwrap_or(true);
        // On another system tmux's shell makes the file.
        let empties = cx.server.is_remote() && !append;
        if !cx.server.is_remote() {
            prepare_append(path.clone(), append).await?;
        }
        let text = path.to_string_lossy();
        let set = Command::action("set-option").arg("-p").option("-t", id).arg(PIPE_OPTION);
        cx.tmux().sequence(vec![pipe().arg(into_file(&text, empties)), set.arg(&text)]).await?;
        let now: PipeRow = cx.tmux().row(&id.to_string()).await?;
        if !now.open {
            return Err(ToolError::new(
                Code::TmuxRefused,
                format!("the pipe of {id} into `{}` closed at once", inline(&text)),
            )
            .hint("give another path"));
        }
        Ok(Piped { pane_id: id.to_string(), piping: true, path: Some(text.into_owned()) })
    }
}

fn foreign_pipe(pane: &PaneState) -> String {
    format!("the output of {} goes through a pipe that this server did not open", pane.pane)
}

/// Asks the policy whether a pipe that another program opened may be closed. It belongs to others,
/// whoever made the pane.
async fn may_stop_foreign(cx: &Cx, pane: &PaneState) -> Result<(), ToolError> {
    let owner = String::new();
    let theirs = Resolved { level: Level::Pane, pane: PaneState { owner, ..pane.clone() } };
    let refused = || {
        ToolError::new(Code::Denied, foreign_pipe(pane)).hint(format!(
            "leave it; a person can stop it with `tmux pipe-pane -t {}`, or start tmuxwright with \
             --tier destructive",
            pane.pane
        ))
    };
    cx.may_end(Some(&theirs), refused).await
}

/// The shell command that appends its input to a file, or writes it to an empty one. tmux expands the command with `strftime`, then as
/// a format, and passes the result to a shell.
fn into_file(path: &str, empties: bool) -> String {
    let into = if empties { ">" } else { ">>" };
    let command = format!("exec cat {into}'{}'", path.replace('\'', r"'\''"));
    escape_format(&command.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_escaped_for_tmux_and_shell() {
        assert_eq!(into_file("/a b.log", false), "exec cat >>'/a b.log'");
        assert_eq!(into_file("/a", true), "exec cat >'/a'");
        assert_eq!(into_file("/it's %d #S #[x]", false), r"exec cat >>'/it'\''s %%d ##S #[x]'");
    }
}
