//! Searching paste buffers: every match, in bounds, with places to go on from, however large the
//! buffer is.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer};

use crate::support::string;
use crate::{launch, serve};

async fn set(mcp: &Mcp, name: &str, text: &str) -> String {
    string(&mcp.call("set_buffer", json!({"name": name, "text": text})).await.ok()["name"])
}

async fn search(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("search_buffer", arguments).await.ok()
}

fn offsets(found: &Value) -> Vec<u64> {
    found["matches"].as_array().unwrap().iter().map(|m| m["offset"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn matches_come_with_their_place_and_line() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let name = set(&mcp, "log", "start\nérror: Disk full\nok\nan ERROR and an error\n").await;
    set(&mcp, "other", "no such thing").await;
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
    // Literal unless a regex is asked for.
    assert_eq!(offsets(&search(&mcp, json!({"pattern": "d.sk"})).await), [0; 0]);
    let around = json!({"pattern": "ok", "buffers": ["log"], "context": 5});
    assert_eq!(search(&mcp, around).await["matches"][0]["text"], "full\nok\nan E");
    mcp.close().await;
}

#[tokio::test]
async fn text_answers_have_facts_first_and_a_row_each() {
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
async fn a_search_goes_on_where_it_stopped() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String = (0..100).map(|n| format!("line {n} hit\n")).collect();
    set(&mcp, "a", &text).await;
    set(&mcp, "b", &text).await;
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
    assert_eq!(seen.len(), 200, "some came twice");
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
async fn an_answer_that_would_be_too_long_says_how_to_go_on() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let text: String = (0..300).map(|n| format!("{n} {}\n", "x".repeat(400))).collect();
    set(&mcp, "wide", &text).await;
    let arguments = json!({"pattern": "^[0-9]+", "regex": true, "limit": 300});
    let mut found = search(&mcp, arguments.clone()).await;
    let mut count = 0;
    loop {
        count += offsets(&found).len();
        let Some(cursor) = found.get("cursor") else { break };
        let mut next = arguments.clone();
        next["cursor"] = cursor.clone();
        found = search(&mcp, next).await;
    }
    assert_eq!(count, 300);
    mcp.close().await;
}

#[tokio::test]
async fn a_second_search_stays_near_what_the_first_found() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let block = |n: usize| format!("begin {n}\n{}error {n}\n", "filler\n".repeat(1000));
    let text: String = (0..5).map(block).collect();
    set(&mcp, "log", &text).await;
    set(&mcp, "other", &text).await;
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
async fn the_best_lines_come_first_when_the_search_is_fuzzy() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    set(&mcp, "a", "fn parse_config_file()\nunrelated\nport: crooked fig\n").await;
    set(&mcp, "b", "parse_config\npacfg\n").await;
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

/// The most that the process has needed so far, in kB.
fn memory(mcp: &Mcp) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", mcp.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// 50 MB of lines, and a needle at the end; or all of it in one line.
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

/// The first matches, in as many calls as it takes.
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

async fn works_in_little_memory(in_one_line: bool) {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let (path, needle) = large_file(&tmux, in_one_line);
    let small = json!({"name": "small", "text": "x"});
    mcp.call("set_buffer", small).await.text();
    search(&mcp, json!({"pattern": "needle", "fuzzy": true})).await;
    let before = memory(&mcp);

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

    let peak = memory(&mcp);
    assert!(peak < before + 5_000, "from {before} kB to {peak} kB");
    mcp.close().await;
}

#[tokio::test]
async fn a_buffer_of_50_megabytes_is_handled_in_little_memory() {
    works_in_little_memory(false).await;
}

#[tokio::test]
async fn a_line_of_50_megabytes_is_handled_in_little_memory() {
    works_in_little_memory(true).await;
}
