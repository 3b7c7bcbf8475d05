//! The token file: readable by its owner only, created on first use.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::config::http::HttpToken;
use crate::contract::{Code, ToolError};
use crate::file_io;
use crate::random;

/// Bytes read from the file; a token is shorter.
const MAX_TOKEN_FILE_BYTES: u64 = 4096;

/// Random bytes in a new token.
const TOKEN_BYTES: usize = 32;

/// The token in a file.
pub(super) struct StoredToken {
    /// The token that clients must send.
    pub(super) token: HttpToken,
    /// The token's text, if it was created just now.
    pub(super) created: Option<String>,
}

/// Reads the token in a file, or creates the file with a new token.
pub(super) fn read_or_create(path: &Path) -> Result<StoredToken, ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(Code::FileFailed, format!("token file {}: {error}", path.display()))
            .hint("choose another file with --http-token-file, or set TMUXWRIGHT_HTTP_TOKEN")
    };
    match file_io::open(path, OFlags::RDONLY) {
        Ok(file) => read(file, path, &failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = random::hex(TOKEN_BYTES).map_err(failed)?;
            match write(path, &text) {
                Ok(()) => Ok(StoredToken { token: token(&text, path)?, created: Some(text) }),
                // Another server has created the file meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let file = file_io::open(path, OFlags::RDONLY).map_err(failed)?;
                    read(file, path, &failed)
                }
                Err(error) => Err(failed(error)),
            }
        }
        Err(error) => Err(failed(error)),
    }
}

fn read(
    file: File,
    path: &Path,
    failed: &dyn Fn(io::Error) -> ToolError,
) -> Result<StoredToken, ToolError> {
    let facts = file.metadata().map_err(failed)?;
    let refused = |why: &str, hint: String| {
        let message = format!("token file {} {why}", path.display());
        Err(ToolError::new(Code::FileFailed, message).hint(hint))
    };
    if facts.mode() & 0o077 != 0 {
        let hint = format!("chmod 600 {}, or remove it to get a new token", path.display());
        return refused("is accessible to other users", hint);
    }
    if ![0, rustix::process::geteuid().as_raw()].contains(&facts.uid()) {
        return refused("belongs to another user", "use a file of your own".to_owned());
    }
    let mut text = String::new();
    file.take(MAX_TOKEN_FILE_BYTES).read_to_string(&mut text).map_err(failed)?;
    Ok(StoredToken { token: token(text.trim(), path)?, created: None })
}

fn token(text: &str, path: &Path) -> Result<HttpToken, ToolError> {
    HttpToken::new(text).map_err(|why| {
        ToolError::new(Code::FileFailed, format!("{}: {why}", path.display()))
            .hint("remove the file to get a new token")
    })
}

/// Creates the file atomically, readable by its owner only.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(".http-token")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(dir)?;
    writeln!(file, "{text}")?;
    file.persist_noclobber(path).map_err(|failed| failed.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn token_file_is_created_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/token");
        let first = read_or_create(&path).unwrap();
        let text = first.created.unwrap();
        assert_eq!(text.len(), 64);
        assert!(first.token.is(&text));
        let again = read_or_create(&path).unwrap();
        assert!(again.token.is(&text) && again.created.is_none());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let other = read_or_create(&dir.path().join("other")).unwrap();
        assert!(!other.token.is(&text));
    }

    #[test]
    fn readable_or_invalid_token_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let put = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            read_or_create(&path).map(|stored| stored.token)
        };
        assert!(put("0123456789abcdef\n", 0o600).unwrap().is("0123456789abcdef"));
        assert!(put("0123456789abcdef", 0o400).is_ok());
        for mode in [0o644, 0o640, 0o604, 0o620] {
            let error = put("0123456789abcdef", mode).unwrap_err();
            assert!(error.hint.unwrap().contains("chmod 600"), "{mode:o}");
        }
        for wrong in ["", "short", "two words of a token"] {
            let error = put(wrong, 0o600).unwrap_err();
            assert!(error.message.contains(path.to_str().unwrap()), "{}", error.message);
        }
        assert!(read_or_create(dir.path()).is_err());
        assert!(read_or_create(&path.join("below")).is_err());
    }
}
