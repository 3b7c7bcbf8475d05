//! Tests of audit records and of the command `tmuxwright audit`, which reads them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, wait_until};
use tmuxwright::audit;

use crate::support::{pane, string};
use crate::{PROGRAM, launch, serve_configured};

/// The path of the audit log of a test.
pub(crate) fn audit_log(tmux: &TmuxServer) -> PathBuf {
    tmux.home().join("audit.log")
}

/// The program with every tool, structured results and an audit log; `config` follows in its config file.
pub(crate) async fn serve_audited(tmux: &TmuxServer, config: &str) -> Mcp {
    let file = audit_log(tmux);
    serve_configured(tmux, &format!("[audit]\nfile = \"{}\"\n{config}", file.display())).await
}

/// The records of a log and its rotated files, the oldest first.
pub(crate) fn records(path: &Path) -> Vec<Value> {
    let lines = audit::lines(path).unwrap();
    lines.map(|line| serde_json::from_str(&line.unwrap().text).unwrap()).collect()
}

/// The output and exit code of `tmuxwright audit` with these arguments.
pub(crate) async fn audit_command(tmux: &TmuxServer, args: &[&str]) -> (String, i32) {
    let all = [&["audit"], args].concat();
    let output = testkit::Launch::without_tmux(PROGRAM, tmux.home()).args(&all).output().await;
    let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (texts.concat(), output.status.code().unwrap())
}

/// One field of each record; empty where it is missing.
fn field<'a>(records: &'a [Value], name: &str) -> Vec<&'a str> {
    records.iter().map(|record| record[name].as_str().unwrap_or_default()).collect()
}

#[tokio::test]
async fn every_call_is_recorded_with_its_outcome() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "").await;
    let pane = pane(&mcp, "cat").await;
    mcp.call("send_keys", json!({"target": pane, "text": "hello", "enter": true})).await.ok();
    mcp.call("no_such_tool", json!({"text": "hello"})).await.err("unknown_tool");
    mcp.call("send_keys", json!({"target": pane, "txt": "hello"})).await.err("invalid_argument");
    mcp.call("kill", json!({"target": "main", "kind": "session"})).await.err("denied");
    mcp.call("capture_pane", json!({"target": "%99"})).await.err("not_found");
    let calls = json!([
        {"tool": "rename", "arguments": {"target": pane, "name": "mine"}},
        {"tool": "nonsense"},
    ]);
    mcp.call("batch", json!({"calls": calls})).await.ok();
    let run = mcp.call("run_command", json!({"command": "echo hello"})).await.ok();
    mcp.close().await;

    let records = records(&audit_log(&tmux));
    assert_eq!(
        field(&records, "tool").join(" "),
        "create_pane send_keys no_such_tool send_keys kill capture_pane rename nonsense batch run_command"
    );
    assert_eq!(
        field(&records, "outcome").join(" "),
        "ok ok unknown_tool invalid_argument denied not_found ok unknown_tool ok ok"
    );
    let numbers: Vec<u64> = records.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    // The ids come from the result, or from the resolved target.
    assert_eq!((&records[0]["pane_id"], &records[1]["pane_id"]), (&json!(pane), &json!(pane)));
    assert!(string(&records[4]["session_id"]).starts_with('$'), "{}", records[4]);
    let last = &records[9];
    assert_eq!((&last["command_id"], &last["pane_id"]), (&run["command_id"], &run["pane_id"]));
    assert!(last["output_bytes"].as_u64().unwrap() > 5 && last["duration_ms"].is_number());
    assert!(string(&last["client"]).contains("rmcp"), "{last}");
    let hidden = json!({"len": 5, "sha256_prefix": "2cf24dba5fb0"});
    let typed = json!({"target": pane, "text": hidden, "enter": true});
    assert_eq!(records[1]["arguments"], typed);
    assert_eq!(records[2]["arguments"], json!({"text": hidden}));
    assert_eq!(records[3]["arguments"], json!({"target": pane, "txt": hidden}));
    assert_eq!(records[8]["arguments"]["calls"][0]["tool"], "rename");
    for record in &records {
        let time = string(&record["ts"]);
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
    }
    assert_eq!(audit_log(&tmux).metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn plain_log_has_the_older_formats_fields() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "plain = true").await;
    let arguments = json!({"command": "cat", "name": "server", "env": {"A": "b"}});
    let made = mcp.call("create_pane", arguments.clone()).await.ok();
    let pane = string(&made["pane_id"]);
    let typed = json!({"target": pane, "text": "curl localhost", "enter": true});
    mcp.call("send_keys", typed).await.ok();
    mcp.call("capture_pane", json!({"target": pane, "lines": 200})).await.ok();
    mcp.close().await;
    let records = records(&audit_log(&tmux));
    let has = |record: &Value, fields: Value| {
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&record[name], value, "{record}");
        }
        assert!(record["ts"].is_string() && record["pane_id"] == pane.as_str(), "{record}");
    };
    has(&records[0], json!({"tool": "create_pane", "command": "cat", "name": "server"}));
    has(&records[0], json!({"arguments": arguments}));
    has(&records[1], json!({"tool": "send_keys", "keys": "curl localhost Enter"}));
    has(&records[2], json!({"tool": "capture_pane", "lines": 200}));
    assert!(records[2]["output_bytes"].as_u64().unwrap() > 14, "{}", records[2]);
}

#[tokio::test]
async fn full_results_go_to_numbered_files() {
    let tmux = TmuxServer::new();
    let folder = tmux.home().join("full");
    let config = format!("full = \"{}\"\n[limits]\ntext = 100", folder.display());
    let mcp = serve_audited(&tmux, &config).await;
    let pane = pane(&mcp, "seq 1 100; exec cat").await;
    wait_until("all lines are printed", || tmux.screen(&pane).contains("100").then_some(()));
    for _ in 0..2 {
        mcp.call("capture_pane", json!({"target": pane, "lines": 100})).await.ok();
    }
    let run = mcp.call("run_command", json!({"command": "seq 1 1000"})).await.ok();
    mcp.call("list_panes", json!({})).await.ok();
    mcp.close().await;
    let command = string(&run["command_id"]);
    let records = records(&audit_log(&tmux));
    let files: Vec<&str> =
        field(&records, "full").into_iter().filter(|it| !it.is_empty()).collect();
    let expected = [
        format!("{pane}-capture-001.txt"),
        format!("{pane}-capture-002.txt"),
        format!("{command}-run_command-001.txt"),
    ];
    assert_eq!(files, expected);
    // The file has all lines, although the result was cut.
    let text = fs::read_to_string(folder.join(&expected[1])).unwrap();
    assert!(text.contains("\n1\n2\n3\n") && text.contains("\n100"), "{text}");
    let text = fs::read_to_string(folder.join(&expected[2])).unwrap();
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>().len(), 1000, "{text}");
    assert!(text.contains("exit 0") && text.trim_end().ends_with("\n999\n1000"), "{text}");
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join(files[0]))), (0o700, 0o600));
}

#[tokio::test]
async fn audit_command_prints_and_filters_records() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "").await;
    let made = pane(&mcp, "cat").await;
    mcp.call("send_keys", json!({"target": made, "text": "hello"})).await.ok();
    mcp.call("send_keys", json!({"target": "%99", "text": "hello"})).await.err("not_found");
    mcp.call("rename", json!({"target": made, "name": "\u{1b}[31m red"})).await.result();
    mcp.close().await;
    let path = audit_log(&tmux);
    let file = path.to_str().unwrap();
    let lines = async |args: &[&str]| {
        let (text, code) = audit_command(&tmux, &[&[file], args].concat()).await;
        assert_eq!(code, 0, "{text}");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = lines(&[]).await;
    assert_eq!(all.len(), 4, "{all:?}");
    assert!(all[1].contains("send_keys") && all[1].contains(&made), "{}", all[1]);
    assert!(all[1].contains("text=<5 bytes, 2cf24dba5fb0>"), "{}", all[1]);
    assert!(!all[3].contains('\u{1b}'), "{}", all[3]);
    assert_eq!(lines(&["--tool", "send_keys"]).await.len(), 2);
    assert_eq!(lines(&["--tool", "send_keys", "--pane", &made]).await.len(), 1);
    assert_eq!(lines(&["--outcome", "not_found"]).await.len(), 1);
    assert_eq!(lines(&["--tool", "send_keys", "--outcome", "error"]).await.len(), 1);
    assert_eq!(lines(&["--tool", "send_keys", "--outcome", "ok"]).await.len(), 1);
    assert_eq!(lines(&["--since", "1h", "--until", "2100-01-01T00:00:00Z"]).await.len(), 4);
    assert_eq!(lines(&["--until", "1h"]).await.len(), 0);
    let json: Value = serde_json::from_str(&lines(&["--json"]).await[0]).unwrap();
    assert_eq!(json["seq"], 1);
    // Without a path the configured log is read.
    assert_eq!(audit_command(&tmux, &["--audit", file]).await, (all.join("\n") + "\n", 0));
    for wrong in [&["--since", "soon", file][..], &[]] {
        let (text, code) = audit_command(&tmux, wrong).await;
        assert!(code == 2 && text.contains("hint: "), "{text}");
    }
    let (text, code) = audit_command(&tmux, &["/nonexistent/log"]).await;
    assert!(code == 1 && text.contains("/nonexistent/log"), "{text}");
}

/// Characters that reorder or hide text in a terminal, or control it.
const HOSTILE: &str =
    "a\u{9b}31m\u{85}\u{7f}\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}\u{e0041}\u{ad}z";

#[tokio::test]
async fn log_has_no_raw_control_or_hidden_characters() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "plain = true").await;
    mcp.call(HOSTILE, json!({})).await.err("unknown_tool");
    mcp.call("capture_pane", json!({"target": HOSTILE, HOSTILE: HOSTILE})).await.result();
    mcp.close().await;
    let path = audit_log(&tmux);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.bytes().all(|b| b == b'\n' || (b' '..=b'~').contains(&b)), "{text:?}");
    // The values are the same as before.
    let records = records(&path);
    assert_eq!(records[0]["tool"], HOSTILE);
    assert_eq!(records[1]["arguments"], json!({"target": HOSTILE, HOSTILE: HOSTILE}));

    // A record of an earlier version, with the characters as they are.
    let first = text.lines().next().unwrap().replace("\\u202e", "\u{202e}");
    fs::write(&path, format!("{first}\n")).unwrap();
    let mcp = serve_audited(&tmux, "").await;
    mcp.call("list_panes", json!({})).await.text();
    mcp.close().await;
    let file = path.to_str().unwrap();
    let (verdict, code) = audit_command(&tmux, &[file, "--verify"]).await;
    assert_eq!((verdict.as_str(), code), ("intact: 2 records, 1 to 2\n", 0));
    let (printed, _) = audit_command(&tmux, &[file, "--json"]).await;
    assert!(printed.is_ascii(), "{printed:?}");
}

#[tokio::test]
async fn verify_finds_damage_in_rotated_files() {
    let tmux = TmuxServer::new();
    let mcp = serve_audited(&tmux, "max_bytes = 1500").await;
    for _ in 0..12 {
        mcp.call("list_panes", json!({"filter": "own=true"})).await.ok();
    }
    mcp.close().await;
    let path = audit_log(&tmux);
    let verify = async || audit_command(&tmux, &[path.to_str().unwrap(), "--verify"]).await;
    assert_eq!(verify().await, ("intact: 12 records, 1 to 12\n".to_owned(), 0));
    let older = tmux.home().join("audit.log.1");
    let text = fs::read_to_string(&older).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let seq = |line: &str| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap();
    let (first, second) = (seq(lines[0]), seq(lines[1]));
    let damaged = async |text: String| {
        fs::write(&older, text).unwrap();
        let (printed, code) = verify().await;
        assert_eq!(code, 1, "{printed}");
        printed
    };
    let printed = damaged(text.replacen("own=true", "own=trUe", 1)).await;
    assert!(printed.contains(&format!("record {first} or {second} was changed")), "{printed}");
    let printed = damaged(text.replacen(&format!("{}\n", lines[1]), "", 1)).await;
    assert!(printed.contains(&format!("records {second} to {second} are missing")), "{printed}");
    let printed = damaged(format!("{}\n{text}", lines[1])).await;
    assert!(printed.contains(&format!("record {first} comes after record {second}")), "{printed}");
    let printed = damaged(text.replacen('{', "", 1)).await;
    assert!(printed.contains("audit.log.1, line 1: this is not a record"), "{printed}");
    let printed = damaged(text[..text.len() - 30].to_owned()).await;
    assert!(printed.contains("cut off"), "{printed}");
    fs::remove_file(&older).unwrap();
    let (printed, code) = verify().await;
    assert!(code == 1 && printed.contains("are missing"), "{printed}");
    fs::write(&older, &text).unwrap();
    assert_eq!(verify().await.1, 0);
}

#[tokio::test]
async fn older_environment_variable_names_are_accepted() {
    let tmux = TmuxServer::new();
    let (file, folder) = (audit_log(&tmux), tmux.home().join("full"));
    let mcp = launch(&tmux)
        .env("TMUX_DEBUG_AUDIT", file.to_str().unwrap())
        .env("TMUX_DEBUG_AUDIT_FULL", folder.to_str().unwrap())
        .mcp()
        .await;
    mcp.call("capture_pane", json!({"target": "main"})).await.text();
    mcp.close().await;
    assert_eq!(field(&records(&file), "full"), ["%0-capture-001.txt"]);
    // The current name takes precedence.
    let other = tmux.home().join("other.log");
    let mcp = launch(&tmux)
        .env("TMUX_DEBUG_AUDIT", file.to_str().unwrap())
        .env("TMUXWRIGHT_AUDIT", other.to_str().unwrap())
        .mcp()
        .await;
    mcp.call("list_panes", json!({})).await.text();
    mcp.close().await;
    assert_eq!((records(&file).len(), records(&other).len()), (1, 1));
}
