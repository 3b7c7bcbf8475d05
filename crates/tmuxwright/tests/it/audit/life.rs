//! Tests of writing the audit log: a failure stops all calls, and cancelled calls and those of several
//! servers are recorded.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};
use tmuxwright::audit::verify;

use crate::audit::log::{audit_log, records, serve_audited};
use crate::protocol::{cancel, initialized};
use crate::support::field;
use crate::{launch, serve_configured};

async fn sessions(mcp: &Mcp) -> Vec<String> {
    field(mcp, "list_sessions", json!({}), "name").await
}

async fn create(mcp: &Mcp, name: &str) -> testkit::Outcome {
    mcp.call("create_session", json!({"name": name})).await
}

/// Name and outcome of each recorded call of `create_session`.
fn created(path: &Path) -> Vec<(String, String)> {
    let made = records(path).into_iter().filter(|record| record["tool"] == "create_session");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    made.map(|it| (text(&it["arguments"]["name"]), text(&it["outcome"]))).collect()
}

/// Breaks the log and repairs it, and expects calls to be refused in between.
async fn assert_calls_stop_until_repair(
    tmux: &TmuxServer,
    log: &Path,
    break_log: impl Fn(&Mcp),
    repair: impl Fn(&Mcp),
) {
    let config = format!("[audit]\nfile = \"{}\"", log.display());
    let mcp = &serve_configured(tmux, &config).await;
    create(mcp, "before").await.ok();
    break_log(mcp);
    let error = create(mcp, "unrecorded").await.err("audit_failed");
    assert!(error.contains("was called") && error.contains("audit.log"), "{error}");
    assert!(error.contains("Next: "), "{error}");
    for name in ["refused", "refused-too"] {
        let error = create(mcp, name).await.err("audit_failed");
        assert!(!error.contains("was called"), "{error}");
    }
    mcp.call("list_sessions", json!({})).await.err("audit_failed");
    let names = tmux.tmux(&["list-sessions", "-F", "#S"]);
    assert!(names.contains("unrecorded") && !names.contains("refused"), "{names}");
    repair(mcp);
    create(mcp, "after").await.ok();
    assert!(sessions(mcp).await.contains(&"after".to_owned()));
    let all = created(log);
    let all: Vec<(&str, &str)> = all.iter().map(|(n, o)| (n.as_str(), o.as_str())).collect();
    let failed = "audit_failed";
    let expected = [
        ("before", "ok"),
        ("unrecorded", "ok"),
        ("refused", failed),
        ("refused-too", failed),
        ("after", "ok"),
    ];
    assert_eq!(all, expected);
    let verdict = verify(log, 5).unwrap();
    assert!(verdict.problems.is_empty(), "{verdict:?}");
}

/// A limit on the size of files stands in for a full disk: a part of a line can be written.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_disk_stops_calls_until_space_returns() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let tmux = TmuxServer::new();
    let usual = getrlimit(Resource::Fsize);
    let path = audit_log(&tmux);
    let limit = |mcp: &Mcp, current| {
        let pid = Pid::from_raw(mcp.pid().try_into().unwrap());
        prlimit(pid, Resource::Fsize, Rlimit { current, maximum: usual.maximum }).unwrap();
    };
    let break_log = |mcp: &Mcp| limit(mcp, Some(path.metadata().unwrap().len() + 60));
    let repair = |mcp: &Mcp| {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("}\n"), "the log ends in half a line: {text}");
        limit(mcp, usual.current);
    };
    assert_calls_stop_until_repair(&tmux, &path, break_log, repair).await;
}

#[tokio::test]
async fn missing_log_directory_stops_calls_until_restored() {
    let tmux = TmuxServer::new();
    let (folder, moved) = (tmux.home().join("logs"), tmux.home().join("away"));
    fs::create_dir(&folder).unwrap();
    let break_log = |_: &Mcp| fs::rename(&folder, &moved).unwrap();
    let repair = |_: &Mcp| fs::rename(&moved, &folder).unwrap();
    assert_calls_stop_until_repair(&tmux, &folder.join("audit.log"), break_log, repair).await;
}

#[tokio::test]
async fn unusable_log_path_stops_the_start() {
    let tmux = TmuxServer::new();
    let home = tmux.home();
    fs::write(home.join("notes"), "precious\n").unwrap();
    std::os::unix::fs::symlink(home.join("notes"), home.join("link")).unwrap();
    let at = |name: &str| home.join(name).to_str().unwrap().to_owned();
    for (flag, path, why) in [
        ("--audit", "/nonexistent/audit.log".to_owned(), "No such file"),
        ("--audit", at("link"), "symbolic link"),
        ("--audit", at("notes"), "not an audit log"),
        ("--audit", "/dev/null".to_owned(), "regular file"),
        ("--audit", home.to_str().unwrap().to_owned(), "irectory"),
        ("--audit-full", at("link"), "symbolic link"),
        ("--audit-full", "/nonexistent/full".to_owned(), "No such file"),
    ] {
        let output = launch(&tmux).args(&[flag, &path]).output().await;
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{flag} {path}: {text}");
        assert!(text.contains(&path) && text.contains(why) && text.contains("hint: "), "{text}");
    }
    assert_eq!(fs::read_to_string(home.join("notes")).unwrap(), "precious\n");
}

#[tokio::test]
async fn cancelled_calls_are_recorded() {
    let tmux = TmuxServer::new();
    let path = audit_log(&tmux);
    let mut raw = initialized(launch(&tmux).args(&["--audit", path.to_str().unwrap()])).await;
    let wait =
        json!({"name": "wait_for", "arguments": {"target": "main", "until": ["text:never"]}});
    let id = raw.start("tools/call", wait.clone()).await;
    cancel(&mut raw, id).await;
    until("the call is in the log", async || {
        let text = fs::read_to_string(&path).unwrap();
        (text.lines().count() == 1).then_some(())
    })
    .await;
    // The client disconnects during a wait.
    raw.start("tools/call", wait).await;
    raw.hang_up();
    assert!(raw.wait().await.success());
    let records = records(&path);
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record["outcome"], "cancelled", "{record}");
        assert_eq!(record["client"], "raw 1");
    }
}

#[tokio::test]
async fn several_servers_share_one_log() {
    const CALLS_EACH: usize = 25;
    let tmux = TmuxServer::new();
    let config = "max_bytes = 3000\nfiles = 100";
    let servers = [
        serve_audited(&tmux, config).await,
        serve_audited(&tmux, config).await,
        serve_audited(&tmux, config).await,
    ];
    let calls = async |mcp: &Mcp| {
        for _ in 0..CALLS_EACH {
            mcp.call("list_panes", json!({})).await.ok();
        }
    };
    let [one, two, three] = &servers;
    tokio::join!(calls(one), calls(two), calls(three), calls(one));
    for mcp in servers {
        mcp.close().await;
    }
    let verdict = verify(&audit_log(&tmux), 100).unwrap();
    assert_eq!(
        (verdict.problems.as_slice(), verdict.records),
        ([].as_slice(), 4 * CALLS_EACH as u64)
    );
    assert!(tmux.home().join("audit.log.5").exists());
}
