//! The private directory on another system, which scripts make and fill there.
//!
//! The scripts need only `mkdir`, `rm`, `mv` and `dd`, and a POSIX shell with the tests `-O` and `-h`, so that they run
//! in dash, bash and busybox. Each runs in a subshell, since the shell is shared and must not change.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use process::RemoteShell;

use super::{CLOSED_SUFFIX, DIR_PREFIX, MAX_PATH_BYTES, OWNER_FILE, REMOVAL_ATTEMPTS};
use crate::lock::lock;
use crate::random;

/// Random bytes in the name of the directory.
const NAME_BYTES: usize = 10;

/// Longest text of a file in one script, in bytes. Other scripts wait while it is sent, and a shell without a
/// `printf` of its own takes it as one argument of a program, which Linux limits to 128 KiB.
const MAX_PIECE_BYTES: usize = 32 * 1024;

/// Longest escape sequence for one byte.
const ESCAPE_BYTES: usize = 5;

/// Upper bound for removing the directory: the process is about to exit, and the connection may be dead.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The text that a script prints when all of it has succeeded, and when the directory cannot be used.
const DONE: &[u8] = b"done";
const UNUSABLE: &[u8] = b"unusable";

/// Script that puts the directory for temporary files into `t`. Paths in it are typed into shells, so it must need no
/// quoting in any of them; otherwise it is `/tmp`.
const FIND_PARENT: &str = "LC_ALL=C; t=${TMPDIR:-/tmp}; t=${t%/}\n\
    case $t in *[!A-Za-z0-9/._+,-]*) t=/tmp;; /*) ;; *) t=/tmp;; esac\n\
    [ -d \"$t\" ] && [ -w \"$t\" ] || t=/tmp\n";

/// The directory, created when it is first needed.
#[derive(Debug)]
pub(crate) struct RemoteDir {
    shell: Arc<dyn RemoteShell>,
    owner: String,
    state: Mutex<DirState>,
    /// Held while the directory is created.
    creating: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct DirState {
    /// The path, once the directory exists. A cleaner of temporary files may have removed it since: then the next
    /// file is written to a new directory with the same path.
    path: Option<String>,
    /// Names of all directories that were perhaps created: a script whose answer did not come may have run.
    tried: Vec<String>,
    /// Set when the directory is removed for good: a follower that ends later must not create it again.
    is_closed: bool,
}

impl RemoteDir {
    /// A directory of the process with this token, not created yet.
    pub(super) fn new(owner: String, shell: Arc<dyn RemoteShell>) -> Self {
        Self { shell, owner, state: Mutex::default(), creating: tokio::sync::Mutex::default() }
    }

    /// The path of the directory, which is created if it was not.
    pub(super) async fn path(&self) -> io::Result<String> {
        let _creating = self.creating.lock().await;
        let name = format!("{DIR_PREFIX}{}", random::hex(NAME_BYTES)?);
        {
            let mut state = lock(&self.state);
            if state.is_closed {
                return Err(io::Error::other("the server exits"));
            }
            if let Some(path) = &state.path {
                return Ok(path.clone());
            }
            state.tried.push(name.clone());
        }
        let create = self.creation_of("$t/$n");
        let script = format!("{FIND_PARENT}n={name}\n{create} && printf %s \"$t/$n\"");
        let printed = self.run(&script).await?;
        let path = String::from_utf8(printed).ok().filter(|path| is_plain_path(path, &name));
        let path = path.ok_or_else(|| {
            io::Error::other(
                "no private directory can be made in the directory for temporary files",
            )
        })?;
        let mut state = lock(&self.state);
        if state.is_closed {
            return Err(io::Error::other("the server exits"));
        }
        state.path = Some(path.clone());
        Ok(path)
    }

    /// Writes a file that only the user can read. It is complete when this returns; a short one appears at once.
    pub(super) async fn write_file(&self, name: &str, text: &[u8]) -> io::Result<()> {
        let path = self.path().await?;
        let create = self.creation_of(&path);
        let mut begin = format!(
            "{{ [ -d {path} ] && [ ! -h {path} ] && [ -O {path} ]; }} || {create} || \
             {{ printf unusable; exit; }}\n"
        );
        let mut redirection = ">";
        for piece in pieces(text) {
            let file = format!("{path}/{name}");
            let script = format!(
                "umask 077\n{begin}[ ! -h {file} ] && printf '%b' '{piece}' {redirection}{file} && \
                 printf done"
            );
            let printed = self.run(&script).await?;
            if printed == UNUSABLE {
                self.forget(&path);
            }
            if printed != DONE {
                return Err(io::Error::other(format!("`{file}` cannot be written")));
            }
            begin.clear();
            redirection = ">>";
        }
        Ok(())
    }

    /// Removes files. Returns false if there was none.
    pub(super) async fn remove_files(&self, names: &[String]) -> bool {
        let script = |path: String| {
            format!(
                "for f in{}; do if [ -e \"$f\" ] || [ -h \"$f\" ]; then \
                 rm -f \"$f\" && printf done; fi; done",
                paths(&path, names)
            )
        };
        self.ask(script).await.is_some_and(|printed| printed.starts_with(DONE))
    }

    /// Removes files by a process in the background, for which no other script has to wait.
    pub(super) async fn discard_files(&self, names: &[String]) {
        self.ask(|path| format!("rm -f{} >/dev/null &", paths(&path, names))).await;
    }

    /// Whether a file exists and is not empty.
    pub(super) async fn has_text(&self, name: &str) -> bool {
        let script = |path: String| format!("[ -s {path}/{name} ] && printf done");
        self.ask(script).await.is_some_and(|printed| printed == DONE)
    }

    /// The absolute path that a shell has written to a file, which is removed.
    pub(super) async fn take_path(&self, name: &str) -> Option<PathBuf> {
        let script = |path: String| {
            format!(
                "f={path}/{name}\n\
                 [ -f $f ] && [ ! -h $f ] && [ -O $f ] && dd if=$f bs={MAX_PATH_BYTES} count=1\n\
                 rm -f $f"
            )
        };
        let text = String::from_utf8(self.ask(script).await?).ok()?;
        Some(PathBuf::from(text)).filter(|path| path.is_absolute())
    }

    /// Removes the directory for good.
    pub(super) async fn close(&self) {
        let tried = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            state.path = None;
            std::mem::take(&mut state.tried)
        };
        if tried.is_empty() {
            return;
        }
        let script = removal_of(&tried);
        match tokio::time::timeout(CLOSE_TIMEOUT, self.run(&script)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!("removing the private directory: {error}"),
            Err(_) => tracing::debug!("removing the private directory: no answer"),
        }
    }

    /// Removes the directories there of processes of this system that have died.
    pub(super) async fn remove_stale(&self, is_dead: fn(&str) -> bool) {
        let list = format!(
            "{FIND_PARENT}for d in \"$t\"/{DIR_PREFIX}*; do o=$d/{OWNER_FILE}\n\
             if [ -d \"$d\" ] && [ ! -h \"$d\" ] && [ -O \"$d\" ] && [ -f \"$o\" ] && \
             [ ! -h \"$o\" ] && [ -O \"$o\" ]; then\n\
             l=; IFS= read -r l <\"$o\"; printf '%s %s\\n' \"${{d##*/}}\" \"$l\"; fi; done"
        );
        let removed = async {
            let printed = String::from_utf8(self.run(&list).await?).map_err(io::Error::other)?;
            let dead: Vec<String> = printed
                .lines()
                .filter_map(|line| line.split_once(' '))
                .filter(|(name, owner)| is_plain(name) && is_dead(owner))
                .map(|(name, _)| name.to_owned())
                .collect();
            if !dead.is_empty() {
                self.run(&removal_of(&dead)).await?;
            }
            io::Result::Ok(())
        };
        if let Err(error) = removed.await {
            tracing::debug!("removing directories of dead processes: {error}");
        }
    }

    /// The command that creates the directory with its owner's file. It fails if there is a file of this name.
    fn creation_of(&self, path: &str) -> String {
        let owner: String = pieces(self.owner.as_bytes()).concat();
        format!(
            "{{ umask 077; mkdir \"{path}\" && printf '%b' '{owner}' >\"{path}/{OWNER_FILE}\"; }}"
        )
    }

    /// Makes the next file go to a directory with another name.
    fn forget(&self, path: &str) {
        let mut state = lock(&self.state);
        if state.path.as_deref() == Some(path) {
            state.path = None;
        }
    }

    /// Runs a script about files in the directory. `None` if there is no directory, or no answer.
    async fn ask(&self, script: impl FnOnce(String) -> String) -> Option<Vec<u8>> {
        let path = lock(&self.state).path.clone()?;
        match self.run(&script(path)).await {
            Ok(printed) => Some(printed),
            Err(error) => {
                tracing::debug!("the private directory: {error}");
                None
            }
        }
    }

    async fn run(&self, script: &str) -> io::Result<Vec<u8>> {
        // In dash and busybox, redirections of a group replace those of a subshell that is all of the group.
        self.shell.run(format!("( {script}\n) 2>/dev/null\n:")).await
    }
}

/// The script that removes directories in the one for temporary files. Each is renamed first, since a shell that exits
/// writes its directory there; a file that a shell was just creating needs another attempt. The owner's file goes
/// last: as long as it is there, another process can finish the removal.
fn removal_of(names: &[String]) -> String {
    let names = names.join(" ");
    format!(
        "{FIND_PARENT}for n in {names}; do d=$t/$n\n\
         if [ -d \"$d\" ] && [ ! -h \"$d\" ] && [ -O \"$d\" ]; then\n\
         case $n in *{CLOSED_SUFFIX}) ;; *) mv \"$d\" \"$d{CLOSED_SUFFIX}\" && d=$d{CLOSED_SUFFIX};; esac\n\
         i=0; while [ -d \"$d\" ] && [ $i -lt {REMOVAL_ATTEMPTS} ]; do\n\
         for f in \"$d\"/* \"$d\"/.[!.]*; do [ \"${{f##*/}}\" = {OWNER_FILE} ] || rm -f \"$f\"; done\n\
         rm -rf \"$d\"; i=$((i + 1)); done; fi; done"
    )
}

/// The paths of files in a directory, each behind a blank.
fn paths(dir: &str, names: &[String]) -> String {
    names.iter().fold(String::new(), |mut paths, name| {
        let _ = write!(paths, " {dir}/{name}");
        paths
    })
}

/// The text as arguments of `printf %b` that are printed one after the other; one at least.
fn pieces(text: &[u8]) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for &byte in text {
        if let Some(piece) = pieces.last()
            && piece.len() + ESCAPE_BYTES > MAX_PIECE_BYTES
        {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            escape_into(piece, byte);
        }
    }
    pieces
}

fn escape_into(piece: &mut String, byte: u8) {
    match byte {
        b'\n' => piece.push_str("\\n"),
        b' '..=b'~' if !matches!(byte, b'\'' | b'\\') => piece.push(char::from(byte)),
        _ => {
            let _ = write!(piece, "\\0{byte:03o}");
        }
    }
}

/// Whether a path needs no quoting and ends with this name.
fn is_plain_path(path: &str, name: &str) -> bool {
    path.starts_with('/') && path.split('/').all(is_plain) && path.ends_with(&format!("/{name}"))
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || "._-+,".contains(c))
}
