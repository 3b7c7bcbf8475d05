//! Rules for the files that calls may read and write.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use crate::contract::{Code, ToolError, file_failed};

/// Name of the rule for writing in the config file.
const WRITABLE: &str = "policy.writable_paths";

/// Files and directories that may be read and written; `None` allows all.
#[derive(Debug, Clone, Default)]
pub struct FileRules {
    readable: Option<Vec<PathBuf>>,
    writable: Option<Vec<PathBuf>>,
    protected: Vec<ProtectedPath>,
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

    /// Forbids writing these, whatever the other rules say.
    pub fn protect(&mut self, paths: impl IntoIterator<Item = ProtectedPath>) {
        self.protected.extend(paths);
    }

    pub(super) fn read(&self, path: &Path) -> Result<PathBuf, ToolError> {
        let Some(list) = &self.readable else { return Ok(path.to_owned()) };
        let real = real(path).map_err(|error| file_failed("read", path, &error))?;
        inside(path, &real, list, "policy.readable_paths", "read")?;
        Ok(real)
    }

    /// Admits a file to be written, and returns its path without links. While commands are filtered and
    /// no paths are listed, no file may be written: shells, tmux and many programs run what they find in
    /// their start-up files.
    pub(super) fn write(&self, path: &Path, filtered: bool) -> Result<PathBuf, ToolError> {
        let real = real(path).map_err(|error| file_failed("written", path, &error))?;
        if let Some(protected) = self.protected.iter().find(|protected| protected.covers(&real)) {
            let (path, what) = (path.display(), protected.what);
            let message = format!("`{path}` may not be written: it belongs to {what}");
            return Err(ToolError::new(Code::Denied, message)
                .hint("choose another path; no tool may write this server's own files"));
        }
        match &self.writable {
            None if !filtered => {}
            None => return Err(unlisted(path)),
            Some(list) => inside(path, &real, list, WRITABLE, "written")?,
        }
        Ok(real)
    }

    /// Admits a file to be written by a tmux on another system. Links there cannot be resolved from here, so the
    /// text decides: it must lead nowhere but where it says, and begin with a listed directory. This server's own
    /// files are not there.
    pub(super) fn write_elsewhere(
        &self,
        path: &Path,
        filtered: bool,
    ) -> Result<PathBuf, ToolError> {
        if path.components().any(|part| part == Component::ParentDir) {
            let message = format!("`{}` may not be written: it contains `..`", path.display());
            return Err(ToolError::new(Code::Denied, message).hint("give the path without `..`"));
        }
        match &self.writable {
            None if !filtered => {}
            None => return Err(unlisted(path)),
            Some(list) if list.iter().any(|entry| path.starts_with(entry)) => {}
            Some(list) => return Err(outside(path, list, WRITABLE, "written")),
        }
        Ok(path.to_owned())
    }
}

/// A file or directory of the server itself: settings, logs, secrets, scripts. A tool that could write
/// it could change the rules or remove its traces.
#[derive(Debug, Clone)]
pub struct ProtectedPath {
    path: PathBuf,
    /// The name of the path in a refusal.
    what: &'static str,
    extent: Extent,
}

#[derive(Debug, Clone, Copy)]
enum Extent {
    /// The path, and everything below it if it is a directory.
    Tree,
    /// The file and so many rotated files: `log.1`, `log.2`, …
    Rotated(u32),
    /// Everything below directories whose paths begin with this text.
    Prefix,
}

impl ProtectedPath {
    /// A file, or a directory with everything below it.
    pub fn tree(what: &'static str, path: PathBuf) -> Self {
        Self { path, what, extent: Extent::Tree }
    }

    /// A log file with its rotated files.
    pub fn rotated(what: &'static str, path: PathBuf, files: u32) -> Self {
        Self { path, what, extent: Extent::Rotated(files) }
    }

    /// The content of all directories whose paths begin with this text.
    pub fn prefix(what: &'static str, path: PathBuf) -> Self {
        Self { path, what, extent: Extent::Prefix }
    }

    /// Whether writing to `target`, a path without links, would change the protected path or a file
    /// below it.
    fn covers(&self, target: &Path) -> bool {
        let own = resolve_existing(&self.path);
        // A file in the place of a missing directory on the way to the path.
        if own.starts_with(target) && !target.is_dir() {
            return true;
        }
        match self.extent {
            Extent::Tree => is_within(target, &own),
            Extent::Rotated(files) => {
                let mut names = (1..=files).map(|number| numbered(&own, number));
                is_rotated(target, &own)
                    || is_within(target, &own)
                    || names.any(|name| is_within(target, &name))
            }
            Extent::Prefix => {
                let (Some(dir), Some(prefix)) = (own.parent(), own.file_name()) else {
                    return false;
                };
                target.ancestors().skip(1).any(|above| {
                    let name = above.file_name().unwrap_or_default();
                    let begins = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
                    begins && above.parent().is_some_and(|parent| is_same(parent, dir))
                })
            }
        }
    }
}

/// Whether a path is `top` or below it, by name or because a directory on the way is the same one. A
/// hard link and a bind mount have other names.
fn is_within(path: &Path, top: &Path) -> bool {
    path.ancestors().any(|above| is_same(above, top))
}

/// Whether two paths name the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path| fs::metadata(path).ok().map(|about| (about.dev(), about.ino()));
    one == other || identity(one).is_some_and(|found| Some(found) == identity(other))
}

/// Whether a path is a log's path with a number behind it.
fn is_rotated(path: &Path, log: &Path) -> bool {
    let (Some(name), Some(log_name)) = (path.file_name(), log.file_name()) else { return false };
    let rest = name.as_encoded_bytes().strip_prefix(log_name.as_encoded_bytes());
    let number = rest.and_then(|rest| rest.strip_prefix(b"."));
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
        && path.parent().zip(log.parent()).is_some_and(|(one, other)| is_same(one, other))
}

fn numbered(log: &Path, number: u32) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

fn parse_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<Vec<PathBuf>, String> {
    paths
        .map(|path| {
            crate::contract::absolute("path", path)
                .map_err(|_| format!("`{path}` is neither absolute nor below ~"))
        })
        .collect()
}

/// Refuses a path that is not in the list; `real` is the path without links.
fn inside(
    path: &Path,
    real: &Path,
    list: &[PathBuf],
    rule: &str,
    action: &str,
) -> Result<(), ToolError> {
    let contains = |entry: &PathBuf| {
        real.starts_with(entry.canonicalize().as_deref().unwrap_or(entry.as_path()))
    };
    if list.iter().any(contains) {
        return Ok(());
    }
    Err(outside(path, list, rule, action))
}

/// The refusal of a path that is not in the list of a rule.
fn outside(path: &Path, list: &[PathBuf], rule: &str, action: &str) -> ToolError {
    let message = format!("`{}` may not be {action}: it is outside `{rule}`", path.display());
    let allowed: Vec<String> = list.iter().map(|entry| entry.display().to_string()).collect();
    let hint = match allowed.as_slice() {
        [] => format!("`{rule}` is empty; a person can add to `{rule}` in the config file"),
        some => {
            format!("use {}; a person can add to `{rule}` in the config file", some.join(" or "))
        }
    };
    ToolError::new(Code::Denied, message).hint(hint)
}

/// The refusal of a path to write while commands are filtered and no paths are listed.
fn unlisted(path: &Path) -> ToolError {
    let message = format!(
        "`{}` may not be written: while policy.command_filter is on, it must be in `{WRITABLE}`",
        path.display()
    );
    ToolError::new(Code::Denied, message).hint(format!(
        "leave the path out if the tool can do without; a person can add it to `{WRITABLE}` in the config file"
    ))
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

/// Resolves the links of the part of a path that exists.
fn resolve_existing(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = above.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    resolved.unwrap_or_else(|| path.to_owned())
}
