//! Atomic writing of files by tools.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::contract::{ToolError, file_failed};

/// A file that appears complete or not at all: until [`commit`](Self::commit), an existing file stays
/// unchanged. Pipes and devices cannot be replaced and are written directly.
pub(crate) struct AtomicFile {
    path: PathBuf,
    destination: Destination,
}

enum Destination {
    /// A temporary file beside the file that it will replace.
    Temporary(NamedTempFile),
    /// A pipe or a device, opened for writing.
    Direct(File),
}

impl AtomicFile {
    /// Starts to write a file.
    pub(crate) fn create(path: &Path) -> Result<Self, ToolError> {
        let begin = || {
            // The target of a link is replaced, not the link.
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if path.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            let destination = if path.exists() && !path.is_file() {
                Destination::Direct(File::options().write(true).open(&path)?)
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
                Destination::Temporary(file?)
            };
            Ok(Self { path, destination })
        };
        begin().map_err(|error| file_failed("written", path, &error))
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ToolError> {
        let written = match &mut self.destination {
            Destination::Temporary(file) => file.write_all(bytes),
            Destination::Direct(file) => file.write_all(bytes),
        };
        written.map_err(|error| file_failed("written", &self.path, &error))
    }

    /// Replaces the file by the one written.
    pub(crate) fn commit(self) -> Result<(), ToolError> {
        match self.destination {
            Destination::Temporary(file) => file
                .persist(&self.path)
                .map(drop)
                .map_err(|error| file_failed("written", &self.path, &error.error)),
            Destination::Direct(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Code;

    #[test]
    fn file_is_replaced_only_on_commit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let link = dir.path().join("link");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
        let mut file = AtomicFile::create(&link).unwrap();
        file.write(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.is_symlink());
    }

    #[test]
    fn devices_are_written_directly_and_directories_refused() {
        let mut file = AtomicFile::create(Path::new("/dev/null")).unwrap();
        file.write(b"x").unwrap();
        file.commit().unwrap();
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
