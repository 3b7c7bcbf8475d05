//! Paste buffers: which there are, and their bytes in and out. The bytes go through the input or
//! output of a `tmux` of their own, piece by piece: a buffer may be larger than what anybody wants
//! to hold, and may have any byte in it.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::command::Command;
use crate::error::Error;
use crate::row;
use crate::server::Server;

/// How much is read at once.
const PIECE: usize = 64 * 1024;

row! {
    /// A paste buffer.
    pub BufferRow {
        /// Its name.
        name: String = "buffer_name",
        /// How large it is.
        bytes: u64 = "buffer_size",
        /// When it was made, in seconds since the epoch.
        created: u64 = "buffer_created",
        /// How it begins.
        sample: String = "buffer_sample",
    }
}

/// The command that lists the buffers. Before 3.4 the newest comes first.
pub fn list_buffers() -> Command {
    Command::query("list-buffers")
}

/// The command that removes a buffer.
pub fn delete_buffer(name: &str) -> Command {
    Command::action("delete-buffer").option("-b", name)
}

impl Server {
    /// Every buffer there is.
    pub async fn buffers(&self) -> Result<Vec<BufferRow>, Error> {
        self.rows(list_buffers()).await
    }

    /// Gives a buffer another name. Some versions replace a buffer that has it already, and some
    /// say nothing if the buffer is not there: look before.
    pub async fn rename_buffer(&self, name: &str, new: &str) -> Result<(), Error> {
        let rename = Command::action("set-buffer").option("-b", name).option("-n", new);
        self.run(rename).await.map(|_| ())
    }

    /// Begins to read a buffer.
    pub fn read_buffer(&self, name: &str) -> Result<BufferReader, Error> {
        let save = Command::query("save-buffer").option("-b", name).arg("--").arg("-");
        let mut child = self.tmux_program().start(&save, Stdio::null(), Stdio::piped())?;
        let Some(output) = child.stdout.take() else {
            return Err(Error::unexpected(save.name(), b"no output"));
        };
        let server = self.clone();
        Ok(BufferReader { server, child, output, piece: vec![0; PIECE] })
    }

    /// Begins to write a buffer. What it held before, if it is there, is replaced in one moment: at
    /// the end.
    pub fn write_buffer(&self, name: &str) -> Result<BufferWriter, Error> {
        let load = Command::action("load-buffer").option("-b", name).arg("--").arg("-");
        let mut child = self.tmux_program().start(&load, Stdio::piped(), Stdio::null())?;
        let Some(input) = child.stdin.take() else {
            return Err(Error::unexpected(load.name(), b"no input"));
        };
        Ok(BufferWriter { server: self.clone(), child, input })
    }

    /// Copies a buffer onto itself, which makes it the newest.
    pub async fn renew_buffer(&self, name: &str) -> Result<(), Error> {
        let mut reader = self.read_buffer(name)?;
        let mut writer = self.write_buffer(name)?;
        while let Some(piece) = reader.next().await? {
            writer.write(piece).await?;
        }
        writer.finish().await
    }
}

/// The bytes of a buffer as they were when reading began. Dropping it ends the process behind it.
#[derive(Debug)]
pub struct BufferReader {
    server: Server,
    child: Child,
    output: ChildStdout,
    piece: Vec<u8>,
}

impl BufferReader {
    /// The next bytes; none at the end.
    pub async fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let after = self.server.deadline();
        let read = in_time("save-buffer", after, self.output.read(&mut self.piece)).await?;
        match read.map_err(|source| Error::Io { what: "reading a buffer", source })? {
            0 => {
                ended(&self.server, "save-buffer", &mut self.child).await?;
                Ok(None)
            }
            count => Ok(self.piece.get(..count)),
        }
    }
}

/// Takes the bytes of a buffer. If it is dropped before the end, nothing has happened.
#[derive(Debug)]
pub struct BufferWriter {
    server: Server,
    // Dropped, and with it killed, before its input: else tmux would take that for the end.
    child: Child,
    input: ChildStdin,
}

impl BufferWriter {
    /// Adds bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let after = self.server.deadline();
        match in_time("load-buffer", after, self.input.write_all(bytes)).await? {
            Ok(()) => Ok(()),
            Err(source) => {
                // It has ended, and says why.
                ended(&self.server, "load-buffer", &mut self.child).await?;
                Err(Error::Io { what: "writing a buffer", source })
            }
        }
    }

    /// Puts what was written into the buffer. Nothing at all leaves it as it was.
    pub async fn finish(self) -> Result<(), Error> {
        let Self { server, mut child, input } = self;
        // tmux announces that a buffer has changed.
        let _permit = server.permit("load-buffer").await?;
        drop(input);
        ended(&server, "load-buffer", &mut child).await
    }
}

/// Waits for the end of a process, which must be a good one.
async fn ended(server: &Server, command: &str, child: &mut Child) -> Result<(), Error> {
    let mut said = Vec::new();
    let wait = async {
        if let Some(stderr) = &mut child.stderr {
            stderr.read_to_end(&mut said).await?;
        }
        child.wait().await
    };
    let status = in_time(command, server.deadline(), wait).await?;
    match status.map_err(|source| Error::Io { what: "waiting for tmux", source })? {
        status if status.success() => Ok(()),
        _ => Err(server.tmux_program().refusal(command, &said)),
    }
}

async fn in_time<T>(
    command: &str,
    after: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    tokio::time::timeout(after, work)
        .await
        .map_err(|_| Error::Timeout { command: command.to_owned(), after })
}
