//! Tests of the private directory on another system, in shells of this one.

use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use process::{RemoteShell, ScriptOutput};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use super::remote::RemoteDir;

/// The shells that may be on the other system.
const SHELLS: &[&[&str]] = &[&["dash"], &["bash", "--posix"], &["busybox", "ash"]];

/// Ends the output of a script.
const END: &[u8] = b"\nend of the script\n";

/// A shell that runs scripts, with a directory for temporary files of its own.
#[derive(Debug)]
struct TestShell {
    pipes: Mutex<(ChildStdin, ChildStdout)>,
    _child: tokio::process::Child,
}

impl TestShell {
    fn start(words: &[&str], temporary: &Path) -> Arc<Self> {
        #[expect(clippy::disallowed_methods, reason = "the shell of the other system")]
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("TMPDIR", temporary).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipes = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Arc::new(Self { pipes: Mutex::new(pipes), _child: child })
    }

    async fn output_of(&self, script: &str) -> io::Result<Vec<u8>> {
        let mut pipes = self.pipes.lock().await;
        let (stdin, stdout) = &mut *pipes;
        let end = String::from_utf8_lossy(END).trim().to_owned();
        let text = format!("{{ {script}\n}} </dev/null\nprintf '\\n%s\\n' '{end}'\n");
        stdin.write_all(text.as_bytes()).await?;
        let mut printed = Vec::new();
        while !printed.ends_with(END) {
            if stdout.read_buf(&mut printed).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        printed.truncate(printed.len() - END.len());
        Ok(printed)
    }
}

impl RemoteShell for TestShell {
    fn run(&self, script: String) -> ScriptOutput<'_> {
        Box::pin(async move { self.output_of(&script).await })
    }
}

/// Runs a test with a directory in each shell.
async fn in_each_shell<F: Future<Output = ()>>(
    test: impl Fn(RemoteDir, Arc<TestShell>, PathBuf) -> F,
) {
    for words in SHELLS {
        let temporary = tempfile::tempdir().unwrap();
        let shell = TestShell::start(words, temporary.path());
        let dir = RemoteDir::new("host.1.2".to_owned(), shell.clone());
        test(dir, shell, temporary.path().to_owned()).await;
    }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn files_of_any_content_arrive_whole() {
    let hostile: Vec<u8> = (0..=255).collect();
    let hostile = [b"'\"\\`$x %s %b \\n\\0101\n\n-n".as_slice(), &hostile, b"\\"].concat();
    let long: Vec<u8> = hostile.iter().copied().cycle().take(100_000).collect();
    in_each_shell(|dir, _shell, _| {
        let (hostile, long) = (hostile.clone(), long.clone());
        async move {
            for text in [b"".as_slice(), b"-n", &hostile, &long] {
                dir.write_file("c1", text).await.unwrap();
                let file = PathBuf::from(dir.path().await.unwrap()).join("c1");
                assert_eq!(std::fs::read(&file).unwrap(), text);
                assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
                assert_eq!(dir.has_text("c1").await, !text.is_empty());
            }
        }
    })
    .await;
}

#[tokio::test]
async fn directory_is_private_and_closed_for_good() {
    in_each_shell(|dir, shell, temporary| async move {
        assert!(!dir.remove_files(&["unknown".to_owned()]).await);
        assert!(entries(&temporary).is_empty());
        let path = PathBuf::from(dir.path().await.unwrap());
        assert_eq!(entries(&temporary), std::slice::from_ref(&path));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(std::fs::read_to_string(path.join("owner")).unwrap(), "host.1.2");
        dir.write_file(".zshenv", b"text").await.unwrap();
        dir.write_file("c1", b"text").await.unwrap();
        let names = ["c1".to_owned(), "c2".to_owned()];
        assert!(dir.remove_files(&names).await && !dir.remove_files(&names).await);
        dir.close().await;
        assert!(entries(&temporary).is_empty());
        assert!(dir.path().await.is_err() && dir.write_file("late", b"").await.is_err());
        assert!(!dir.has_text("c1").await && dir.take_path("c1").await.is_none());
        // Nothing of the scripts is left in the shell.
        let kept = shell.output_of("printf %s \"$(umask)${t-}${d-}${n-}\"").await.unwrap();
        let mask = String::from_utf8(kept).unwrap();
        assert!(mask.ends_with("022") || mask.ends_with("002"), "{mask}");
    })
    .await;
}

#[tokio::test]
async fn removed_directory_is_made_again() {
    in_each_shell(|dir, _shell, temporary| async move {
        let path = PathBuf::from(dir.path().await.unwrap());
        std::fs::remove_dir_all(&path).unwrap();
        assert!(!dir.has_text("c1").await);
        dir.write_file("c1", b"text").await.unwrap();
        assert_eq!(std::fs::read(path.join("c1")).unwrap(), b"text");
        // The name is taken by a link to a directory of another user, or of this one.
        let other = temporary.join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        symlink(&other, &path).unwrap();
        assert!(dir.write_file("c1", b"text").await.is_err());
        assert!(entries(&other).is_empty());
        dir.write_file("c1", b"text").await.unwrap();
        let new = PathBuf::from(dir.path().await.unwrap());
        assert_eq!((new != path, std::fs::read(new.join("c1")).unwrap()), (true, b"text".to_vec()));
        dir.close().await;
        let mut left = entries(&temporary);
        left.sort();
        assert_eq!(left, [other, path]);
    })
    .await;
}

#[tokio::test]
async fn links_in_the_directory_are_not_followed() {
    in_each_shell(|dir, _shell, temporary| async move {
        let path = PathBuf::from(dir.path().await.unwrap());
        let target = temporary.join("target");
        std::fs::write(&target, "/tmp").unwrap();
        symlink(&target, path.join("c1")).unwrap();
        assert!(dir.write_file("c1", b"text").await.is_err());
        assert!(dir.take_path("c1").await.is_none());
        assert!(!path.join("c1").exists());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "/tmp");
    })
    .await;
}

#[tokio::test]
async fn written_path_is_taken_once() {
    in_each_shell(|dir, _shell, _| async move {
        for (text, taken) in [("/home/me/a b\n'c", true), ("relative", false), ("", false)] {
            dir.write_file("exit", text.as_bytes()).await.unwrap();
            let path = dir.take_path("exit").await;
            assert_eq!(path, taken.then(|| PathBuf::from(text)));
            assert!(dir.take_path("exit").await.is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn odd_temporary_directory_is_not_used() {
    let odd = tempfile::Builder::new().prefix("a b").tempdir().unwrap();
    let shell = TestShell::start(SHELLS[0], odd.path());
    let dir = RemoteDir::new("host.1.2".to_owned(), shell);
    let path = dir.path().await.unwrap();
    assert!(path.starts_with("/tmp/tmuxwright-"), "{path}");
    dir.close().await;
    assert!(!Path::new(&path).exists());
}

#[tokio::test]
async fn directories_of_dead_processes_are_removed() {
    in_each_shell(|dir, shell, temporary| async move {
        let own = PathBuf::from(dir.path().await.unwrap());
        let dead = RemoteDir::new("dead.1.2".to_owned(), shell);
        dead.write_file("c1", b"text").await.unwrap();
        let closed = temporary.join("tmuxwright-0.closed");
        std::fs::create_dir(&closed).unwrap();
        std::fs::write(closed.join("owner"), "dead.3.4").unwrap();
        let odd = temporary.join("tmuxwright-$(touch x) y");
        std::fs::create_dir(&odd).unwrap();
        std::fs::write(odd.join("owner"), "dead.3.4").unwrap();
        let link = temporary.join("tmuxwright-link");
        symlink(&closed, &link).unwrap();
        dir.remove_stale(|owner| owner.starts_with("dead.")).await;
        let mut left = entries(&temporary);
        left.sort();
        let mut expected = [own, odd, link];
        expected.sort();
        assert_eq!(left, expected);
    })
    .await;
}
