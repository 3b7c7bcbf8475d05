//! The shells people have, in panes of a private server.

use std::env;
use std::path::{Path, PathBuf};

use crate::TmuxServer;
use crate::until::wait_until;

/// What people have in their environment that changes where a shell finds its files or what it
/// keeps.
const OF_PEOPLE: &[&str] =
    &["BASH_ENV", "ENV", "HISTCONTROL", "PROMPT_COMMAND", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
    /// dash, the plain `sh` of many systems.
    Dash,
}

impl Shell {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::Dash];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Dash => "dash",
        }
    }

    /// Where it is. It must be there.
    pub fn path(self) -> PathBuf {
        let path = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&path).map(|dir| dir.join(self.name())).find(|p| p.is_file());
        found.unwrap_or_else(|| panic!("{} is not installed", self.name()))
    }

    /// The file it reads when it starts, whether as a login shell or not.
    pub fn start_up_file(self, home: &Path) -> PathBuf {
        home.join(match self {
            Self::Bash => ".bashrc",
            Self::Zsh => ".zshrc",
            Self::Fish => ".config/fish/config.fish",
            Self::Dash => ".profile",
        })
    }
}

impl TmuxServer {
    /// Has panes run this shell from now on, as a login shell with an empty start-up file, the way
    /// tmux does by itself.
    pub fn use_shell(&self, shell: Shell) {
        self.write_start_up(shell, "");
        for name in OF_PEOPLE {
            self.tmux(&["set-environment", "-g", "-r", name]);
        }
        self.tmux(&["set-environment", "-g", "LC_ALL", "C.UTF-8"]);
        self.tmux(&["set-option", "-g", "default-shell", &shell.path().to_string_lossy()]);
        self.tmux(&["set-option", "-g", "default-command", ""]);
    }

    /// Writes what a shell reads when it starts. As a login shell, bash reads it by way of another
    /// file, as most people have it.
    pub fn write_start_up(&self, shell: Shell, text: &str) {
        let file = shell.start_up_file(self.home());
        let dir = file.parent().expect("a file is in a directory");
        std::fs::create_dir_all(dir).expect("the home can be written to");
        std::fs::write(&file, text).expect("the home can be written to");
        if shell == Shell::Bash {
            let profile = ". ~/.bashrc\n";
            std::fs::write(self.home().join(".bash_profile"), profile).expect("so can this");
        }
        if shell == Shell::Fish {
            // Without this, the first fish in a home spends seconds on making completions.
            let made = self.home().join(".local/share/fish/generated_completions");
            std::fs::create_dir_all(made).expect("so can this");
        }
    }

    /// Adds a session with one pane of this size, in which a person's shell shows its prompt, and
    /// returns the pane's id.
    pub fn shell_pane(&self, columns: u16, rows: u16) -> String {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut args = vec!["new-session", "-d", "-x", &columns, "-y", &rows];
        args.extend(["-P", "-F", "#{pane_id}"]);
        // tmux 3.2a does not heed the size of a detached session.
        args.extend([";", "resize-window", "-x", &columns, "-y", &rows]);
        let pane = self.tmux(&args);
        wait_until("the shell shows its prompt", || {
            let screen = self.screen(&pane);
            screen
                .lines()
                .last()
                .is_some_and(|row| row.contains(['$', '#', '>', '%']))
                .then_some(())
        });
        pane
    }

    /// What a pane's screen shows.
    pub fn screen(&self, pane: &str) -> String {
        self.tmux(&["capture-pane", "-p", "-t", pane]).trim_end().to_owned()
    }

    /// Types a line into a pane, as a person does.
    pub fn type_line(&self, pane: &str, line: &str) {
        self.tmux(&["send-keys", "-t", pane, "-l", line]);
        self.tmux(&["send-keys", "-t", pane, "Enter"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_starts_with_its_start_up_file() {
        for shell in Shell::ALL {
            let tmux = TmuxServer::new();
            tmux.use_shell(shell);
            tmux.write_start_up(shell, "echo started in $HOME\n");
            let pane = tmux.shell_pane(100, 10);
            let started = format!("started in {}", tmux.home().display());
            assert!(tmux.screen(&pane).contains(&started), "{shell:?}: {}", tmux.screen(&pane));
            let facts = "#{pane_current_command} #{pane_width}x#{pane_height}";
            let facts = tmux.tmux(&["display-message", "-p", "-t", &pane, facts]);
            assert_eq!(facts, format!("{} 100x10", shell.name()));
            tmux.type_line(&pane, "echo typed-$HOME");
            let typed = format!("\ntyped-{}", tmux.home().display());
            wait_until("the line has run", || tmux.screen(&pane).contains(&typed).then_some(()));
        }
    }
}
