//! The tmux socket of a project, derived from its directory, so that every caller finds the same server.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tmux_control::Socket;

/// Limit of a socket's path: every system accepts at least this many bytes.
const MAX_SOCKET_PATH_BYTES: usize = 100;

/// Limit of the part of the directory's name that begins the socket's name.
const MAX_READABLE_CHARS: usize = 24;

/// The name of the socket of a project, as in `tmux -L`. The directory's path has no links. Fails if tmux's socket
/// directory has too long a path.
pub fn project_socket(directory: &Path) -> Result<String, String> {
    let name = socket_name(directory);
    let socket = Socket::Name(name.clone()).path();
    if socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
        return Err(format!("`{}` is too long for a socket's path", socket.display()));
    }
    Ok(name)
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
