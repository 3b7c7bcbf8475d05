//! Rules for the files that calls may read and write.

use std::io;
use std::path::{Path, PathBuf};

use crate::contract::{Code, ToolError};

/// Files and directories that may be read and written; `None` allows all.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    readable: Option<Vec<PathBuf>>,
    writable: Option<Vec<PathBuf>>,
}

impl FileRules {
    /// Limits reading to these files and directories.
    pub fn set_readable<'a>(&mut self, paths: impl Iterator<Item = &'a str>) -> Result<(), String> {
        self.readable = Some(parse_paths(paths)?);
        Ok(())
    }

    /// Limits writing to these files and directories.
    pub fn set_writable<'a>(&mut self, paths: impl Iterator<Item = &'a str>) -> Result<(), String> {
        self.writable = Some(parse_paths(paths)?);
        Ok(())
    }

    pub(super) fn read(&self, path: &Path) -> Result<PathBuf, ToolError> {
        inside(path, self.readable.as_deref(), "policy.readable_paths", "read")
    }

    pub(super) fn write(&self, path: &Path) -> Result<PathBuf, ToolError> {
        inside(path, self.writable.as_deref(), "policy.writable_paths", "written")
    }
}

fn parse_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, String> {
    paths
        .map(|path| {
            crate::contract::absolute("path", path)
                .map_err(|_| format!("`{path}` is neither absolute nor below ~"))
        })
        .collect()
}

/// The path with links resolved, if it is in the list.
fn inside(
    path: &Path,
    list: Option<&[PathBuf]>,
    rule: &str,
    action: &str,
) -> Result<PathBuf, ToolError> {
    let Some(list) = list else { return Ok(path.to_owned()) };
    let real = real(path).map_err(|error| {
        let message = format!("`{}` cannot be {action}: {error}", path.display());
        ToolError::new(Code::FileFailed, message)
            .hint("give the path of a file whose directory exists")
    })?;
    let contains = |entry: &PathBuf| {
        real.starts_with(entry.canonicalize().as_deref().unwrap_or(entry.as_path()))
    };
    if list.iter().any(contains) {
        return Ok(real);
    }
    let message = format!("`{}` may not be {action}: it is outside `{rule}`", path.display());
    let allowed: Vec<String> = list.iter().map(|entry| entry.display().to_string()).collect();
    let hint = match allowed.as_slice() {
        [] => format!("`{rule}` is empty; a person can add to `{rule}` in the config file"),
        some => {
            format!("use {}; a person can add to `{rule}` in the config file", some.join(" or "))
        }
    };
    Err(ToolError::new(Code::Denied, message).hint(hint))
}

/// Resolves all links of a path. For a file that does not exist yet, the links of its directory are
/// resolved. A dangling link is an error, because writing to it would create its target.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            Ok(path.parent().unwrap_or(Path::new("/")).canonicalize()?.join(name))
        }
        other => other,
    }
}
