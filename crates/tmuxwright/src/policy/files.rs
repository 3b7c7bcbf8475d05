//! Which files calls may read and write.

use std::io;
use std::path::{Path, PathBuf};

use crate::contract::{Code, ToolError};

/// Files and directories that may be used: where no list is given, all.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    readable: Option<Vec<PathBuf>>,
    writable: Option<Vec<PathBuf>>,
}

impl FileRules {
    /// Limits reading to these.
    pub fn set_readable<'a>(&mut self, paths: impl Iterator<Item = &'a str>) -> Result<(), String> {
        self.readable = Some(read(paths)?);
        Ok(())
    }

    /// Limits writing to these.
    pub fn set_writable<'a>(&mut self, paths: impl Iterator<Item = &'a str>) -> Result<(), String> {
        self.writable = Some(read(paths)?);
        Ok(())
    }

    pub(super) fn read(&self, path: &Path) -> Result<PathBuf, ToolError> {
        inside(path, self.readable.as_deref(), "policy.readable_paths", "read")
    }

    pub(super) fn write(&self, path: &Path) -> Result<PathBuf, ToolError> {
        inside(path, self.writable.as_deref(), "policy.writable_paths", "written")
    }
}

fn read<'a>(paths: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, String> {
    paths
        .map(|path| {
            crate::contract::absolute("path", path)
                .map_err(|_| format!("`{path}` is not an absolute path or one below ~"))
        })
        .collect()
}

/// The path without links, if it is in the list.
fn inside(
    path: &Path,
    list: Option<&[PathBuf]>,
    rule: &str,
    done: &str,
) -> Result<PathBuf, ToolError> {
    let Some(list) = list else { return Ok(path.to_owned()) };
    let real = real(path).map_err(|error| {
        let what = format!("`{}` cannot be {done}: {error}", path.display());
        ToolError::new(Code::FileFailed, what)
            .hint("give the path of a file whose directory exists")
    })?;
    let holds = |entry: &PathBuf| {
        real.starts_with(entry.canonicalize().as_deref().unwrap_or(entry.as_path()))
    };
    if list.iter().any(holds) {
        return Ok(real);
    }
    let what = format!("`{}` may not be {done}: it is outside `{rule}`", path.display());
    let allowed: Vec<String> = list.iter().map(|entry| entry.display().to_string()).collect();
    let hint = match allowed.as_slice() {
        [] => format!("no file may be; a person can add to `{rule}` in the config file"),
        some => {
            format!("use {}; a person can add to `{rule}` in the config file", some.join(" or "))
        }
    };
    Err(ToolError::new(Code::Denied, what).hint(hint))
}

/// Where a path leads. Of a file that does not exist yet, its directory is followed; a link to
/// nowhere leads out of it, so it is none.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            Ok(path.parent().unwrap_or(Path::new("/")).canonicalize()?.join(name))
        }
        other => other,
    }
}
