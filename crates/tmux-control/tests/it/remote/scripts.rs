//! Scripts in the lasting shell of another system.

use std::time::Duration;

use testkit::{Sshd, TmuxServer};
use tmux_control::{Error, Remote, RemoteOptions, RemoteState};

use super::{command, options, over_ssh, text};

/// Asserts that scripts run exactly, one after the other, in one shell.
async fn assert_runs_scripts(remote: &Remote, name: &str) {
    let define = "f() { echo \"$1\"; }; f 'it'\"'\"'s'";
    assert_eq!(text(remote, define).await, "it's\n", "{name}");
    assert_eq!(text(remote, "f again; printf 'no end'").await, "again\nno end", "{name}");
    assert_eq!(text(remote, "cat; echo lost >&2; false").await, "", "{name}");
    assert_eq!(remote.run("printf '\\377\\200\\n\\n'").await.unwrap(), b"\xff\x80\n\n", "{name}");
    let careless = "set -- x y; n=1 l=2; IFS=:; cd /; exec </dev/null; return 3";
    assert_eq!(text(remote, careless).await, "", "{name}");
    let letters: String = ('\u{1}'..='\u{17f}').filter(|letter| *letter != '\'').collect();
    assert_eq!(text(remote, &format!("printf %s '{letters}'")).await, letters, "{name}");
    let long = "x \\ $y\n'quoted' \"text\"\r\n\t`z`".repeat(4000);
    let quoted = long.replace('\'', r"'\''");
    assert_eq!(text(remote, &format!("printf %s '{quoted}'")).await, long, "{name}");
    let heredoc = "cat <<'E'\n$a 'b'\nE\nwhile read -r l; do echo \"<$l>\"; done <<E\n1\n2\nE";
    assert_eq!(text(remote, heredoc).await, "$a 'b'\n<1>\n<2>\n", "{name}");
    let many = (0..50).map(|number| {
        let remote = remote.clone();
        tokio::spawn(async move { (text(&remote, &format!("echo {number}")).await, number) })
    });
    for printed in many.collect::<Vec<_>>() {
        let (printed, number) = printed.await.unwrap();
        assert_eq!(printed, format!("{number}\n"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_exactly_in_posix_shells() {
    let tmux = TmuxServer::not_started();
    for shell in ["dash", "bash --posix", "bash", "busybox sh"] {
        // The words of the route are followed by `sh -c BODY`, of which the first is replaced.
        let exec = format!("shift; exec {shell} \"$@\"");
        let remote = Remote::new(command(&["sh", "-c", &exec, "x"]), options(&tmux));
        assert_runs_scripts(&remote, shell).await;
        remote.close().await;
        assert_eq!(remote.state(), RemoteState::NotConnected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_run_exactly_behind_login_shells() {
    let tmux = TmuxServer::not_started();
    let shells = [
        r#"exec fish -c "$SSH_ORIGINAL_COMMAND""#,
        r#"exec zsh -c "$SSH_ORIGINAL_COMMAND""#,
        r#"exec bash -lc "$SSH_ORIGINAL_COMMAND""#,
        r#"echo Welcome to this host; printf 'no line end'; exec dash -c "$SSH_ORIGINAL_COMMAND""#,
        r#"head -c 100000 /dev/urandom; exec bash -c "$SSH_ORIGINAL_COMMAND""#,
    ];
    for shell in shells {
        let sshd = Sshd::with_config(&format!("ForceCommand {shell}"));
        let remote = over_ssh(&tmux, &sshd);
        assert_runs_scripts(&remote, shell).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn prelude_runs_again_in_a_new_shell() {
    let tmux = TmuxServer::not_started();
    let prelude = "hello() { echo \"hello from $$\"; }".to_owned();
    let limit = Duration::from_millis(300);
    let options = RemoteOptions { prelude, script_timeout: limit, ..options(&tmux) };
    let remote = Remote::new(command(&["env"]), options);
    let first = text(&remote, "hello").await;
    assert_eq!(text(&remote, "hello").await, first);
    let late = remote.run("sleep 60").await;
    assert!(matches!(late, Err(Error::Timeout { .. })), "{late:?}");
    let second = text(&remote, "hello").await;
    assert_ne!(second, first);
    let ended = remote.run("exit 3").await;
    assert!(matches!(ended, Err(Error::HostLost { .. })), "{ended:?}");
    assert!(text(&remote, "hello").await.starts_with("hello from "));
    assert!(matches!(remote.run("\0").await, Err(Error::NulByte { .. })));
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_describe_the_other_system() {
    let tmux = TmuxServer::not_started();
    let remote = Remote::new(command(&["env", "TMPDIR=/var/tmp", "HOME=/h"]), options(&tmux));
    assert_eq!(remote.known_facts(), None);
    let facts = remote.facts().await.unwrap();
    assert_eq!(facts.uid, Some(rustix::process::getuid().as_raw()));
    assert_eq!((facts.home.as_deref(), facts.temporary_dir.as_str()), (Some("/h"), "/var/tmp"));
    assert_eq!(facts.machine.as_deref(), rustix::system::uname().machine().to_str().ok());
    assert_eq!(facts.has_proc, std::path::Path::new("/proc/self/stat").exists());
    assert_eq!(remote.known_facts(), Some(facts));
}
