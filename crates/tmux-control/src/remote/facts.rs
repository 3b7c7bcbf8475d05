//! Facts about another system, read once per connection.

/// Prints the facts, one per line. Commands that a minimal container lacks leave theirs empty.
pub(super) const FACTS: &str = r#"printf 'uid=%s\n' "$(id -u)"
printf 'home=%s\n' "$HOME"
printf 'temporary=%s\n' "$TMPDIR"
d=${TMUX_TMPDIR:-/tmp}; [ -d "$d" ] || d=/tmp
printf 'sockets=%s\n' "$(cd -P "$d" && pwd -P)"
printf 'machine=%s\n' "$(uname -m)"
printf 'system=%s\n' "$(uname -s)"
printf 'host=%s\n' "$(uname -n)"
if [ -r /proc/self/stat ]; then
  echo proc=yes
  IFS= read -r l </proc/sys/kernel/random/boot_id && printf 'boot=%s\n' "$l"
  printf 'pids=%s\n' "$(readlink /proc/self/ns/pid)"
fi"#;

/// Facts about another system. A fact that it does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteFacts {
    /// The user's id there.
    pub uid: Option<u32>,
    /// The home directory, an absolute path.
    pub home: Option<String>,
    /// The directory for temporary files: `$TMPDIR` if its path is plain, else `/tmp`.
    pub temporary_dir: String,
    /// The directory of tmux's named sockets. It may not exist yet.
    pub tmux_dir: Option<String>,
    /// The type of its processor (`uname -m`).
    pub machine: Option<String>,
    /// Its operating system (`uname -s`).
    pub system: Option<String>,
    /// Its own name (`uname -n`).
    pub host_name: Option<String>,
    /// Whether `/proc` describes processes.
    pub has_proc: bool,
    /// The id of its current boot.
    pub boot_id: Option<String>,
    /// The name of the namespace of pids.
    pub pid_namespace: Option<String>,
}

impl RemoteFacts {
    pub(super) fn parse(printed: &[u8]) -> Self {
        let text = String::from_utf8_lossy(printed);
        let fact = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
            (!value.is_empty() && !value.contains(char::is_control)).then(|| value.to_owned())
        };
        let uid = fact("uid").and_then(|uid| uid.parse().ok());
        let sockets = fact("sockets").filter(|path| path.starts_with('/'));
        Self {
            uid,
            home: fact("home").filter(|path| path.starts_with('/')),
            temporary_dir: fact("temporary")
                .filter(|path| is_plain(path))
                .unwrap_or_else(|| "/tmp".to_owned()),
            tmux_dir: uid.zip(sockets).map(|(uid, dir)| format!("{dir}/tmux-{uid}")),
            machine: fact("machine"),
            system: fact("system"),
            host_name: fact("host"),
            has_proc: fact("proc").is_some(),
            boot_id: fact("boot"),
            pid_namespace: fact("pids"),
        }
    }
}

/// Whether a path is absolute and needs no quotes anywhere.
fn is_plain(path: &str) -> bool {
    path.starts_with('/')
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_by_name() {
        let facts =
            RemoteFacts::parse(b"uid=7\nhome=/home/me\ntemporary=/a b\nsockets=/tmp\npids=\n");
        assert_eq!((facts.uid, facts.temporary_dir.as_str()), (Some(7), "/tmp"));
        assert_eq!(facts.tmux_dir.as_deref(), Some("/tmp/tmux-7"));
        assert_eq!((facts.pid_namespace, facts.has_proc), (None, false));
        assert_eq!(RemoteFacts::parse(b"temporary=/var/tmp\n").temporary_dir, "/var/tmp");
    }
}
