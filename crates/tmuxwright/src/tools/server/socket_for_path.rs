//! `socket_for_path`: derives the tmux socket of a project from its directory, so that every caller finds
//! the same server.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Socket;

use crate::context::{Cx, Tool};
use crate::contract::{FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};
use crate::file_io;
use crate::results::words::{FactRow, field};

/// Limit of a socket's path: every system accepts at least this many bytes.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// Limit of the part of the directory's name that begins the socket's name.
const MAX_READABLE_CHARS: usize = 24;

pub(super) struct SocketForPath;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Project directory.
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

    async fn call(cx: &Cx, args: Args) -> Result<ProjectSocket, ToolError> {
        let given = cx.path_argument(&args.path, "path")?;
        let named = given.clone();
        let directory = move || named.canonicalize().ok().filter(|path| path.is_dir());
        let path = file_io::off_runtime(directory).await.ok().flatten().ok_or_else(|| {
            ToolError::invalid_argument(format!("`path`: `{}` is not a directory", given.display()))
                .hint("give the absolute path of an existing directory")
        })?;
        let name = socket_name(&path);
        let socket = Socket::Name(name.clone()).path();
        if socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
            let message = format!("`{}` is too long for a socket's path", socket.display());
            return Err(ToolError::invalid_argument(message)
                .hint("a person can start tmuxwright with a shorter TMUX_TMPDIR"));
        }
        Ok(ProjectSocket {
            usage: format!("tmux -L {name}, or tmuxwright --socket {name}"),
            socket: socket.to_string_lossy().into_owned(),
            name,
            path: path.to_string_lossy().into_owned(),
        })
    }
}

/// The beginning of the directory's name, and a hash of its whole path.
fn socket_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let readable: String = plain.take(MAX_READABLE_CHARS).collect();
    format!("{}-{:016x}", readable.trim_matches('-'), fnv1a(path.as_os_str().as_bytes()))
        .trim_start_matches('-')
        .to_owned()
}

/// The 64-bit FNV-1a hash, which must stay the same in every release.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_names_are_readable_and_stable() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        let name = socket_name(Path::new("/home/me/my project.rs"));
        assert!(name.starts_with("my-project-rs-"), "{name}");
        assert_eq!(name.len(), 14 + 16);
        assert_eq!(socket_name(Path::new("/")).len(), 16);
        assert_eq!(socket_name(Path::new("/漢字")).len(), 16);
        assert!(socket_name(Path::new(&format!("/{}", "x".repeat(300)))).len() <= 41);
        assert_ne!(socket_name(Path::new("/a/x")), socket_name(Path::new("/b/x")));
    }
}
