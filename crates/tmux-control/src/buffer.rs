//! Paste buffers: listing, renaming, and reading and writing their bytes.
//!
//! The bytes are streamed through the stdin or stdout of a `tmux` process: a buffer may be larger
//! than a caller wants to hold in memory, and may contain any byte.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};

use crate::command::Command;
use crate::error::Error;
use crate::row;
use crate::server::Server;
use crate::spawn::TmuxProcess;
use crate::sync::within;

/// How many bytes one read returns at most.
const READ_BYTES: usize = 64 * 1024;

row! {
    /// A paste buffer.
    pub BufferRow {
        /// The name.
        name: String = "buffer_name",
        /// The size in bytes.
        bytes: u64 = "buffer_size",
        /// When it was created, in seconds since the epoch.
        created: u64 = "buffer_created",
        /// The beginning of the text.
        sample: String = "buffer_sample",
    }
}

/// The command that lists the buffers. Before 3.4 the newest comes first.
pub fn list_buffers() -> Command {
    Command::query("list-buffers")
}

/// The command that deletes a buffer.
pub fn delete_buffer(name: &str) -> Command {
    Command::action("delete-buffer").option("-b", name)
}

impl Server {
    /// All paste buffers.
    pub async fn buffers(&self) -> Result<Vec<BufferRow>, Error> {
        self.rows(list_buffers()).await
    }

    /// Renames a buffer. Some versions overwrite a buffer that has the new name, and some report no
    /// error if the buffer does not exist, so the caller must check both before.
    pub async fn rename_buffer(&self, name: &str, new: &str) -> Result<(), Error> {
        let rename = Command::action("set-buffer").option("-b", name).option("-n", new);
        self.run(rename).await.map(|_| ())
    }

    /// Begins to read a buffer.
    pub async fn read_buffer(&self, name: &str) -> Result<BufferReader, Error> {
        let save = Command::query("save-buffer").option("-b", name).arg("--").arg("-");
        let mut process = self.tmux_program().start(&save).await?;
        drop(process.child.stdin.take());
        let Some(output) = process.child.stdout.take() else {
            return Err(Error::unexpected(save.name(), b"no output"));
        };
        let server = self.clone();
        Ok(BufferReader { server, process, output, piece: vec![0; READ_BYTES] })
    }

    /// Begins to write a buffer. The content of an existing buffer is replaced atomically by
    /// [`BufferWriter::finish`].
    pub async fn write_buffer(&self, name: &str) -> Result<BufferWriter, Error> {
        let load = Command::action("load-buffer").option("-b", name).arg("--").arg("-");
        let mut process = self.tmux_program().start(&load).await?;
        let Some(input) = process.child.stdin.take() else {
            return Err(Error::unexpected(load.name(), b"no input"));
        };
        Ok(BufferWriter { server: self.clone(), unfinished: Some(Load { process, input }) })
    }

    /// Copies a buffer onto itself, which makes it the newest.
    pub async fn renew_buffer(&self, name: &str) -> Result<(), Error> {
        let mut reader = self.read_buffer(name).await?;
        let mut writer = self.write_buffer(name).await?;
        while let Some(piece) = reader.next().await? {
            writer.write(piece).await?;
        }
        writer.finish().await
    }
}

/// Reads the bytes that a buffer had when reading began. Dropping it kills its `tmux` process.
#[derive(Debug)]
pub struct BufferReader {
    server: Server,
    process: TmuxProcess,
    output: ChildStdout,
    piece: Vec<u8>,
}

impl BufferReader {
    /// The next bytes; none at the end.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let after = self.server.deadline();
        let read = within(after, "save-buffer", self.output.read(&mut self.piece)).await?;
        match read.map_err(|source| Error::Io { operation: "reading a buffer", source })? {
            0 => {
                wait_for_success(&self.server, "save-buffer", &mut self.process).await?;
                Ok(None)
            }
            count => Ok(self.piece.get(..count)),
        }
    }
}

/// Writes the bytes of a buffer. Dropping it before [`BufferWriter::finish`] leaves the buffer
/// unchanged, unless the connection to another system is lost at that moment.
#[derive(Debug)]
pub struct BufferWriter {
    server: Server,
    /// None once all bytes are written.
    unfinished: Option<Load>,
}

/// The process that loads a buffer.
#[derive(Debug)]
struct Load {
    // Declared before `input`, so that dropping kills the process before its input closes: tmux
    // would take the closed input for the end of the buffer.
    process: TmuxProcess,
    input: ChildStdin,
}

impl BufferWriter {
    /// Adds bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let after = self.server.deadline();
        let Some(Load { process, input }) = &mut self.unfinished else { return Ok(()) };
        match within(after, "load-buffer", input.write_all(bytes)).await? {
            Ok(()) => Ok(()),
            Err(source) => {
                // The process has exited; its stderr holds the reason.
                wait_for_success(&self.server, "load-buffer", process).await?;
                Err(Error::Io { operation: "writing a buffer", source })
            }
        }
    }

    /// Stores the written bytes in the buffer. If nothing was written, the buffer is unchanged.
    pub async fn finish(mut self) -> Result<(), Error> {
        // tmux sends a notification about the changed buffer.
        let _permit = self.server.permit("load-buffer").await?;
        let Some(Load { mut process, input }) = self.unfinished.take() else { return Ok(()) };
        drop(input);
        wait_for_success(&self.server, "load-buffer", &mut process).await
    }
}

impl Drop for BufferWriter {
    fn drop(&mut self) {
        // On another system the process is killed through a shell, while its input is still open.
        if self.server.remote().is_some()
            && let Some(Load { mut process, input }) = self.unfinished.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let server = self.server.clone();
            runtime.spawn(async move {
                server.tmux_program().kill(&mut process).await;
                drop(input);
            });
        }
    }
}

/// Waits until a process has exited; a failure becomes an error with its stderr.
async fn wait_for_success(
    server: &Server,
    command: &str,
    TmuxProcess { child, .. }: &mut TmuxProcess,
) -> Result<(), Error> {
    let mut stderr_bytes = Vec::new();
    let wait = async {
        if let Some(stderr) = &mut child.stderr {
            stderr.read_to_end(&mut stderr_bytes).await?;
        }
        child.wait().await
    };
    let status = within(server.deadline(), command, wait).await?;
    match status.map_err(|source| Error::Io { operation: "waiting for tmux", source })? {
        status if status.success() => Ok(()),
        _ => Err(server.tmux_program().refusal(command, &stderr_bytes)),
    }
}
