//! Text for an empty pane: a pane without a program, which shows the text written to it.

use tokio::io::AsyncWriteExt;

use crate::command::Command;
use crate::error::Error;
use crate::id::PaneId;
use crate::server::Server;
use crate::sync::within;

impl Server {
    /// Writes text to a pane that has no program, as if a program had printed it. Escape sequences
    /// in the text take effect.
    pub async fn write_to_empty_pane(&self, pane: PaneId, text: &str) -> Result<(), Error> {
        let command = Command::action("display-message").arg("-I").option("-t", pane);
        let mut child = self.tmux_program().start(&command).await?.child;
        let writing = async {
            if let Some(mut stdin) = child.stdin.take() {
                // If tmux refuses the text, its exit status and stderr below hold the reason.
                let _ = stdin.write_all(text.as_bytes()).await;
            }
            child.wait_with_output().await
        };
        let output = within(self.deadline(), command.name(), writing)
            .await?
            .map_err(|source| Error::Io { operation: "writing to an empty pane", source })?;
        if output.status.success() {
            return Ok(());
        }
        Err(self.tmux_program().refusal(command.name(), &output.stderr))
    }
}
