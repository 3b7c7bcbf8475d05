//! Starting a shell of our own so that it tells where a command's output begins and ends.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use tmux_control::{Command, Server};

use super::kit::Kit;
use crate::host::NewPane;
use crate::random;

/// A shell to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The pane it is to be in.
    pub(crate) wish: NewPane,
    /// The key of its marks, if it is a shell that can print them.
    pub(super) key: Option<String>,
}

/// The user's shell as tmux would start it, with our script where there is one for it.
pub(super) async fn plan(tmux: &Server, kit: &Kit, cwd: Option<String>) -> io::Result<Launch> {
    let option = |name: &str| Command::query("show-options").arg("-gqv").arg(name);
    let ask = async |name| match tmux.run(option(name)).await {
        Ok(reply) => reply.text().trim_end().to_owned(),
        // Without a server there are no options either; then tmux takes this one.
        Err(_) if name == "default-shell" => std::env::var("SHELL").unwrap_or_default(),
        Err(_) => String::new(),
    };
    let (command, shell) = (ask("default-command").await, ask("default-shell").await);
    let plain = Launch { wish: NewPane { cwd: cwd.clone(), ..NewPane::default() }, key: None };
    let Some((path, login)) = invocation(&command, &shell) else {
        return Ok(plain);
    };
    let dir = kit.dir()?;
    let key = new_key()?;
    let file = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let mut env = BTreeMap::from([
        ("__TMUXWRIGHT_KEY".to_owned(), key.clone()),
        ("__TMUXWRIGHT_READY".to_owned(), file(&ready_file(&key))),
    ]);
    let mut program = vec![path.to_owned()];
    match base_name(path) {
        "bash" => {
            program.extend(["--rcfile".to_owned(), file("bash.sh")]);
            env.insert("__TMUXWRIGHT_LOGIN".to_owned(), if login { "1" } else { "" }.to_owned());
        }
        "zsh" => {
            program.push(if login { "-l" } else { "-i" }.to_owned());
            let ask = Command::query("show-environment").arg("-g").arg("ZDOTDIR");
            let answer = tmux.run(ask).await.map(|reply| reply.text()).unwrap_or_default();
            let users = answer.trim_end().strip_prefix("ZDOTDIR=").unwrap_or_default();
            env.insert("__TMUXWRIGHT_ZDOTDIR".to_owned(), users.to_owned());
            env.insert("ZDOTDIR".to_owned(), dir.to_string_lossy().into_owned());
        }
        "fish" => {
            program.push(if login { "-l" } else { "-i" }.to_owned());
            program.extend(["--init-command".to_owned(), format!("source {}", file("init.fish"))]);
        }
        // These read no script of ours that could make them linger.
        "sh" | "dash" | "ash" => {
            program.extend(login.then(|| "-l".to_owned()));
            let wish = NewPane { program, lingers: true, ..plain.wish };
            return Ok(Launch { wish, key: None });
        }
        _ => return Ok(plain),
    }
    let wish = NewPane { program, env, cwd, ..NewPane::default() };
    Ok(Launch { wish, key: Some(key) })
}

/// The file whose existence says that the shell with this key has read our script.
pub(super) fn ready_file(key: &str) -> String {
    format!("ready-{key}")
}

/// Letters and digits nobody can guess.
pub(super) fn new_key() -> io::Result<String> {
    random::hex(12)
}

/// Which shell these two options of tmux start, and whether as a login shell. `None` if it is more
/// than a shell.
fn invocation<'a>(command: &'a str, shell: &'a str) -> Option<(&'a str, bool)> {
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
    fn what_tmux_would_start_is_understood() {
        assert_eq!(invocation("", "/bin/bash"), Some(("/bin/bash", true)));
        assert_eq!(invocation("exec zsh", "/bin/bash"), Some(("zsh", false)));
        assert_eq!(invocation("/usr/bin/fish -l", "/bin/bash"), Some(("/usr/bin/fish", true)));
        assert_eq!(invocation("reattach-to-user-namespace -l zsh", "/bin/zsh"), None);
        assert_eq!(invocation("bash -c ls", "/bin/bash"), None);
    }
}
