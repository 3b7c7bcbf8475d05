//! `socket_for_path`: one tmux server per project, found again by the project's directory.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tmux_control::Socket;

use crate::context::{Cx, Tool};
use crate::contract::{FilePath, Form, Group, Load, Meta, Output, Tier, ToolError};

/// The longest path, in bytes: no system takes less.
const LONGEST: usize = 100;

/// How much of the directory's name is kept, for people.
const READABLE: usize = 24;

pub(super) struct SocketForPath;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Project directory.
    path: FilePath,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    /// The socket. It need not exist.
    socket: String,
    /// Its name.
    name: String,
    /// The directory it stands for.
    path: String,
    /// How to use it.
    usage: String,
}

impl Output for Found {
    const FORM: Form = Form::Data;

    fn text(&self) -> String {
        format!("{} · {}", self.socket, self.usage)
    }
}

impl Tool for SocketForPath {
    const META: Meta = Meta {
        name: "socket_for_path",
        title: "Socket for path",
        description: "The tmux socket that stands for a project directory: always the same, short.",
        group: Group::Server,
        tier: Tier::Read,
        sets: &[],
        idempotent: true,
        open_world: false,
        load: Load::OnDemand,
    };
    type Args = Args;
    type Output = Found;

    async fn call(cx: &Cx, args: Args) -> Result<Found, ToolError> {
        let given = cx.path_argument(&args.path, "path")?;
        let path = given.canonicalize().ok().filter(|path| path.is_dir()).ok_or_else(|| {
            ToolError::invalid_argument(format!("`path`: `{}` is not a directory", given.display()))
                .hint("give the absolute path of one that exists")
        })?;
        let name = socket_name(&path);
        let socket = Socket::Name(name.clone()).path();
        if socket.as_os_str().len() > LONGEST {
            let what = format!("`{}` is longer than a socket's path may be", socket.display());
            return Err(ToolError::invalid_argument(what)
                .hint("a person can start tmuxwright with a shorter TMUX_TMPDIR"));
        }
        Ok(Found {
            usage: format!("tmux -L {name}, or tmuxwright --socket {name}"),
            socket: socket.to_string_lossy().into_owned(),
            name,
            path: path.to_string_lossy().into_owned(),
        })
    }
}

/// The beginning of the directory's name, and a hash of all of its path.
fn socket_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let readable: String = plain.take(READABLE).collect();
    format!("{}-{:016x}", readable.trim_matches('-'), fnv1a(path.as_os_str().as_bytes()))
        .trim_start_matches('-')
        .to_owned()
}

/// FNV-1a with 64 bits: the same in every release, for ever.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_and_stay_the_same_for_ever() {
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
