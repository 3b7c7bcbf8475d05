//! Places in which a command file cannot be read: other hosts, users and roots, and terminals within terminals.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use testkit::{Shell, Sshd, TmuxServer, wait_until};

use super::fixture::ShellFixture;
use crate::serve;

/// A shell that runs in such places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InnerShell {
    Plain(Shell),
    /// busybox, which is as plain as dash, and edits its line.
    Busybox,
}

impl InnerShell {
    pub(crate) const BASH: Self = Self::Plain(Shell::Bash);
    pub(crate) const ALL: [Self; 5] = [
        Self::Plain(Shell::Bash),
        Self::Plain(Shell::Zsh),
        Self::Plain(Shell::Fish),
        Self::Plain(Shell::Dash),
        Self::Busybox,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Plain(shell) => shell.name(),
            Self::Busybox => "busybox",
        }
    }

    /// The beginning of its prompt, which the shell around it does not have.
    fn prompt_start(self) -> &'static str {
        match self {
            Self::Plain(Shell::Bash) => "b:",
            Self::Plain(Shell::Zsh) => "z:",
            Self::Plain(Shell::Fish) => "f@",
            Self::Plain(Shell::Dash) => "d@",
            Self::Busybox => "y:",
        }
    }

    /// The command of `sh` that becomes this shell, with a prompt that shows the directory where it can.
    fn start(self, home: &str) -> String {
        let env = format!("exec env HOME={home} HISTFILE={home}/history");
        match self {
            Self::Plain(Shell::Bash) => format!("{env} PS1='b:\\w$ ' bash --norc --noprofile -i"),
            Self::Plain(Shell::Zsh) => format!("{env} PS1='z:%~%# ' zsh -f -i"),
            Self::Plain(Shell::Fish) => {
                let prompt = "function fish_prompt; echo -n f@(prompt_pwd)\"> \"; end";
                format!("{env} fish --no-config -i -C '{prompt}'")
            }
            Self::Plain(Shell::Dash) => format!("{env} PS1='d@x:$ ' dash -i"),
            Self::Busybox => format!("{env} PS1='y:$ ' busybox sh -i"),
        }
    }
}

/// A way to such a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Ssh,
    Script,
    Su,
    Sudo,
    /// Another tmux server, whose client runs in the pane.
    Tmux,
    /// A root directory with busybox in it and little else.
    Chroot,
    /// A shell that a command of ours has started.
    InCommand,
}

/// A shell in such a place.
pub(crate) struct Inner {
    pub(crate) fixture: ShellFixture,
    _sshd: Option<Sshd>,
}

/// The beginning of a command line that gets the rights of root; `None` if there is no way to get them.
pub(crate) fn root_prefix() -> Option<&'static str> {
    if rustix::process::geteuid().is_root() {
        return Some("");
    }
    #[expect(clippy::disallowed_methods, reason = "whether sudo asks for a password")]
    let allowed = Command::new("sudo").args(["-n", "true"]).output();
    allowed.is_ok_and(|output| output.status.success()).then_some("sudo -n ")
}

impl Place {
    /// Opens a pane of 90x30 with a shell there. `None` if this user cannot get there.
    pub(crate) async fn open(self, shell: InnerShell) -> Option<Inner> {
        let tmux = TmuxServer::new();
        let home = tmux.home().join("inner");
        fs::create_dir(&home).unwrap();
        for (dir, mode) in [(tmux.home(), 0o755), (&*home, 0o777)] {
            fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
        }
        let starter = tmux.home().join("shell");
        let home = home.display().to_string();
        fs::write(&starter, format!("#!/bin/sh\ncd\n{}\n", shell.start(&home))).unwrap();
        fs::set_permissions(&starter, fs::Permissions::from_mode(0o755)).unwrap();
        let starter = starter.display();
        let sshd = (self == Self::Ssh).then(Sshd::start);
        let line = match self {
            Self::Ssh => format!("{} {starter}", sshd.as_ref()?.terminal()),
            Self::Script => format!("script -q -c {starter} /dev/null"),
            Self::Su => format!("{}su -m -s {starter} nobody", root_prefix()?),
            Self::Sudo => {
                root_prefix()?;
                format!("sudo -n -u nobody {starter}")
            }
            Self::Tmux => {
                let socket = tmux.home().join("inner-socket");
                let (program, socket) = (TmuxServer::program(), socket.display().to_string());
                // The server ends with its client.
                format!(
                    "env -u TMUX {} -f /dev/null -S {socket} new-session {starter} \\; \
                     set-option -g destroy-unattached on",
                    program.display()
                )
            }
            Self::Chroot => {
                let root = busybox_root(tmux.home(), root_prefix()?);
                let set_up = "/bin/busybox --install -s /bin; export HOME=/ PATH=/bin PS1=\"y:$ \"; cd; exec sh -i";
                format!("{}chroot {root} /bin/busybox sh -c '{set_up}'", root_prefix()?)
            }
            Self::InCommand => starter.to_string(),
        };
        let mcp = serve(&tmux).await;
        let target = self.open_pane(&tmux, &mcp, &line).await;
        tmux.tmux(&["resize-window", "-t", &target, "-x", "90", "-y", "30"]);
        let place = format!("{self:?}");
        wait_until(&format!("{} in {place} shows its prompt", shell.name()), || {
            let screen = tmux.screen(&target);
            // Without the status line of a tmux within.
            let mut rows = screen.lines().filter(|row| !row.starts_with('[') && !row.is_empty());
            let shows = |row: &str| {
                row.starts_with(shell.prompt_start()) && row.ends_with(['$', '#', '%', '>'])
            };
            rows.next_back().is_some_and(shows).then_some(())
        });
        let syntax = match shell {
            InnerShell::Plain(shell) => shell,
            InnerShell::Busybox => Shell::Dash,
        };
        let place = format!("{place} ({})", shell.name());
        let fixture = ShellFixture { tmux, mcp, shell: syntax, target: Some(target), place };
        Some(Inner { fixture, _sshd: sshd })
    }

    /// Opens a pane in which `sh` runs this line.
    async fn open_pane(self, tmux: &TmuxServer, mcp: &testkit::Mcp, line: &str) -> String {
        if self == Self::InCommand {
            let arguments = serde_json::json!({"command": line, "timeout": 0});
            let started = mcp.call("run_command", arguments).await.ok();
            assert_eq!(started["status"], "running", "{started}");
            return crate::support::string(&started["pane_id"]);
        }
        let script = tmux.home().join("start");
        fs::write(&script, format!("exec {line}\n")).unwrap();
        tmux.open(&format!("exec sh {}", script.display()))
    }
}

/// Makes a root directory with busybox, its libraries and the devices of a terminal.
fn busybox_root(dir: &Path, as_root: &str) -> String {
    let root = dir.join("root").display().to_string();
    let script = format!(
        "set -e; mkdir -p {root}/bin {root}/dev {root}/tmp {root}/usr; b=$(command -v busybox); cp $b {root}/bin/; \
         for lib in $(ldd $b | grep -o '/[^ ]*' || true); do \
         mkdir -p {root}$(dirname $lib); cp $lib {root}$lib; done; \
         {as_root}mknod -m 666 {root}/dev/tty c 5 0; {as_root}mknod -m 666 {root}/dev/null c 1 3"
    );
    #[expect(clippy::disallowed_methods, reason = "it makes devices")]
    let made = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    root
}
