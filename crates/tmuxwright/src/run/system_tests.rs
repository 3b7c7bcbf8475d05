//! Commands on another system, which is this one behind a command that starts programs: tmux, the inspection of processes
//! and private files go over one connection, and no keeper runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use terminal::transcript::{LineSelection, excerpt};
use testkit::{Shell, TmuxServer, until};
use tmux_control::{Program, Route, Socket};
use tokio::time::Instant;

use super::{AllowedServers, Engine, Job, JobNumbers, JobStatus, RunOptions, StartedCall};
use crate::host::Host;

/// Upper bound for a command of these tests.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// An engine for a tmux server that it takes for one on another system.
struct OtherSystem {
    engine: Arc<Engine>,
    temporary: tempfile::TempDir,
    _tmux: TmuxServer,
}

impl OtherSystem {
    fn start(shell: Shell) -> Self {
        let tmux = TmuxServer::new();
        tmux.use_shell(shell);
        let temporary = tempfile::tempdir().unwrap();
        let there = format!("TMPDIR={}", temporary.path().display());
        let route = Route::command(vec!["env".to_owned(), there]).unwrap();
        let program = Program {
            path: TmuxServer::program(),
            ..Program::new(Socket::Path(tmux.socket().to_owned()))
        };
        let host = Host::remote(program, route, false);
        let allowed = AllowedServers::new(|_| true);
        let engine = Arc::new(Engine::new(
            Arc::new(host),
            RunOptions::default(),
            allowed,
            JobNumbers::default(),
        ));
        Self { engine, temporary, _tmux: tmux }
    }

    async fn run_in(&self, command: &str, cwd: Option<&Path>) -> Arc<Job> {
        let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned());
        let started = self.engine.run_anywhere(command.to_owned(), cwd).await;
        let StartedCall { job, attendance: _attendance, .. } = started.unwrap();
        job.job.wait(Instant::now() + COMMAND_TIMEOUT).await;
        job.job
    }

    async fn run(&self, command: &str) -> (JobStatus, String) {
        let job = self.run_in(command, None).await;
        (job.facts().status, output(&job))
    }

    /// Names of the files in the private directory, without its owner's.
    fn files(&self) -> Vec<String> {
        let mut dirs = std::fs::read_dir(self.temporary.path()).unwrap();
        let files = std::fs::read_dir(dirs.next().unwrap().unwrap().path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "owner").collect()
    }

    async fn close(self) {
        self.engine.host().close().await;
        self.engine.close().await;
        assert_eq!(std::fs::read_dir(self.temporary.path()).unwrap().count(), 0);
    }
}

fn output(job: &Job) -> String {
    let all = LineSelection::BothEnds { max_lines: 0 };
    job.read(|view| excerpt(view, &all, 0, &str::to_owned)).unwrap().text
}

#[tokio::test]
async fn commands_run_through_files_made_by_scripts() {
    for shell in Shell::ALL {
        let system = OtherSystem::start(shell);
        assert_eq!(system.run("true").await, (JobStatus::Exited(0), String::new()), "{shell:?}");
        let quoted = system.run("echo 'a b' \"it's\"; false").await;
        assert_eq!(quoted, (JobStatus::Exited(1), "a b it's".to_owned()), "{shell:?}");
        let long = format!("echo begin; : '{}'; echo end", "x'\\''%\\n".repeat(10_000));
        let ran = system.run(&long).await;
        assert_eq!(ran, (JobStatus::Exited(0), "begin\nend".to_owned()), "{shell:?}");
        let is_left = || system.files().iter().any(|name| name.starts_with('c'));
        until("command files are removed", async || (!is_left()).then_some(())).await;
        system.close().await;
    }
}

#[tokio::test]
async fn shell_that_exits_leaves_its_directory() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let system = OtherSystem::start(shell);
        let other = tempfile::tempdir().unwrap();
        let path = std::fs::canonicalize(other.path()).unwrap();
        system.run(&format!("cd {}", path.display())).await;
        let job = system.run_in("exit 3", None).await;
        let facts = job.facts();
        assert_eq!(facts.status, JobStatus::Exited(3), "{shell:?}");
        // fish may have printed its end mark, behind which no output is missed.
        assert!(facts.may_lack_end || shell == Shell::Fish, "{shell:?}");
        let now = system.run("pwd").await.1;
        assert_eq!(PathBuf::from(now), path, "{shell:?}");
        let there = system.run_in("pwd", Some(&path)).await;
        assert_eq!(PathBuf::from(output(&there)), path, "{shell:?}");
        system.close().await;
    }
}
