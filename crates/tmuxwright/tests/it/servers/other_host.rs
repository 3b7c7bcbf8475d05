//! A tmux server behind a real sshd on loopback, and the program that reaches it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Launch, Mcp, Sshd, TmuxServer, wait_until};

use crate::launch;

/// A tmux server on a host of its own, as far as the program can tell.
pub(super) struct OtherHost {
    pub(super) tmux: TmuxServer,
    pub(super) sshd: Sshd,
}

impl OtherHost {
    /// A running server with the session `main`. Shells that sshd starts have a directory for temporary files of
    /// their own.
    pub(super) fn new() -> Self {
        Self::of_login_shell(r#"sh -c "$SSH_ORIGINAL_COMMAND""#)
    }

    /// The same with a command in place of the login shell.
    pub(super) fn of_login_shell(command: &str) -> Self {
        let tmux = TmuxServer::new();
        let temporary = tmux.home().join("tmp");
        fs::create_dir(&temporary).unwrap();
        let (home, temporary) = (tmux.home().display(), temporary.display());
        let config = format!("ForceCommand HOME={home} TMPDIR={temporary} exec {command}");
        Self { sshd: Sshd::with_config(&config), tmux }
    }

    /// The program with this host as its only server, not started yet.
    pub(super) fn launch_plain(&self) -> Launch {
        launch(&self.tmux).env("TMUXWRIGHT_VIA", "").args(&["--ssh", &self.sshd.destination()])
    }

    /// The same with every tool and structured answers.
    pub(super) fn launch(&self) -> Launch {
        self.launch_plain().args(&["--toolset", "all", "--structured"])
    }

    pub(super) async fn serve(&self) -> Mcp {
        self.launch().mcp().await
    }

    /// The table of the config file by which the program reaches this host under a name.
    pub(super) fn table(&self, name: &str) -> String {
        let (ssh, socket) = (self.sshd.destination(), self.tmux.socket().display());
        let tmux = TmuxServer::program();
        let tmux = tmux.to_string_lossy();
        format!("[servers.{name}]\nssh = \"{ssh}\"\nsocket = \"{socket}\"\ntmux = \"{tmux}\"\n")
    }

    /// The private directories of programs there.
    pub(super) fn private_dirs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.tmux.home().join("tmp")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The names of the sessions.
    pub(super) fn sessions(&self) -> Vec<String> {
        let names = self.tmux.tmux(&["list-sessions", "-F", "#{session_name}"]);
        names.lines().map(str::to_owned).collect()
    }

    /// Waits until no client, session, buffer, file and process of the program is there.
    pub(super) fn assert_clean(&self) {
        wait_until("no session is left", || (self.sessions() == ["main"]).then_some(()));
        wait_until("no client is left", || {
            self.tmux.tmux(&["list-clients"]).is_empty().then_some(())
        });
        wait_until("no buffer is left", || {
            self.tmux.tmux(&["list-buffers"]).is_empty().then_some(())
        });
        wait_until("no file is left", || self.private_dirs().is_empty().then_some(()));
        wait_until("no connection is left", || self.sshd.connections().is_empty().then_some(()));
    }
}

/// The fields of a command's answer that must be exact.
pub(super) async fn ran(mcp: &Mcp, arguments: Value) -> (String, Value) {
    let answer = mcp.call("run_command", arguments).await.ok();
    let output = answer["output"].as_str().unwrap_or_default().to_owned();
    assert_eq!(answer["status"], "exited", "{answer}");
    (output, answer["exit_code"].clone())
}

/// Runs a command in a pane, which must print this and succeed.
pub(super) async fn assert_prints(mcp: &Mcp, target: &str, command: &str, output: &str) {
    let arguments = json!({"target": target, "command": command});
    assert_eq!(ran(mcp, arguments).await, (output.to_owned(), json!(0)), "{command}");
}
