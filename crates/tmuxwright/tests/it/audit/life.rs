//! A log that cannot be written stops the server from acting, and calls that are given up or made
//! by several servers at once are in it too.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};
use tmuxwright::audit::verify;

use crate::audit::log::{log, records, serve_audited};
use crate::support::field;
use crate::{launch, serve_configured};

async fn sessions(mcp: &Mcp) -> Vec<String> {
    field(mcp, "list_sessions", json!({}), "name").await
}

async fn create(mcp: &Mcp, name: &str) -> testkit::Outcome {
    mcp.call("create_session", json!({"name": name})).await
}

/// Names and outcomes of the calls that create sessions.
fn created(path: &Path) -> Vec<(String, String)> {
    let made = records(path).into_iter().filter(|record| record["tool"] == "create_session");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    made.map(|it| (text(&it["arguments"]["name"]), text(&it["outcome"]))).collect()
}

/// From the first failure to the last call, with a log that breaks and is mended.
async fn stops_and_goes_on(
    tmux: &TmuxServer,
    log: &Path,
    fail: impl Fn(&Mcp),
    mend: impl Fn(&Mcp),
) {
    let config = format!("[audit]\nfile = \"{}\"", log.display());
    let mcp = &serve_configured(tmux, &config).await;
    create(mcp, "before").await.ok();
    fail(mcp);
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
    mend(mcp);
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

/// A limit on the size of files stands for a disk that is full: some of a line can be written.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn full_disk_stops_calls_until_space_returns() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let tmux = TmuxServer::new();
    let usual = getrlimit(Resource::Fsize);
    let path = log(&tmux);
    let limit = |mcp: &Mcp, current| {
        let pid = Pid::from_raw(mcp.pid().try_into().unwrap());
        prlimit(pid, Resource::Fsize, Rlimit { current, maximum: usual.maximum }).unwrap();
    };
    let fail = |mcp: &Mcp| limit(mcp, Some(path.metadata().unwrap().len() + 60));
    let mend = |mcp: &Mcp| {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with("}\n"), "half a line: {text}");
        limit(mcp, usual.current);
    };
    stops_and_goes_on(&tmux, &path, fail, mend).await;
}

#[tokio::test]
async fn missing_log_directory_stops_calls_until_restored() {
    let tmux = TmuxServer::new();
    let (folder, away) = (tmux.home().join("logs"), tmux.home().join("away"));
    fs::create_dir(&folder).unwrap();
    let fail = |_: &Mcp| fs::rename(&folder, &away).unwrap();
    let mend = |_: &Mcp| fs::rename(&away, &folder).unwrap();
    stops_and_goes_on(&tmux, &folder.join("audit.log"), fail, mend).await;
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
    let path = log(&tmux);
    let mut raw = launch(&tmux).args(&["--audit", path.to_str().unwrap()]).raw();
    raw.initialize("2025-11-25").await;
    let wait =
        json!({"name": "wait_for", "arguments": {"target": "main", "until": ["text:never"]}});
    let id = raw.start("tools/call", wait.clone()).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id}});
    raw.send(&cancel).await;
    let count = async |count| {
        until("the call is in the log", async || {
            let text = fs::read_to_string(&path).unwrap();
            (text.lines().count() == count).then_some(())
        })
        .await;
    };
    count(1).await;
    // The client goes while it waits.
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
    const EACH: usize = 25;
    let tmux = TmuxServer::new();
    let config = "max_bytes = 3000\nfiles = 100";
    let servers = [
        serve_audited(&tmux, config).await,
        serve_audited(&tmux, config).await,
        serve_audited(&tmux, config).await,
    ];
    let calls = async |mcp: &Mcp| {
        for _ in 0..EACH {
            mcp.call("list_panes", json!({})).await.ok();
        }
    };
    let [one, two, three] = &servers;
    tokio::join!(calls(one), calls(two), calls(three), calls(one));
    for mcp in servers {
        mcp.close().await;
    }
    let verdict = verify(&log(&tmux), 100).unwrap();
    assert_eq!((verdict.problems.as_slice(), verdict.records), ([].as_slice(), 4 * EACH as u64));
    assert!(tmux.home().join("audit.log.5").exists());
}
