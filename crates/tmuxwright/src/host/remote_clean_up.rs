//! What is left to another system: a script that removes what this process made there, run on its side when nothing
//! of this process answers any more.

use tmux_control::CleanUp;

use super::Host;
use super::own_session::OWN_SESSION_OPTION;
use super::owner::{LABEL_PREFIX, OWNER_OPTION, Owner};
use super::system::quoted;

impl Host {
    /// Leaves the clean-up on another system, once. If that fails, the next call tries again; until then only the
    /// next start of this program removes what a killed one has left.
    pub async fn leave_clean_up(&self) {
        let Some(remote) = self.shared.system.connection() else { return };
        let left = self.shared.clean_up.get_or_try_init(async || {
            let dir = self.private_dir().path().await?;
            let program = self.tmux().program_words();
            let clean_up =
                clean_up(&self.owner, &program, &dir.to_string_lossy(), self.shared.keep);
            remote.set_clean_up(clean_up).await;
            Ok::<_, std::io::Error>(())
        });
        if let Err(error) = left.await {
            tracing::debug!("leaving a clean-up script: {error}");
        }
    }
}

/// The clean-up of `owner` and its MCP clients. `tmux` is the program there with the arguments that name the server;
/// `dir` is the private directory there. With `keep`, panes and buffers stay.
pub(super) fn clean_up(owner: &Owner, tmux: &[String], dir: &str, keep: bool) -> CleanUp {
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
    CleanUp { script, lease_file: format!("{dir}/lease") }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use testkit::TmuxServer;
    use tmux_control::{Program, Socket};

    use super::*;
    use crate::host::NewPane;

    /// A server with a pane of a person, and a pane and a buffer of two MCP clients.
    async fn used(tmux: &TmuxServer) -> (Host, Host) {
        let socket = Socket::Path(tmux.socket().to_owned());
        let program = Program { path: TmuxServer::program(), ..Program::new(socket) };
        let process = Host::new(program, false, None);
        let client = process.for_client(2);
        for host in [&process, &client] {
            host.new_pane(NewPane::default()).await.unwrap();
            let buffer = host.new_buffer_name("note").unwrap();
            tmux.tmux(&["set-buffer", "-b", &buffer, "text"]);
        }
        tmux.tmux(&["set-buffer", "-b", "theirs", "text"]);
        // A person has opened a window in an own session, which protects it.
        tmux.tmux(&["new-window", "-d", "-t", &format!("={}:", client.owner.session_name())]);
        (process, client)
    }

    fn run(tmux: &TmuxServer, host: &Host, keep: bool) {
        let dir = tmux.home().join("private");
        fs::create_dir(&dir).unwrap();
        let words = host.tmux().program_words();
        let CleanUp { script, .. } = clean_up(&host.owner, &words, dir.to_str().unwrap(), keep);
        #[expect(clippy::disallowed_methods, reason = "the shell on the other side")]
        let status = Command::new("sh").args(["-c", &script]).status().unwrap();
        assert!(status.success() && !dir.exists());
    }

    #[tokio::test]
    async fn clean_up_removes_only_own_objects() {
        let tmux = TmuxServer::new();
        let (process, client) = used(&tmux).await;
        run(&tmux, &process, true);
        assert_eq!(tmux.tmux(&["list-panes", "-a"]).lines().count(), 4);
        assert_eq!(tmux.tmux(&["list-buffers"]).lines().count(), 3);
        run(&tmux, &process, false);
        let kept = format!("main\n{}", client.owner.session_name());
        let sessions = tmux.tmux(&["list-sessions", "-F", "#{session_name}"]);
        let mut sessions: Vec<&str> = sessions.lines().collect();
        sessions.sort_unstable();
        assert_eq!(sessions.join("\n"), kept);
        assert_eq!(tmux.tmux(&["list-panes", "-a"]).lines().count(), 2);
        assert_eq!(tmux.tmux(&["list-buffers", "-F", "#{buffer_name}"]).trim(), "theirs");
        assert_eq!(tmux.tmux(&["list-clients"]), "");
    }
}
