//! The directory of full answers (`audit.full`), each in a file of its own.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::private_file;
use crate::contract::ObjectIds;

/// The directory of full answers.
#[derive(Debug)]
pub(super) struct AnswerFolder {
    path: PathBuf,
    /// The last number used for each stem.
    last: HashMap<String, u32>,
}

impl AnswerFolder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, last: HashMap::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the directory if it does not exist.
    pub(super) fn open(&self) -> io::Result<()> {
        private_file::directory(&self.path).map(drop)
    }

    /// Writes a text to the next free file `stem-001.txt`, `stem-002.txt`, … and returns its name.
    pub(super) fn keep(&mut self, stem: &str, text: &str) -> io::Result<String> {
        let directory = private_file::directory(&self.path)?;
        let mut number = match self.last.get(stem) {
            Some(last) => *last,
            None => highest(&self.path, stem)?,
        };
        loop {
            number += 1;
            let name = format!("{stem}-{number:03}.txt");
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o600);
            let mut file = match rustix::fs::openat(&directory, &name, flags, mode) {
                Ok(file) => File::from(file),
                // Made by another server process.
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(error.into()),
            };
            if let Err(error) = file.write_all(text.as_bytes()) {
                let _ = rustix::fs::unlinkat(&directory, &name, AtFlags::empty());
                return Err(error);
            }
            self.last.insert(stem.to_owned(), number);
            return Ok(name);
        }
    }
}

/// The stem of the file names of a call: id of the command or pane, and the tool.
pub(super) fn stem(ids: &ObjectIds, tool: &str) -> String {
    let tool = tool.strip_suffix("_pane").filter(|tool| *tool == "capture").unwrap_or(tool);
    match ids.command_id.as_ref().or(ids.pane_id.as_ref()) {
        Some(id) => format!("{id}-{tool}"),
        None => tool.to_owned(),
    }
}

/// The highest number in use for a stem.
fn highest(folder: &Path, stem: &str) -> io::Result<u32> {
    let mut highest = 0;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(".txt"))
            .and_then(|number| number.parse().ok());
        highest = highest.max(number.unwrap_or(0));
    }
    Ok(highest)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn files_are_numbered_and_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("full");
        let mut folder = AnswerFolder::new(path.clone());
        assert_eq!(folder.keep("%3-capture", "a").unwrap(), "%3-capture-001.txt");
        assert_eq!(folder.keep("%3-capture", "b").unwrap(), "%3-capture-002.txt");
        assert_eq!(folder.keep("c1-run_command", "c").unwrap(), "c1-run_command-001.txt");
        // Another server process with the same directory.
        let mut other = AnswerFolder::new(path.clone());
        assert_eq!(other.keep("%3-capture", "d").unwrap(), "%3-capture-003.txt");
        assert_eq!(folder.keep("%3-capture", "e").unwrap(), "%3-capture-004.txt");
        assert_eq!(fs::read_to_string(path.join("%3-capture-003.txt")).unwrap(), "d");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&path.join("%3-capture-001.txt"))), (0o700, 0o600));
    }

    #[test]
    fn symbolic_link_is_refused_as_directory() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        let error = AnswerFolder::new(link).keep("x", "y").unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn file_is_named_after_object_and_tool() {
        let ids = |pane: Option<&str>, command: Option<&str>| ObjectIds {
            pane_id: pane.map(str::to_owned),
            command_id: command.map(str::to_owned),
            ..ObjectIds::default()
        };
        assert_eq!(stem(&ids(Some("%3"), None), "capture_pane"), "%3-capture");
        assert_eq!(stem(&ids(Some("%3"), Some("c7")), "run_command"), "c7-run_command");
        assert_eq!(stem(&ids(Some("%3"), None), "snapshot_pane"), "%3-snapshot_pane");
        assert_eq!(stem(&ids(None, None), "search_panes"), "search_panes");
    }
}
