//! The argument type for paths, and the checks of paths.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Code, ToolError, no_nul};

/// An absolute path, or one below `~`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(transparent, extend("x-clear" = true))]
pub struct FilePath(String);

impl FilePath {
    /// The path, if it is absolute. tmux formats in it are not expanded. Tools get it from the call
    /// context, which asks the guard first.
    pub(crate) fn check(&self, argument: &str) -> Result<PathBuf, ToolError> {
        absolute(argument, &self.0)
    }
}

/// A path with `~` replaced by the user's home directory. `~name` stays as it is.
pub(crate) fn expand_home(text: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from);
    let expanded = match text.strip_prefix('~') {
        Some("") => home(),
        Some(below) => below.strip_prefix('/').and_then(|below| Some(home()?.join(below))),
        None => None,
    };
    expanded.unwrap_or_else(|| PathBuf::from(text))
}

/// An absolute path; `~` is the user's home directory.
pub(crate) fn absolute(argument: &str, text: &str) -> Result<PathBuf, ToolError> {
    let path = expand_home(text);
    no_nul(argument, text, "no path can hold one; remove it")?;
    if !path.is_absolute() {
        let example = Path::new("/tmp").join(text.trim_start_matches("./"));
        return Err(ToolError::invalid_argument(format!("`{argument}`: `{text}` is not absolute"))
            .hint(format!("give the whole path, such as {} or ~/…", example.display())));
    }
    Ok(path)
}

/// The error for a file that cannot be `read` or `written`.
pub(crate) fn file_failed(action: &str, path: &Path, error: &io::Error) -> ToolError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "make its directory first, or give another path",
        io::ErrorKind::IsADirectory => "give the path of a file",
        io::ErrorKind::StorageFull => "free some space, or give another path",
        _ => "give another path",
    };
    let message = format!("`{}` cannot be {action}: {error}", path.display());
    ToolError::new(Code::FileFailed, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_absolute_or_below_home() {
        let path = |text: &str| FilePath(text.to_owned()).check("path");
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        assert_eq!(path("/a #S %d.log").unwrap(), Path::new("/a #S %d.log"));
        assert_eq!(path("~/x").unwrap(), home.join("x"));
        assert_eq!(path("~").unwrap(), home);
        for wrong in ["", "x.log", "./x.log", "~else/x", "/a\0b"] {
            assert!(path(wrong).is_err(), "{wrong:?}");
        }
        assert!(path("./x.log").unwrap_err().hint.unwrap().contains("/x.log"));
    }
}
