//! The clean-up on the other side, when the connection ends without a word.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use testkit::{Sshd, TmuxServer, wait_until};
use tmux_control::{CleanUp, Remote, RemoteOptions, Route};

use super::{command, quick, text};

/// A connection that has taken the lease, and what the other side writes.
struct Lease {
    remote: Remote,
    /// The pid of the sentinel: a child of the same sshd process as the shell of scripts.
    sentinel: Pid,
    said: PathBuf,
    file: PathBuf,
}

impl Lease {
    async fn take(tmux: &TmuxServer, sshd: &Sshd) -> Self {
        let lease = Duration::from_secs(4);
        let options = RemoteOptions { lease, ..quick(tmux) };
        let remote = Remote::new(Route::ssh(&sshd.destination()).unwrap(), options);
        let (said, file) = (tmux.home().join("said"), tmux.home().join("lease"));
        remote
            .set_clean_up(CleanUp {
                script: format!("echo \"it's over\" >{}", said.display()),
                lease_file: file.display().to_string(),
            })
            .await;
        assert_eq!(text(&remote, "echo works").await, "works\n");
        wait_until("the lease is taken", || file.exists().then_some(()));
        // The sentinel is the other child of the process of sshd that started the shell of scripts.
        let find = "ps -A -o pid= -o ppid= | while read -r pid parent; do \
                    [ \"$parent\" = \"$PPID\" ] && [ \"$pid\" != $$ ] && echo \"$pid\"; done";
        let pid = text(&remote, find).await;
        let sentinel = Pid::from_raw(pid.lines().next().unwrap().parse().unwrap()).unwrap();
        Self { remote, sentinel, said, file }
    }

    fn wait_for_the_end(&self) {
        wait_until("the sentinel has ended", || {
            test_kill_process(self.sentinel).is_err().then_some(())
        });
    }
}

#[test]
fn clean_up_follows_a_killed_client() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let lease = runtime.block_on(Lease::take(&tmux, &sshd));
    runtime.shutdown_background();
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
    assert!(!lease.said.exists(), "the client may come back");
    lease.wait_for_the_end();
    assert_eq!(fs::read_to_string(&lease.said).unwrap(), "it's over\n");
    assert!(!lease.file.exists());
}

#[test]
fn clean_up_runs_in_every_posix_shell() {
    let tmux = TmuxServer::not_started();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let kept: Vec<(PathBuf, Remote)> = ["dash", "bash --posix", "busybox sh"]
        .into_iter()
        .map(|shell| {
            let name = shell.replace(' ', "-");
            let (said, file) = (tmux.home().join(format!("{name}-said")), tmux.home().join(name));
            let exec = format!("shift; exec {shell} \"$@\"");
            let options = RemoteOptions { lease: Duration::from_secs(2), ..quick(&tmux) };
            let remote = Remote::new(command(&["sh", "-c", &exec, "x"]), options);
            let clean_up = CleanUp {
                script: format!("echo over >{}", said.display()),
                lease_file: file.display().to_string(),
            };
            runtime.block_on(async {
                remote.set_clean_up(clean_up).await;
                remote.connect().await.unwrap();
            });
            wait_until("the lease is taken", || file.exists().then_some(()));
            (said, remote)
        })
        .collect();
    // Kills the sentinels themselves.
    runtime.shutdown_background();
    for (said, _) in &kept {
        wait_until("it is over", || said.exists().then_some(()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clean_up_follows_a_silent_connection() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    let lease = Lease::take(&tmux, &sshd).await;
    let stopped = sshd.connections();
    // Otherwise it connects again, and takes the lease over.
    sshd.stop();
    stopped.iter().for_each(|pid| kill_process(*pid, Signal::STOP).unwrap());
    wait_until("it is over", || lease.said.exists().then_some(()));
    // The watcher has ended them; a stopped process ends once it continues.
    for pid in &stopped {
        let _ = kill_process(*pid, Signal::CONT);
    }
    for pid in stopped {
        wait_until("no connection is left", || test_kill_process(pid).is_err().then_some(()));
    }
    lease.wait_for_the_end();
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_connection_with_a_clean_up_comes_back() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    let lease = Lease::take(&tmux, &sshd).await;
    let first = fs::read_to_string(&lease.file).unwrap();
    for pid in sshd.connections() {
        kill_process(pid, Signal::KILL).unwrap();
    }
    // No call asks for it.
    wait_until("the lease is taken again", || {
        fs::read_to_string(&lease.file).ok().filter(|owner| !owner.is_empty() && *owner != first)
    });
    lease.wait_for_the_end();
    assert!(!lease.said.exists());
    lease.remote.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_and_coming_back_need_no_clean_up() {
    let tmux = TmuxServer::not_started();
    let sshd = Sshd::start();
    let lease = Lease::take(&tmux, &sshd).await;
    for pid in sshd.connections() {
        kill_process(pid, Signal::KILL).unwrap();
    }
    testkit::until("it connects again", async || lease.remote.run("echo").await.ok()).await;
    // The lease of the first connection ends without the clean-up, since the second one has taken over.
    lease.wait_for_the_end();
    assert!(lease.file.exists() && !lease.said.exists());
    lease.remote.close().await;
    assert!(!lease.file.exists() && !lease.said.exists());
    wait_until("no connection is left", || sshd.connections().is_empty().then_some(()));
}
