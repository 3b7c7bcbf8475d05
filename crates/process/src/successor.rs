//! A process that waits for the end of this one, then ends the processes in its group and starts a
//! program. It works for every way to die, SIGKILL included, which no handler sees.
//!
//! Linux could signal children itself when their parent dies, but only through unsafe code; macOS
//! cannot. A shell that reads from a pipe of ours does it on both.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Ends at a line; at the end of input without one, this process is dead. The shell ignores the
/// signals that would end it together with this process, and the one it sends to its group.
const WAIT: &str = r#"trap "" HUP INT TERM; read -r line || { kill -TERM 0; exec "$0" "$@"; }"#;

/// The waiting process. Dropping this counts as death.
#[derive(Debug)]
pub struct Successor {
    shell: Child,
}

impl Successor {
    /// Starts the process. It is to run `program` with these arguments.
    pub fn start<A: AsRef<OsStr>>(
        program: &OsStr,
        args: impl IntoIterator<Item = A>,
    ) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "it must outlive this process, unlike tmux")]
        let shell = Command::new("/bin/sh")
            .args(["-c", WAIT])
            .arg(program)
            .args(args)
            .stdin(Stdio::piped())
            // Who reads our output sees its end only if nobody else holds it.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }

    /// The process group that ends with this process. Children may join it: as long as this value
    /// exists, the group does, even if its shell is killed.
    pub fn group(&self) -> u32 {
        self.shell.id()
    }

    /// Ends the process, because this one exits in order.
    pub fn dismiss(mut self) {
        if let Some(mut stdin) = self.shell.stdin.take() {
            // If it is dead, there is nothing to dismiss.
            let _ = stdin.write_all(b"\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use testkit::{TmuxServer, wait_until};

    use super::*;
    use crate::os;

    /// A successor that makes the file.
    fn making(file: &Path) -> Successor {
        Successor::start(OsStr::new("/usr/bin/env"), ["touch".as_ref(), file.as_os_str()]).unwrap()
    }

    #[test]
    fn death_ends_the_group_and_starts_the_program() {
        let home = TmuxServer::not_started();
        let file = home.home().join("made");
        let mut successor = making(&file);
        let group = i32::try_from(successor.group()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a child like those of tmux")]
        let mut child = Command::new("sleep").arg("1000").process_group(group).spawn().unwrap();
        drop(successor.shell.stdin.take());
        wait_until("the program has run", || file.exists().then_some(()));
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn dismissed_successor_does_nothing() {
        let home = TmuxServer::not_started();
        let file = home.home().join("made");
        let successor = making(&file);
        let pid = successor.group();
        successor.dismiss();
        wait_until("the process has ended", || (!os::is_alive(pid)).then_some(()));
        assert!(!file.exists());
    }
}
