//! Tests of `search_buffer`: every match is found, long results continue by cursor, and memory stays
//! small.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::buffers::set_buffer;
use crate::support::string;
use crate::{launch, serve};

async fn search(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("search_buffer", arguments).await.ok()
}

fn offsets(found: &Value) -> Vec<u64> {
    found["matches"].as_array().unwrap().iter().map(|m| m["offset"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn matches_report_offset_line_and_text() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let name =
        set_buffer(&mcp, "log", "start\nérror: Disk full\nok\nan ERROR and an error\n").await;
    set_buffer(&mcp, "other", "no such thing").await;
    let found = search(&mcp, json!({"pattern": "error"})).await;
    assert_eq!(offsets(&found), [30, 43]);
    assert_eq!(
        found["matches"][0],
        json!({"id": "log@30", "name": name, "offset": 30, "length": 5, "line": 4,
               "text": "an ERROR and an error"})
    );
    assert_eq!(found["searched"], 62);
    assert_eq!(offsets(&search(&mcp, json!({"pattern": "error", "case": true})).await), [43]);
    let regex = json!({"pattern": "^.rror:|full$", "regex": true});
    let found = search(&mcp, regex).await;
    assert_eq!(offsets(&found), [6, 19]);
    assert_eq!(found["matches"][0]["length"], 7);
    // A pattern is literal by default.
    assert_eq!(offsets(&search(&mcp, json!({"pattern": "d.sk"})).await), [0; 0]);
    let around = json!({"pattern": "ok", "buffers": ["log"], "context": 5});
    assert_eq!(search(&mcp, around).await["matches"][0]["text"], "full\nok\nan E");
    mcp.close().await;
}

#[tokio::test]
async fn text_result_has_facts_then_match_rows() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).args(&["--toolset", "all"]).mcp().await;
    mcp.call("set_buffer", json!({"name": "log", "text": "a\nb a\na\n"})).await.text();
    let text = mcp.call("search_buffer", json!({"pattern": "a", "limit": 2})).await.text();
    let (facts, rows) = text.split_once('\n').unwrap();
    assert!(facts.starts_with("2 matches in 1 buffer · "), "{facts}");
    assert!(facts.contains("continue with cursor mcp_") && facts.ends_with("_log@6"), "{facts}");
    assert_eq!(rows, "log@0 · 1 byte · line 1: a\nlog@4 · 1 byte · line 2: b a");
    let none = mcp.call("search_buffer", json!({"pattern": "z"})).await.text();
    assert_eq!(none, "0 matches in 1 buffer · 8 bytes searched");
    mcp.close().await;
}

#[tokio::test]
async fn search_continues_from_its_cursor() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String = (0..100).map(|n| format!("line {n} hit\n")).collect();
    set_buffer(&mcp, "a", &text).await;
    set_buffer(&mcp, "b", &text).await;
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let found = search(&mcp, json!({"pattern": "hit", "limit": 7, "cursor": cursor})).await;
        let matches = found["matches"].as_array().unwrap();
        seen.extend(matches.iter().map(|m| string(&m["id"])));
        cursor = found["cursor"].clone();
        assert_eq!(found["truncated"] == true, !cursor.is_null());
        if cursor.is_null() {
            break;
        }
        assert_eq!(matches.len(), 7);
    }
    assert_eq!(seen.len(), 200);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 200, "a match was returned twice");
    for (arguments, code, words) in [
        (json!({"pattern": "hit", "cursor": "none@5"}), "not_found", "`none`"),
        (json!({"pattern": "hit", "cursor": "a@99999"}), "invalid_argument", "99999"),
        (json!({"pattern": "hit", "cursor": "a"}), "invalid_argument", "notes@120"),
        (json!({"pattern": "hit", "near": 5}), "invalid_argument", "any of 2 buffers"),
        (json!({"pattern": "hit", "near": "a@99999"}), "invalid_argument", "99999"),
        (json!({"pattern": "hit", "limit": 0}), "invalid_argument", "`limit`"),
        (json!({"pattern": ""}), "invalid_argument", "empty"),
        (json!({"pattern": "(", "regex": true}), "invalid_argument", "unclosed"),
        (json!({"pattern": "x", "regex": true, "fuzzy": true}), "invalid_argument", "both"),
        (json!({"pattern": "x", "buffers": ["c"]}), "not_found", "a, b"),
    ] {
        let error = mcp.call("search_buffer", arguments).await.err(code);
        assert!(error.contains(words), "{error}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn overlong_search_result_continues_by_cursor() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String = (0..300).map(|n| format!("{n} {}\n", "x".repeat(400))).collect();
    set_buffer(&mcp, "wide", &text).await;
    let arguments = json!({"pattern": "^[0-9]+", "regex": true, "limit": 300});
    let mut found = search(&mcp, arguments.clone()).await;
    let (mut count, mut results) = (0, 0);
    loop {
        count += offsets(&found).len();
        results += 1;
        let Some(cursor) = found.get("cursor") else { break };
        let mut next = arguments.clone();
        next["cursor"] = cursor.clone();
        found = search(&mcp, next).await;
    }
    assert_eq!(count, 300);
    assert!(results > 1, "one result held everything");
    mcp.close().await;
}

#[tokio::test]
async fn near_limits_a_search_to_a_match() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let block = |n: usize| format!("begin {n}\n{}error {n}\n", "filler\n".repeat(1000));
    let text: String = (0..5).map(block).collect();
    set_buffer(&mcp, "log", &text).await;
    set_buffer(&mcp, "other", &text).await;
    let first = json!({"pattern": "begin 3", "buffers": ["log"]});
    let first = search(&mcp, first).await["matches"][0].clone();
    let near = json!({"pattern": "error", "near": first["id"]});
    let found = search(&mcp, near).await;
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    assert_eq!(found["matches"][0]["text"], "error 2");
    let wider = json!({"pattern": "error", "near": first["id"], "context": 8000});
    let found = search(&mcp, wider).await;
    assert_eq!(found["matches"].as_array().unwrap().len(), 3);
    let by_offset = json!({"pattern": "error", "near": first["offset"], "buffers": ["log"]});
    assert_eq!(search(&mcp, by_offset).await["matches"][0]["text"], "error 2");
    let fuzzy = json!({"pattern": "err 2", "fuzzy": true, "near": first["id"], "limit": 1});
    assert_eq!(search(&mcp, fuzzy).await["matches"][0]["text"], "error 2");
    mcp.close().await;
}

#[tokio::test]
async fn fuzzy_search_returns_best_lines_first() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    set_buffer(&mcp, "a", "fn parse_config_file()\nunrelated\nport: crooked fig\n").await;
    set_buffer(&mcp, "b", "parse_config\npacfg\n").await;
    let found = search(&mcp, json!({"pattern": "prsconfig", "fuzzy": true, "limit": 1})).await;
    assert_eq!(found["total"], 2);
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
    assert!(found["matches"][0]["score"].as_u64().unwrap() > 0);
    assert_eq!(found["truncated"], true);
    let found = search(&mcp, json!({"pattern": "prsconfig", "fuzzy": true})).await;
    let scores: Vec<u64> =
        found["matches"].as_array().unwrap().iter().map(|m| m["score"].as_u64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.len() == 2, "{scores:?}");
    mcp.close().await;
}

/// The peak of the resident memory of the process, in kB.
fn peak_memory(mcp: &Mcp) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", mcp.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A file of 50 MB, in lines or in one, and the offset of the needle at its end.
fn large_file(tmux: &TmuxServer, in_one_line: bool) -> (PathBuf, u64) {
    let mut text = String::with_capacity(51_000_000);
    let words = " some words of a log".repeat(50);
    while text.len() < 50_000_000 {
        let end = if in_one_line { ' ' } else { '\n' };
        write!(text, "{:08}{words}{end}", text.len()).unwrap();
    }
    let needle = text.len() as u64;
    text.push_str("the NEEDLE\n");
    let path = tmux.home().join("large");
    std::fs::write(&path, text).unwrap();
    (path, needle)
}

/// All matches, in as many calls as necessary.
async fn search_to_the_end(mcp: &Mcp, mut arguments: Value) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let found = search(mcp, arguments.clone()).await;
        all.extend(found["matches"].as_array().unwrap().iter().cloned());
        match found.get("cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return all,
        }
    }
}

/// Sets, reads, searches, saves and extends a buffer of 50 MB, and expects little use of memory.
async fn assert_little_memory(in_one_line: bool) {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (path, needle) = large_file(&tmux, in_one_line);
    let small = json!({"name": "small", "text": "x"});
    mcp.call("set_buffer", small).await.text();
    search(&mcp, json!({"pattern": "needle", "fuzzy": true})).await;
    let before = peak_memory(&mcp);

    let made = mcp.call("set_buffer", json!({"name": "large", "path": path})).await.ok();
    assert_eq!(made["bytes"], needle + 11);
    let shown = json!({"name": "large", "offset": needle, "max_bytes": 100});
    assert_eq!(mcp.call("show_buffer", shown).await.ok()["text"], "the NEEDLE\n");
    for arguments in
        [json!({"pattern": "needle"}), json!({"pattern": "NEE[D]LE$", "regex": true, "case": true})]
    {
        let found = search_to_the_end(&mcp, arguments).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["offset"], needle + 4);
    }
    let fuzzy = json!({"pattern": "some log", "fuzzy": true, "limit": 3, "buffers": ["large"]});
    let found = search(&mcp, fuzzy.clone()).await;
    assert_eq!(found["matches"].as_array().unwrap().len(), 3);
    let mut last = fuzzy;
    (last["pattern"], last["cursor"]) = (json!("nedle"), json!(format!("large@{needle}")));
    let found = search(&mcp, last).await;
    assert_eq!(found["matches"][0]["text"] == "the NEEDLE", !in_one_line, "{found}");
    let copy = tmux.home().join("copy");
    mcp.call("save_buffer", json!({"name": "large", "path": copy})).await.text();
    assert!(std::fs::read(&copy).unwrap() == std::fs::read(&path).unwrap());
    let append = json!({"name": "large", "text": "more", "append": true});
    assert_eq!(mcp.call("set_buffer", append).await.ok()["bytes"], needle + 15);

    let peak = peak_memory(&mcp);
    assert!(peak < before + 5_000, "from {before} kB to {peak} kB");
    mcp.close().await;
}

#[tokio::test]
async fn fifty_megabyte_buffer_needs_little_memory() {
    assert_little_memory(false).await;
}

#[tokio::test]
async fn fifty_megabyte_line_needs_little_memory() {
    assert_little_memory(true).await;
}
