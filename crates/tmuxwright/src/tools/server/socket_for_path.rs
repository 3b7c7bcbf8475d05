//! `socket_for_path`: derives the tmux socket of a project from its directory, so that every caller finds
//! the same server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Socket;

use crate::context::{Cx, Tool};
use crate::contract::{FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::file_io;
use crate::host::project_socket;
use crate::results::words::{FactRow, field};

pub(super) struct SocketForPath;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Local project directory.
    path: FilePath,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ProjectSocket {
    /// Path of the socket, which need not exist yet.
    socket: String,
    /// Name of the socket, as in `tmux -L`.
    name: String,
    /// Project directory, with symbolic links resolved.
    path: String,
    /// Command lines that use the socket.
    usage: String,
}

impl Output for ProjectSocket {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        FactRow::new(format!("socket {}", field(&self.socket)))
            .fact(format!("name {}", self.name))
            .fact(format!("for {}", field(&self.path)))
            .fact(format!("use {}", self.usage))
            .into()
    }
}

impl Tool for SocketForPath {
    const META: Meta = Meta {
        name: "socket_for_path",
        title: "Socket for path",
        description: "Derive a tmux socket from a project directory: short, and always the same one.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = ProjectSocket;
    const ON_ONE_SERVER: bool = false;

    async fn call(cx: &Cx, args: Args) -> Result<ProjectSocket, ToolError> {
        let given = cx.path_argument(&args.path, "path")?;
        let named = given.clone();
        let directory = move || named.canonicalize().ok().filter(|path| path.is_dir());
        let path = file_io::off_runtime(directory).await.ok().flatten().ok_or_else(|| {
            ToolError::invalid_argument(format!("`path`: `{}` is not a directory", given.display()))
                .hint("give the absolute path of an existing directory")
        })?;
        let name = project_socket(&path).map_err(|why| {
            ToolError::invalid_argument(why)
                .hint("a person can start tmuxwright with a shorter TMUX_TMPDIR")
        })?;
        let socket = Socket::Name(name.clone()).path();
        Ok(ProjectSocket {
            usage: format!("tmux -L {name}, or tmuxwright --socket {name}"),
            socket: socket.to_string_lossy().into_owned(),
            name,
            path: path.to_string_lossy().into_owned(),
        })
    }
}
