//! `pipe_pane`: a pane's output into a file.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Access, access};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::{Command, PaneId, escape_format, row};

use crate::context::{Cx, Tool};
use crate::contract::{
    Code, FilePath, Form, Group, Load, Meta, Output, Target, Tier, ToolError, Toolset, file_failed,
};
use terminal::text::inline;

/// The user option that holds the path of our pipe.
const OPTION: &str = "@mcp_pipe";

pub(super) struct PipePane;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Pane.
    target: Target,
    /// File; none stops.
    path: Option<FilePath>,
    /// Keep what is in it (default true).
    append: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Piped {
    /// The pane.
    pane_id: String,
    /// Whether its output goes to a file.
    piping: bool,
    /// To which.
    path: Option<String>,
}

row! {
    Pipe {
        pane: PaneId = "pane_id",
        open: bool = "pane_pipe",
        path: String = "@mcp_pipe",
        drain: bool = "@mcp_drain",
    }
}

impl Output for Piped {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        match &self.path {
            Some(path) => format!("{} · output goes to {}", self.pane_id, inline(path)),
            None => format!("{} · output goes to no file", self.pane_id),
        }
    }
}

impl Tool for PipePane {
    const META: Meta = Meta {
        name: "pipe_pane",
        title: "Pipe pane",
        description: "Write all further output of a pane to a file, raw; without `path`, stop.",
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
        let path = args.path.as_ref().map(|path| cx.file_to_write(path, "path")).transpose()?;
        if path.is_none() && args.append.is_some() {
            return Err(ToolError::invalid_argument("`append` needs `path`")
                .hint("give `path`, or leave `append` out to stop"));
        }
        let pane = cx.pane(&args.target).await?;
        let id = pane.pane;
        let before: Pipe = cx.tmux().row(&id.to_string()).await?;
        let pipe = || Command::action("pipe-pane").option("-t", id);
        let Some(path) = path else {
            let mut commands = cx.host.drain(&pane).await?;
            if !before.drain || commands.is_empty() {
                commands = vec![pipe()];
            }
            let unset = Command::action("set-option").arg("-pqu").option("-t", id);
            commands.push(unset.arg(OPTION));
            cx.tmux().sequence(commands).await?;
            return Ok(Piped { pane_id: id.to_string(), piping: false, path: None });
        };
        if pane.process_state.has_exited() {
            return Err(ToolError::new(
                Code::NotReady,
                format!("the program in {id} has exited: nothing more will come"),
            )
            .hint("capture_pane reads what it left"));
        }
        if before.open && before.path.is_empty() && !before.drain {
            return Err(ToolError::new(
                Code::Busy,
                format!("the output of {id} goes through a pipe that is not this server's"),
            )
            .hint("pipe_pane without `path` stops that; ask the person first"));
        }
        make_ready(&path, args.append.unwrap_or(true))
            .map_err(|error| file_failed("written", &path, &error))?;
        let text = path.to_string_lossy();
        let set = Command::action("set-option").arg("-p").option("-t", id).arg(OPTION);
        cx.tmux().sequence(vec![pipe().arg(into_file(&text)), set.arg(&text)]).await?;
        let now: Pipe = cx.tmux().row(&id.to_string()).await?;
        if !now.open {
            return Err(ToolError::new(
                Code::TmuxRefused,
                format!("the pipe of {id} into `{}` is closed again", inline(&text)),
            )
            .hint("give another path"));
        }
        Ok(Piped { pane_id: id.to_string(), piping: true, path: Some(text.into_owned()) })
    }
}

/// Sees to it that the file is there and can be written, since nobody would hear otherwise.
fn make_ready(path: &Path, append: bool) -> io::Result<()> {
    match path.metadata() {
        Ok(is) if is.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // To open a pipe is to wait for its reader.
        Ok(is) if !is.is_file() => Ok(access(path, Access::WRITE_OK)?),
        _ => {
            let file = File::options().create(true).append(true).open(path)?;
            if append { Ok(()) } else { file.set_len(0) }
        }
    }
}

/// The shell command that writes into a file. tmux expands times, then formats, and hands the rest
/// to a shell.
fn into_file(path: &str) -> String {
    let command = format!("exec cat >>'{}'", path.replace('\'', r"'\''"));
    escape_format(&command.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_protected_from_the_shell_and_from_tmux() {
        assert_eq!(into_file("/a b.log"), "exec cat >>'/a b.log'");
        assert_eq!(into_file("/it's %d #S #[x]"), r"exec cat >>'/it'\''s %%d ##S #[x]'");
    }
}
