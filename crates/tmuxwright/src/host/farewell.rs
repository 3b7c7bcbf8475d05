//! What is left to another system: a script that removes what this process made there, run on its side when nothing
//! of this process answers any more.

use tmux_control::Farewell;

use super::Host;
use super::own_session::OWN_SESSION_OPTION;
use super::owner::{LABEL_PREFIX, OWNER_OPTION, Owner};
use super::system::quoted;

impl Host {
    /// Leaves the farewell on another system, once. If that fails, the next call tries again; until then only the
    /// next start of this program removes what a killed one has left.
    pub async fn leave_farewell(&self) {
        let Some(remote) = self.shared.system.connection() else { return };
        let left = self.shared.farewell.get_or_try_init(async || {
            let dir = self.private_dir().path().await?;
            let program = self.tmux().program_words();
            let farewell =
                farewell(&self.owner, &program, &dir.to_string_lossy(), self.shared.keep);
            remote.set_farewell(farewell).await;
            Ok::<_, std::io::Error>(())
        });
        if let Err(error) = left.await {
            tracing::debug!("leaving a farewell: {error}");
        }
    }
}

/// The farewell of `owner` and its MCP clients. `tmux` is the program there with the arguments that name the server;
/// `dir` is the private directory there. With `keep`, panes and buffers stay.
pub(super) fn farewell(owner: &Owner, tmux: &[String], dir: &str, keep: bool) -> Farewell {
    let words: Vec<String> = tmux.iter().map(|word| quoted(word)).collect();
    let (words, identity) = (words.join(" "), owner.identity());
    let clients = format!(
        r#"__tmux list-clients -F '#{{client_pid}} #{{client_termname}}' | while read -r pid label; do
  case $label in {LABEL_PREFIX}{identity} | {LABEL_PREFIX}{identity}.*) kill "$pid" ;; esac
done"#
    );
    // Only panes in own sessions, as when this process ends; others were made for a person to keep.
    let objects = format!(
        r#"__tmux list-panes -a -F '#{{{OWN_SESSION_OPTION}[0=0]}} #{{{OWNER_OPTION}[0=0]}} #{{pane_id}}' |
while read -r home owner pane; do
  case $home in {identity}.*) [ "$home" = "$owner" ] && __tmux kill-pane -t "$pane" ;; esac
done
__tmux list-buffers -F '#{{buffer_name}}' | while IFS= read -r buffer; do
  case $buffer in mcp_{identity}_* | mcp_{identity}.*) __tmux delete-buffer -b "$buffer" ;; esac
done"#
    );
    let objects = if keep { String::new() } else { objects };
    let script =
        format!("__tmux() {{ {words} \"$@\" </dev/null; }}\n{clients}\n{objects}\nrm -rf {dir}");
    Farewell { script, lease_file: format!("{dir}/lease") }
}
