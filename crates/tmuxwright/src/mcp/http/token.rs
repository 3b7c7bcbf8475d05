//! The file a token is kept in, for the eyes of its owner alone.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use crate::config::http::Token;
use crate::contract::{Code, ToolError};
use crate::random;

/// No token is longer.
const LONGEST: u64 = 4096;

/// Random bytes in a new token.
const TOKEN_BYTES: usize = 32;

/// The token in a file.
pub(super) struct Kept {
    /// What clients must show.
    pub(super) token: Token,
    /// Its text, if it was made just now.
    pub(super) made: Option<String>,
}

/// The token in this file, or a new one if there is no such file.
pub(super) fn read_or_make(path: &Path) -> Result<Kept, ToolError> {
    let failed = |error: io::Error| {
        ToolError::new(Code::FileFailed, format!("the token in {}: {error}", path.display()))
            .hint("name another file with --http-token-file, or set TMUXWRIGHT_HTTP_TOKEN")
    };
    match File::open(path) {
        Ok(file) => read(file, path, &failed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = random::hex(TOKEN_BYTES).map_err(failed)?;
            match write(path, &text) {
                Ok(()) => Ok(Kept { token: token(&text, path)?, made: Some(text) }),
                // Another server has just made one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    read(File::open(path).map_err(failed)?, path, &failed)
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
) -> Result<Kept, ToolError> {
    let facts = file.metadata().map_err(failed)?;
    let refused = |why: &str, hint: String| {
        let message = format!("the token in {} {why}", path.display());
        Err(ToolError::new(Code::FileFailed, message).hint(hint))
    };
    if !facts.is_file() {
        return refused("is in no file", "name a file with --http-token-file".to_owned());
    }
    if facts.mode() & 0o077 != 0 {
        let hint = format!("chmod 600 {}; or remove it, and a new one is made", path.display());
        return refused("can be read by others", hint);
    }
    if ![0, rustix::process::geteuid().as_raw()].contains(&facts.uid()) {
        return refused("belongs to somebody else", "use a file of your own".to_owned());
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(Kept { token: token(text.trim(), path)?, made: None })
}

fn token(text: &str, path: &Path) -> Result<Token, ToolError> {
    Token::new(text).map_err(|why| {
        ToolError::new(Code::FileFailed, format!("{}: {why}", path.display()))
            .hint("remove the file, and a new token is made")
    })
}

/// Writes a file that is there as a whole or not at all, and that nobody else can read.
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
    fn a_token_is_made_once_and_only_its_owner_can_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/token");
        let first = read_or_make(&path).unwrap();
        let text = first.made.unwrap();
        assert_eq!(text.len(), 64);
        assert!(first.token.is(&text));
        let again = read_or_make(&path).unwrap();
        assert!(again.token.is(&text) && again.made.is_none());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let other = read_or_make(&dir.path().join("other")).unwrap();
        assert!(!other.token.is(&text));
    }

    #[test]
    fn a_file_that_others_can_read_or_that_holds_no_token_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let put = |text: &str, mode| {
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            read_or_make(&path).map(|kept| kept.token)
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
        assert!(read_or_make(dir.path()).is_err());
        assert!(read_or_make(&path.join("below")).is_err());
    }
}
