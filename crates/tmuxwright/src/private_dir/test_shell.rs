//! A shell of this system in place of one on another system, for tests.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use process::{RemoteShell, ScriptOutput};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

/// Ends the output of a script.
const END: &[u8] = b"\nend of the script\n";

/// A shell that runs scripts, with a directory for temporary files of its own.
#[derive(Debug)]
pub(super) struct TestShell {
    pipes: Mutex<(ChildStdin, ChildStdout)>,
    _child: tokio::process::Child,
}

impl TestShell {
    /// Starts a shell by its command line.
    pub(super) fn start(words: &[&str], temporary: &Path) -> Arc<Self> {
        #[expect(clippy::disallowed_methods, reason = "the shell of the other system")]
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("TMPDIR", temporary).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipes = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Arc::new(Self { pipes: Mutex::new(pipes), _child: child })
    }

    /// The output of a script.
    pub(super) async fn output_of(&self, script: &str) -> io::Result<Vec<u8>> {
        let mut pipes = self.pipes.lock().await;
        let (stdin, stdout) = &mut *pipes;
        let end = String::from_utf8_lossy(END).trim().to_owned();
        let text = format!("{{ {script}\n}} </dev/null\nprintf '\\n%s\\n' '{end}'\n");
        stdin.write_all(text.as_bytes()).await?;
        let mut printed = Vec::new();
        while !printed.ends_with(END) {
            if stdout.read_buf(&mut printed).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        printed.truncate(printed.len() - END.len());
        Ok(printed)
    }
}

impl RemoteShell for TestShell {
    fn run(&self, script: String) -> ScriptOutput<'_> {
        Box::pin(async move { self.output_of(&script).await })
    }
}
