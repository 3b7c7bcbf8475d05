//! Files that tools write: whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::contract::{ToolError, file_failed};

/// A file that is written whole or not at all: until it is kept, what was there stays.
pub(crate) struct AtomicFile {
    path: PathBuf,
    file: Destination,
}

enum Destination {
    /// Beside the file that it will replace.
    Beside(NamedTempFile),
    /// In what cannot be replaced, such as a pipe or a device.
    Itself(File),
}

impl AtomicFile {
    /// Begins a file.
    pub(crate) fn create(path: &Path) -> Result<Self, ToolError> {
        let begin = || {
            // What a link leads to is replaced, not the link.
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if path.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            let file = if path.exists() && !path.is_file() {
                Destination::Itself(File::options().write(true).open(&path)?)
            } else {
                let folder = path.parent().unwrap_or(Path::new("/"));
                let file = match path.metadata() {
                    Ok(old) => NamedTempFile::new_in(folder).and_then(|file| {
                        file.as_file().set_permissions(old.permissions()).map(|()| file)
                    }),
                    Err(_) => tempfile::Builder::new()
                        .permissions(PermissionsExt::from_mode(0o666))
                        .tempfile_in(folder),
                };
                Destination::Beside(file?)
            };
            Ok(Self { path, file })
        };
        begin().map_err(|error| file_failed("written", path, &error))
    }

    /// Adds to it.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ToolError> {
        let written = match &mut self.file {
            Destination::Beside(file) => file.write_all(bytes),
            Destination::Itself(file) => file.write_all(bytes),
        };
        written.map_err(|error| file_failed("written", &self.path, &error))
    }

    /// Puts it in its place.
    pub(crate) fn commit(self) -> Result<(), ToolError> {
        match self.file {
            Destination::Beside(file) => file
                .persist(&self.path)
                .map(drop)
                .map_err(|error| file_failed("written", &self.path, &error.error)),
            Destination::Itself(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Code;

    #[test]
    fn a_file_is_replaced_only_when_all_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let link = dir.path().join("link");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut draft = AtomicFile::create(&link).unwrap();
        draft.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(draft);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
        let mut draft = AtomicFile::create(&link).unwrap();
        draft.write(b"new").unwrap();
        draft.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
    }

    #[test]
    fn what_is_no_file_is_written_as_it_is_or_refused() {
        let mut draft = AtomicFile::create(Path::new("/dev/null")).unwrap();
        draft.write(b"x").unwrap();
        draft.commit().unwrap();
        assert!(!Path::new("/dev/null").is_file());
        let mut full = AtomicFile::create(Path::new("/dev/full")).unwrap();
        assert_eq!(full.write(b"x").unwrap_err().code, Code::FileFailed);
        for wrong in ["/", "/no/such/folder/x"] {
            let error = AtomicFile::create(Path::new(wrong)).err().unwrap();
            assert_eq!(error.code, Code::FileFailed, "{error}");
            assert!(error.hint.is_some() && error.message.contains(wrong), "{error}");
        }
    }
}
