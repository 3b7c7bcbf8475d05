//! `search_panes`: matching lines in many panes.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use crate::support::{exited, keys, pane, ready_pane, shows, string};
use crate::{launch, serve, serve_configured};

async fn search(mcp: &Mcp, arguments: Value) -> Value {
    mcp.call("search_panes", arguments).await.ok()
}

/// The matches as (pane, line, text).
fn matches_of(result: &Value) -> Vec<(String, i64, String)> {
    let panes = result["panes"].as_array().unwrap();
    panes
        .iter()
        .flat_map(|pane| {
            let matches = pane["matches"].as_array().unwrap();
            matches.iter().map(|hit| {
                let text = hit.get("text").map(string).unwrap_or_default();
                (string(&pane["pane_id"]), hit["line"].as_i64().unwrap(), text)
            })
        })
        .collect()
}

/// The texts of the matches.
fn texts(result: &Value) -> Vec<String> {
    matches_of(result).into_iter().map(|(_, _, text)| text).collect()
}

/// The line that begins at a row, as `capture_pane` returns it.
async fn line_at(mcp: &Mcp, target: &str, row: i64) -> String {
    let arguments = json!({"target": target, "start": row, "end": row + 9});
    let captured = mcp.call("capture_pane", arguments).await.ok();
    string(&captured["text"]).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn matches_have_their_pane_and_line() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let one = ready_pane(&mcp, "echo Needle one; echo hay; echo a needle; exec cat", "a needle");
    let one = one.await;
    let two = ready_pane(&mcp, "echo hay; echo NEEDLE.; exec cat", "NEEDLE").await;
    let result = search(&mcp, json!({"pattern": "needle"})).await;
    assert_eq!(keys(&result), ["panes", "total"]);
    let expected = [
        (one.clone(), 0, "Needle one".to_owned()),
        (one.clone(), 2, "a needle".to_owned()),
        (two.clone(), 1, "NEEDLE.".to_owned()),
    ];
    assert_eq!((matches_of(&result), &result["total"]), (expected.to_vec(), &json!(3)));
    let first = &result["panes"][0];
    assert_eq!(keys(first), ["command", "matches", "pane_id", "session", "window"]);
    assert_eq!(first["command"], "cat");
    assert_eq!(string(&first["session"]), format!("mcp-{}", mcp.pid()));
    // `case` makes the match case-sensitive; a pattern is literal unless `regex` is set.
    let exact = search(&mcp, json!({"pattern": "needle", "case": true})).await;
    assert_eq!(texts(&exact), ["a needle"]);
    assert_eq!(texts(&search(&mcp, json!({"pattern": "e."})).await), ["NEEDLE."]);
    let regex = search(&mcp, json!({"pattern": "^needle.$", "regex": true})).await;
    assert_eq!(texts(&regex), ["NEEDLE."]);
    // A session, a window or a pane limits the search.
    for (target, count) in [(two.as_str(), 1), (&string(&first["session"]), 3), ("main", 0)] {
        let result = search(&mcp, json!({"pattern": "needle", "target": target})).await;
        assert_eq!(
            (&result["total"], matches_of(&result).len()),
            (&json!(count), count),
            "{target}"
        );
    }
    mcp.close().await;
}

#[tokio::test]
async fn the_default_answer_is_text_alone() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).mcp().await;
    assert!(mcp.instructions().contains("search_panes"), "{}", mcp.instructions());
    tmux.type_line("%0", "clear; printf 'b%sd\\n' a a a a");
    until("the line has run", async || tmux.screen("%0").starts_with("bad").then_some(())).await;
    let result = mcp.call("search_panes", json!({"pattern": "bad", "limit": 3})).await.result();
    assert_eq!(result.structured_content, None);
    let text = result.content[0].as_text().unwrap().text.clone();
    let expected = "4 matching lines in 1 pane · 3 shown, continue with offset 3\n\
                    %0 main:0.0 sh · sh\n0: bad\n1: bad\n2: bad";
    assert_eq!(text, expected);
    let none = mcp.call("search_panes", json!({"pattern": "nowhere"})).await.text();
    assert_eq!(none, "0 matching lines in 1 pane");
    mcp.close().await;
}

#[tokio::test]
async fn history_is_searched_up_to_the_limit() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // 200 lines and the cursor's row on 50 rows: 151 are in history, the screen begins with 152.
    let target = ready_pane(&mcp, "seq 1 200; exec cat", "200").await;
    let count = async |scrollback: Value| {
        let arguments = json!({"pattern": ".", "regex": true, "target": target,
            "scrollback": scrollback, "limit": 1000});
        let result = search(&mcp, arguments).await;
        let matches = matches_of(&result);
        assert_eq!(result["total"], json!(matches.len()));
        let (_, line, text) = matches[0].clone();
        assert_eq!(line_at(&mcp, &target, line).await, text, "{scrollback}");
        matches.len()
    };
    for (scrollback, lines) in [
        (Value::Null, 49),
        (json!(false), 49),
        (json!(0), 49),
        (json!(1), 50),
        (json!("10"), 59),
        (json!(151), 200),
        (json!(1_000_000_000_000_u64), 200),
        (json!(true), 200),
        (json!("true"), 200),
    ] {
        assert_eq!(count(scrollback.clone()).await, lines, "{scrollback}");
    }
    let result = search(&mcp, json!({"pattern": "^1[0-9]$", "regex": true, "scrollback": true}));
    let (_, line, text) = matches_of(&result.await)[0].clone();
    assert_eq!((line, text.as_str()), (10 - 152, "10"));
    mcp.close().await;
}

#[tokio::test]
async fn line_numbers_are_right_after_wrapped_lines() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("lines");
    let long = "abcdefghij".repeat(13);
    let mut lines = Vec::new();
    for n in 1..=30 {
        lines.push(format!("{n} {long} needle-{n}-a {long}"));
        lines.push(format!("{} needle-{n}-b", "漢字かな".repeat(7)));
        lines.push(format!("x{} needle-{n}-c", "漢".repeat(45)));
        lines.push("x".repeat(41 * 2));
        lines.push(format!("{}needle-{n}-d", " ".repeat(41 * 2)));
        lines.push(format!("tab\tbed needle-{n}-e\t\t\t\tand more of it \u{301}e\u{301}"));
        // tmux and terminals disagree on the width of some characters.
        lines.push(format!("{}needle-{n}-f", "🇩🇪❤\u{fe0f}👨\u{200d}👩\u{1fae8}\u{ad}".repeat(9)));
        lines.push(String::new());
    }
    std::fs::write(&file, lines.join("\n")).unwrap();
    let command = format!("cat {}; echo; echo needle-31-g; printf end; exec cat", file.display());
    let made = mcp.call("create_session", json!({"command": command, "width": 41, "height": 10}));
    let target = string(&made.await.ok()["pane_id"]);
    shows(&mcp, &target, "end").await;
    let mut all = Vec::new();
    loop {
        let arguments = json!({"pattern": "needle-", "target": target, "scrollback": true,
            "offset": all.len()});
        let part = search(&mcp, arguments).await;
        all.extend(matches_of(&part));
        if part.get("next").is_none() {
            break;
        }
    }
    assert_eq!(all.len(), 30 * 6 + 1);
    for (_, row, text) in &all {
        assert_eq!(line_at(&mcp, &target, *row).await, *text, "row {row}");
    }
    let (_, row, text) = all.last().unwrap();
    assert_eq!((*row < 10, text.as_str()), (true, "needle-31-g"));
    // Without history, line numbers are rows of the screen.
    let arguments = json!({"pattern": "needle-31", "target": target});
    assert_eq!(matches_of(&search(&mcp, arguments).await), all[all.len() - 1..]);
    mcp.close().await;
}

#[tokio::test]
async fn many_matches_are_paged() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for n in 1..=3 {
        let command = format!("for i in $(seq 1 40); do echo match $i of {n}; done; exec cat");
        ready_pane(&mcp, &command, &format!("40 of {n}")).await;
    }
    let mut all = Vec::new();
    let mut offset = Value::Null;
    loop {
        let arguments = json!({"pattern": "match", "limit": 35, "offset": offset});
        let part = search(&mcp, arguments).await;
        assert_eq!(part["total"], 120);
        all.extend(texts(&part));
        let Some(next) = part.get("next") else {
            assert_eq!(part.get("truncated"), None, "{part}");
            break;
        };
        assert_eq!((next, &part["truncated"]), (&json!(all.len()), &json!(true)));
        offset = next.clone();
    }
    let expected: Vec<String> =
        (1..=3).flat_map(|n| (1..=40).map(move |i| format!("match {i} of {n}"))).collect();
    assert_eq!(all, expected);
    // The default limit is a hundred, and an offset after the last match returns none.
    assert_eq!(search(&mcp, json!({"pattern": "match"})).await["next"], 100);
    let behind = search(&mcp, json!({"pattern": "match", "offset": 1000})).await;
    assert_eq!(behind, json!({"panes": [], "total": 120}));
    mcp.close().await;
}

#[tokio::test]
async fn long_results_and_lines_are_marked_truncated() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\ntext = 2000").await;
    let ready_pane = async |command: &str| ready_pane(&mcp, command, "the end").await;
    let many = ready_pane(
        "for i in $(seq 1000 1040); do printf \"$i %092d\\n\" 0; done; echo the end; exec cat",
    );
    let many = many.await;
    let result = search(&mcp, json!({"pattern": "10", "target": many})).await;
    let shown = matches_of(&result).len();
    assert!((15..=20).contains(&shown), "{shown}");
    assert_eq!((&result["next"], &result["truncated"]), (&json!(shown), &json!(true)));
    let rest = search(&mcp, json!({"pattern": "10", "target": many, "offset": shown})).await;
    assert!(texts(&rest)[0].starts_with(&format!("{} ", 1000 + shown)), "{rest}");
    let long = ready_pane("printf '%05000dneedle%05000d\\n' 1 2; echo the end; exec cat").await;
    let result = search(&mcp, json!({"pattern": "needle", "target": long, "scrollback": 99})).await;
    assert_eq!((&result["truncated"], result.get("next")), (&json!(true), None));
    let text = &texts(&result)[0];
    assert!(text.contains("1needle0") && text.starts_with('…') && text.ends_with('…'), "{text}");
    assert!(text.chars().count() <= 1002, "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn exited_panes_and_linked_windows_are_searched() {
    let tmux = TmuxServer::new();
    tmux.new_session("other");
    let mcp = serve(&tmux).await;
    let dead = pane(&mcp, "seq -f 'row %g' 1 49; exit 3").await;
    exited(&mcp, &dead).await;
    let result = search(&mcp, json!({"pattern": "row", "target": dead})).await;
    assert_eq!(result["total"], 49);
    let (_, line, text) = matches_of(&result)[0].clone();
    assert_eq!(line_at(&mcp, &dead, line).await, text);
    let text = mcp.call("search_panes", json!({"pattern": "row 7"})).await.text();
    assert!(text.contains(" · exited 3\n"), "{text}");
    tmux.type_line("%0", "clear; echo link''ed");
    until("the line has run", async || tmux.screen("%0").starts_with("linked").then_some(())).await;
    tmux.tmux(&["link-window", "-s", "=main:0", "-t", "=other:9"]);
    assert_eq!(search(&mcp, json!({"pattern": "linked"})).await["total"], 1);
    let there = search(&mcp, json!({"pattern": "linked", "target": "other"})).await;
    assert_eq!(there["panes"][0]["session"], "other");
    mcp.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panes_closed_during_a_search_are_skipped() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // So much history that the last pane is read only after some time.
    for _ in 0..12 {
        ready_pane(&mcp, "seq 1 20000; echo stays; exec cat", "stays").await;
    }
    for _ in 0..5 {
        let goes = ready_pane(&mcp, "echo goes; exec cat", "goes").await;
        let arguments = json!({"pattern": "stays", "scrollback": true});
        let (result, _) = tokio::join!(search(&mcp, arguments), async {
            tmux.tmux(&["kill-pane", "-t", &goes]);
        });
        assert_eq!(result["total"], 12, "{result}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn hostile_text_is_matched_literally() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let file = tmux.home().join("hostile");
    std::fs::write(
        &file,
        "%end 1 2 3\n%begin 1 2 0\n#{pane_id} $(id) `id`;'\"\nbye \u{202e}x   \nend\n",
    )
    .unwrap();
    let target = ready_pane(&mcp, &format!("cat {}; exec cat", file.display()), "bye").await;
    for (pattern, line, text) in [
        ("%end 1 2 3", 0, "%end 1 2 3"),
        ("#{pane_id}", 2, "#{pane_id} $(id) `id`;'\""),
        ("$(id) `id`;'\"", 2, "#{pane_id} $(id) `id`;'\""),
    ] {
        let result = search(&mcp, json!({"pattern": pattern, "target": target})).await;
        assert_eq!(matches_of(&result), [(target.clone(), line, text.to_owned())], "{pattern}");
    }
    let end = search(&mcp, json!({"pattern": "x$", "regex": true, "target": target})).await;
    assert_eq!(texts(&end), ["bye x"]);
    let nowhere = search(&mcp, json!({"pattern": "; kill-server\u{0}"})).await;
    assert_eq!(nowhere["total"], 0);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_arguments_are_named() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({}), "`pattern` is missing"),
        (json!({"pattern": ""}), "`pattern` is empty"),
        (json!({"pattern": "a\nb"}), "newline"),
        (json!({"pattern": "(", "regex": true}), "unclosed group"),
        (json!({"pattern": "x{9999}{9999}", "regex": true}), "`pattern`"),
        (json!({"pattern": "x", "scrollback": -3}), "-3 is not a number of lines"),
        (json!({"pattern": "x", "scrollback": "many"}), "many"),
        (json!({"pattern": "x", "scrollback": 1.5}), "1.5"),
        (json!({"pattern": "x", "limit": 0}), "`limit`: 0"),
        (json!({"pattern": "x", "limit": -1}), "-1"),
        (json!({"pattern": "x", "offset": -1}), "-1"),
        (json!({"pattern": "x", "ignore_case": true}), "`ignore_case`"),
    ] {
        let error = mcp.call("search_panes", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    mcp.call("search_panes", json!({"pattern": "x", "target": "%9"})).await.err("not_found");
    // Without a tmux server there are no matches.
    tmux.kill();
    let none = search(&mcp, json!({"pattern": "x"})).await;
    assert_eq!(none, json!({"panes": [], "total": 0}));
    let error = mcp.call("search_panes", json!({"pattern": "x", "target": "main"})).await;
    error.err("no_server");
    mcp.close().await;
}
