//! Files that tools read and write: regular files only, each step off the runtime thread.

use std::fs::{self, File};
use std::io::{self, Read, Write};
#[cfg(feature = "files")]
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

use crate::contract::{ToolError, file_failed};
use crate::file_io;

/// Bytes read from a file at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// A file that appears complete or not at all: until [`commit`](Self::commit), an existing file stays
/// unchanged.
pub(crate) struct AtomicFile {
    path: PathBuf,
    /// A temporary file beside the file that it will replace.
    draft: NamedTempFile,
}

impl AtomicFile {
    /// Starts to write a file. The path has no links left; the policy has resolved them.
    pub(crate) async fn create(path: PathBuf) -> Result<Self, ToolError> {
        step("written", path, |path| {
            let draft = draft_for(&path)?;
            Ok(Self { path, draft })
        })
        .await
    }

    /// Appends bytes.
    pub(crate) async fn write(mut self, bytes: Vec<u8>) -> Result<Self, ToolError> {
        step("written", self.path.clone(), move |_| {
            self.draft.write_all(&bytes)?;
            Ok(self)
        })
        .await
    }

    /// Replaces the file by the one written.
    pub(crate) async fn commit(self) -> Result<(), ToolError> {
        let Self { path, draft } = self;
        step("written", path, |path| draft.persist(&path).map(drop).map_err(|failed| failed.error))
            .await
    }
}

/// A temporary file that may replace the file at a path, with the same permissions.
fn draft_for(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    match fs::symlink_metadata(path) {
        Ok(old) => {
            file_io::require_regular(&old)?;
            let draft = NamedTempFile::new_in(folder)?;
            draft.as_file().set_permissions(old.permissions())?;
            Ok(draft)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => tempfile::Builder::new()
            .permissions(PermissionsExt::from_mode(0o666))
            .tempfile_in(folder),
        Err(error) => Err(error),
    }
}

/// Creates a file that tmux will append to, and checks that it can be written: tmux would not report a
/// failure. Empties it unless `append` is set.
#[cfg(feature = "files")]
pub(crate) async fn prepare_append(path: PathBuf, append: bool) -> Result<(), ToolError> {
    step("written", path, move |path| {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
        let file = file_io::open(&path, flags)?;
        // The other name may be that of a file which no tool may write.
        if file.metadata()?.nlink() > 1 {
            return Err(io::Error::other("it has a second name (a hard link)"));
        }
        if append { Ok(()) } else { file.set_len(0) }
    })
    .await
}

/// A regular file that is read in chunks.
pub(crate) struct FileReader {
    path: PathBuf,
    file: File,
    /// The size of the file when it was opened.
    pub(crate) size: u64,
}

impl FileReader {
    /// Opens a file.
    pub(crate) async fn open(path: PathBuf) -> Result<Self, ToolError> {
        step("read", path, |path| {
            let file = file_io::open(&path, OFlags::RDONLY)?;
            let size = file.metadata()?.len();
            Ok(Self { path, file, size })
        })
        .await
    }

    /// The file's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The next chunk, empty at the end of the file.
    pub(crate) async fn next(self) -> Result<(Self, Vec<u8>), ToolError> {
        let Self { path, mut file, size } = self;
        step("read", path, move |path| {
            let mut chunk = vec![0; CHUNK_BYTES];
            let read = file.read(&mut chunk)?;
            chunk.truncate(read);
            Ok((Self { path, file, size }, chunk))
        })
        .await
    }
}

/// One step of reading or writing the file at a path; `action` is the word for it in the error.
async fn step<T: Send + 'static>(
    action: &str,
    path: PathBuf,
    work: impl FnOnce(PathBuf) -> io::Result<T> + Send + 'static,
) -> Result<T, ToolError> {
    let named = path.clone();
    let done = file_io::off_runtime(move || work(path)).await.unwrap_or_else(Err);
    done.map_err(|error| file_failed(action, &named, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Code;

    #[tokio::test]
    async fn file_is_replaced_only_on_commit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let draft = AtomicFile::create(path.clone()).await.unwrap();
        let draft = draft.write(b"new".to_vec()).await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(draft);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
        let draft = AtomicFile::create(path.clone()).await.unwrap();
        draft.write(b"new".to_vec()).await.unwrap().commit().await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[tokio::test]
    async fn only_regular_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path().join("none"), &link).unwrap();
        let link = link.to_str().unwrap();
        for wrong in ["/", "/no/such/folder/x", "/dev/null", "/dev/full", link] {
            let error = AtomicFile::create(wrong.into()).await.err().unwrap();
            assert_eq!(error.code, Code::FileFailed, "{error}");
            assert!(error.hint.is_some() && error.message.contains(wrong), "{error}");
        }
    }

    #[cfg(feature = "files")]
    #[tokio::test]
    async fn hard_linked_file_is_not_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let (path, second) = (dir.path().join("x"), dir.path().join("y"));
        prepare_append(path.clone(), true).await.unwrap();
        fs::write(&path, "old").unwrap();
        fs::hard_link(&path, &second).unwrap();
        let error = prepare_append(second.clone(), false).await.unwrap_err();
        assert!(error.message.contains("hard link"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        fs::remove_file(&second).unwrap();
        prepare_append(path.clone(), false).await.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}
