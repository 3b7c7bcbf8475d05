//! The shells that the tests run, and panes of a private server that run them.

use std::env;
use std::path::PathBuf;

use crate::TmuxServer;
use crate::home;
use crate::until::wait_until;

/// A shell that is supported.
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
    /// All supported shells.
    pub const ALL: [Self; 4] = [Self::Bash, Self::Zsh, Self::Fish, Self::Dash];

    /// The program's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
            Self::Dash => "dash",
        }
    }

    /// The program's path. The shell must be installed.
    pub fn path(self) -> PathBuf {
        let found =
            env::split_paths(&home::path()).map(|dir| dir.join(self.name())).find(|p| p.is_file());
        found.unwrap_or_else(|| panic!("{} is not installed", self.name()))
    }

    /// The prompt that tests give it, without the blank behind it.
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Bash | Self::Dash => "$",
            Self::Zsh => "%",
            Self::Fish => ">",
        }
    }
}

impl TmuxServer {
    /// Makes this shell the default of new panes, started as a login shell as tmux does by itself.
    pub fn use_shell(&self, shell: Shell) {
        self.tmux(&["set-option", "-g", "default-shell", &shell.path().to_string_lossy()]);
        self.tmux(&["set-option", "-g", "default-command", ""]);
    }

    /// Sets the last lines of a shell's start-up file. dash reads the file only as a login shell, the
    /// others always.
    pub fn write_start_up(&self, shell: Shell, text: &str) {
        home::write_start_up(self.home(), shell, text);
    }

    /// Adds a session with one pane of this size that runs the default shell, waits for the prompt,
    /// and returns the pane's id.
    pub fn shell_pane(&self, columns: u16, rows: u16) -> String {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let mut args = vec!["new-session", "-d", "-x", &columns, "-y", &rows];
        args.extend(["-P", "-F", "#{pane_id}"]);
        // tmux 3.2a ignores the size of a detached session.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types a line and returns the rows of the screen once the next prompt is shown.
    fn rows_after(tmux: &TmuxServer, shell: Shell, line: &str) -> Vec<String> {
        let pane = tmux.shell_pane(1000, 20);
        let typed = format!("{} {line}", shell.prompt());
        tmux.type_line(&pane, line);
        wait_until(&format!("{shell:?} shows its prompt again"), || {
            let screen = tmux.screen(&pane);
            let mut rows: Vec<String> = screen.lines().map(str::to_owned).collect();
            let ended = rows.last().is_some_and(|row| row == shell.prompt());
            (ended && rows.first() == Some(&typed)).then(|| {
                rows.pop();
                rows.remove(0);
                rows
            })
        })
    }

    #[test]
    fn shells_have_their_own_prompt_home_and_directory() {
        let tmux = TmuxServer::new();
        let home = tmux.home().display().to_string();
        let path = home::path().into_string().unwrap();
        for shell in Shell::ALL {
            tmux.use_shell(shell);
            let not_login = format!("exec {}", shell.name());
            for command in ["", &not_login] {
                tmux.tmux(&["set-option", "-g", "default-command", command]);
                let rows = rows_after(&tmux, shell, "echo $HOME; pwd; sh -c 'echo $PATH'; alias");
                assert_eq!(rows, [&*home, &home, &path], "{shell:?}, {command:?}");
            }
        }
    }

    #[test]
    fn the_environment_holds_only_known_variables() {
        let tmux = TmuxServer::new();
        let lines = tmux.tmux(&["show-environment", "-g"]);
        let mut names: Vec<_> = lines.lines().filter_map(|line| line.split('=').next()).collect();
        names.sort_unstable();
        assert_eq!(names, ["HISTFILE", "HOME", "LC_ALL", "PATH", "PS1", "PWD", "SHELL", "TERM"]);
    }

    #[test]
    fn every_shell_reads_its_start_up_file() {
        let tmux = TmuxServer::new();
        for shell in Shell::ALL {
            tmux.use_shell(shell);
            tmux.write_start_up(shell, "alias greet='echo hello from'\n");
            assert_eq!(
                rows_after(&tmux, shell, "greet $HOME"),
                [format!("hello from {}", tmux.home().display())]
            );
            let pane = tmux.shell_pane(100, 10);
            let facts = "#{pane_current_command} #{pane_width}x#{pane_height}";
            let facts = tmux.tmux(&["display-message", "-p", "-t", &pane, facts]);
            assert_eq!(facts, format!("{} 100x10", shell.name()));
        }
    }
}
