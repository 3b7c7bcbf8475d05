//! Writing to a terminal of another system, and discarding its input.

use std::fmt::Write as _;
use std::io;

use super::super::terminal::TerminalMode;
use super::RemoteProcesses;

impl RemoteProcesses {
    /// Writes through a program in the background there, which cannot hold up the shell.
    pub(in super::super) async fn write_to_terminal(
        &self,
        pid: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let word = self.word(format!("tw_write {pid} '{}'\n", escaped(bytes))).await?;
        match word.as_str() {
            "written" => Ok(()),
            "full" => Err(io::ErrorKind::WouldBlock.into()),
            "refused" => Err(io::ErrorKind::PermissionDenied.into()),
            "missing" => Err(io::ErrorKind::NotFound.into()),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Not supported for a terminal that passes input on line by line. Only by a change of the mode could a
    /// shell discard a line without its end, and a program that reads would get the line.
    pub(in super::super) async fn discard_unread_line(&self, pid: u32) -> io::Result<()> {
        match self.inspect(pid).await.mode() {
            None => Err(io::ErrorKind::NotFound.into()),
            Some(TerminalMode::Line) => Err(io::ErrorKind::Unsupported.into()),
            Some(TerminalMode::NoEcho | TerminalMode::Raw) => Ok(()),
        }
    }
}

/// Text for `printf %b`, in which no byte has a meaning for the shell.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 5);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "\\0{byte:03o}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_octal_escapes() {
        assert_eq!(escaped(b"a'\0\xff\n"), "\\0141\\0047\\0000\\0377\\0012");
    }
}
