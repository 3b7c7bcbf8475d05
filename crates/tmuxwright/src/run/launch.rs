//! Launch of the user's shell in a new pane, with a start-up script that makes it print a mark at the
//! prompt after each command of ours.
//!
//! The environment with which a shell is started stays readable for all its children, so it holds no
//! key. bash gets one in a file that its script empties before it reads the user's files.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tmux_control::Command;

use crate::host::{Host, NewPane};
use crate::random;

/// Random bytes in the names of a shell's files, and in its key.
const RANDOM_BYTES: usize = 12;

/// Start-up scripts of shells. zsh looks for a file of this name.
const BASH_SCRIPT: (&str, &str) = ("bash.sh", include_str!("start/bash.sh"));
const ZSH_SCRIPT: (&str, &str) = (".zshenv", include_str!("start/zshenv.zsh"));
const FISH_SCRIPT: (&str, &str) = ("init.fish", include_str!("start/init.fish"));

/// A shell to start.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The pane to create for it.
    pub(crate) new_pane: NewPane,
    /// The hand-over to our start-up script, if there is one for this shell.
    pub(super) handover: Option<Handover>,
}

/// What a shell with our start-up script exchanges with this process, through the private directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Handover {
    /// Name of the file that the shell creates once it has read the script.
    pub(super) ready_file: String,
    /// Name of the file with the key of the marks around typed commands, and the key; bash only.
    pub(super) key: Option<(String, String)>,
}

impl Handover {
    /// Name of the file to which the shell writes its directory when it exits.
    pub(super) fn exit_file(&self) -> String {
        format!("{}-exit", self.ready_file)
    }
}

/// Plans the launch of the shell that tmux would start, with our start-up script if there is one.
pub(super) async fn plan(host: &Host, cwd: Option<String>) -> io::Result<Launch> {
    let (tmux, private_dir) = (host.tmux(), host.private_dir());
    let option = |name: &str| Command::query("show-options").arg("-gqv").arg(name);
    let read_option = async |name| match tmux.run(option(name)).await {
        Ok(reply) => reply.text().trim_end().to_owned(),
        // Without a server there are no options; tmux then starts `$SHELL`.
        Err(_) if name == "default-shell" => {
            host.system().variable("SHELL").await.unwrap_or_default()
        }
        Err(_) => String::new(),
    };
    let (command, shell) =
        (read_option("default-command").await, read_option("default-shell").await);
    let plain =
        Launch { new_pane: NewPane { cwd: cwd.clone(), ..NewPane::default() }, handover: None };
    let Some((path, login)) = shell_invocation(&command, &shell) else {
        return Ok(plain);
    };
    let dir = private_dir.path().await?;
    let name = random::hex(RANDOM_BYTES)?;
    let mut handover = Handover { ready_file: format!("ready-{name}"), key: None };
    let file = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let script = async |(name, text): (&str, &str)| {
        private_dir.write_file(name, text).await.map(|()| file(name))
    };
    let mut env = BTreeMap::from([("__TMUXWRIGHT_READY".to_owned(), file(&handover.ready_file))]);
    let mut program = vec![path.to_owned()];
    match base_name(path) {
        "bash" => {
            program.extend(["--rcfile".to_owned(), script(BASH_SCRIPT).await?]);
            let (key_file, key) = (format!("key-{name}"), random::hex(RANDOM_BYTES)?);
            private_dir.write_file(&key_file, &key).await?;
            env.insert("__TMUXWRIGHT_KEY_FILE".to_owned(), file(&key_file));
            handover.key = Some((key_file, key));
            env.insert("__TMUXWRIGHT_LOGIN".to_owned(), if login { "1" } else { "" }.to_owned());
        }
        "zsh" => {
            program.push(if login { "-l" } else { "-i" }.to_owned());
            script(ZSH_SCRIPT).await?;
            let query = Command::query("show-environment").arg("-g").arg("ZDOTDIR");
            let answer = tmux.run(query).await.map(|reply| reply.text()).unwrap_or_default();
            let users = answer.trim_end().strip_prefix("ZDOTDIR=").unwrap_or_default();
            env.insert("__TMUXWRIGHT_ZDOTDIR".to_owned(), users.to_owned());
            env.insert("ZDOTDIR".to_owned(), dir.to_string_lossy().into_owned());
        }
        "fish" => {
            program.push(if login { "-l" } else { "-i" }.to_owned());
            program.extend([
                "--init-command".to_owned(),
                format!("source {}", script(FISH_SCRIPT).await?),
            ]);
        }
        // These shells read no script.
        "sh" | "dash" | "ash" => {
            program.extend(login.then(|| "-l".to_owned()));
            let new_pane = NewPane { program, ..plain.new_pane };
            return Ok(Launch { new_pane, handover: None });
        }
        _ => return Ok(plain),
    }
    let new_pane = NewPane { program, env, cwd, ..NewPane::default() };
    Ok(Launch { new_pane, handover: Some(handover) })
}

/// The shell that tmux starts with these values of `default-command` and `default-shell`, and whether
/// as a login shell. `None` if the command is more than a shell.
fn shell_invocation<'a>(command: &'a str, shell: &'a str) -> Option<(&'a str, bool)> {
    if command.is_empty() {
        return Some((shell, true));
    }
    let mut words = command.split_ascii_whitespace();
    let mut first = words.next()?;
    if first == "exec" {
        first = words.next()?;
    }
    let mut login = false;
    for word in words {
        match word {
            "-l" | "--login" => login = true,
            "-i" | "--interactive" => {}
            "-il" | "-li" => login = true,
            _ => return None,
        }
    }
    Some((first, login))
}

fn base_name(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_is_read_from_the_options_of_tmux() {
        assert_eq!(shell_invocation("", "/bin/bash"), Some(("/bin/bash", true)));
        assert_eq!(shell_invocation("exec zsh", "/bin/bash"), Some(("zsh", false)));
        assert_eq!(
            shell_invocation("/usr/bin/fish -l", "/bin/bash"),
            Some(("/usr/bin/fish", true))
        );
        assert_eq!(shell_invocation("reattach-to-user-namespace -l zsh", "/bin/zsh"), None);
        assert_eq!(shell_invocation("bash -c ls", "/bin/bash"), None);
    }
}
