//! Text for a pane without a program: what is fed to it is shown as if one had printed it.

use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use crate::command::Command;
use crate::error::Error;
use crate::id::PaneId;
use crate::server::Server;
use crate::spawn::is_no_server;

impl Server {
    /// Shows text in a pane that has no program. It must be in the pane's own terms: escape
    /// sequences are obeyed.
    pub async fn feed(&self, pane: PaneId, text: &str) -> Result<(), Error> {
        let command = Command::action("display-message").arg("-I").option("-t", pane);
        let name = || command.name().to_owned();
        let broken = |source| Error::Io { what: "feeding a pane", source };
        let mut process = self.tmux_program().process_for(std::slice::from_ref(&command))?;
        process.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child =
            process.spawn().map_err(|source| self.tmux_program().start_error(source))?;
        let feeding = async {
            if let Some(mut stdin) = child.stdin.take() {
                // If tmux does not want it, it says why at its end.
                let _ = stdin.write_all(text.as_bytes()).await;
            }
            child.wait_with_output().await.map_err(broken)
        };
        let output = tokio::time::timeout(self.deadline(), feeding)
            .await
            .map_err(|_| Error::Timeout { command: name(), after: self.deadline() })??;
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match output.status.success() {
            true => Ok(()),
            false if is_no_server(&message) => {
                Err(Error::NoServer { socket: self.socket_path().display().to_string() })
            }
            false => Err(Error::Refused { command: name(), message }),
        }
    }
}
