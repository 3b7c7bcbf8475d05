//! `capture_pane`: the text of a screen, with history and colours.

use serde_json::{Value, json};
use testkit::{Mcp, Shell, TmuxServer};

use crate::support::{exited, keys, numbers, pane, ready_pane, screen, shows, string};
use crate::{launch, serve, serve_configured};

/// The text of a capture.
async fn text(mcp: &Mcp, arguments: Value) -> String {
    let captured = mcp.call("capture_pane", arguments).await.ok();
    captured.get("text").map(string).unwrap_or_default()
}

#[tokio::test]
async fn a_capture_has_facts_and_text() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "seq 1 100; printf 'the  end .  '; exec cat", "end").await;
    let whole = mcp.call("capture_pane", json!({"target": target})).await.ok();
    assert_eq!(keys(&whole), ["height", "history", "lines_cut", "pane_id", "text", "width"]);
    assert_eq!(whole["pane_id"], target);
    assert_eq!((&whole["width"], &whole["height"]), (&json!(200), &json!(50)));
    assert_eq!((&whole["history"], &whole["lines_cut"]), (&json!(51), &json!(0)));
    assert_eq!(string(&whole["text"]), format!("{}\nthe  end .", numbers(52, 100)));
    mcp.close().await;
    // By default the answer is text alone: one line of facts, then the screen.
    let mcp = launch(&tmux).mcp().await;
    let result = mcp.call("capture_pane", json!({"target": "main"})).await.result();
    assert_eq!(result.structured_content, None);
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(text, "%0 · sh · 80x24 · 0 lines of history\n$");
    mcp.close().await;
}

#[tokio::test]
async fn the_last_lines_reach_into_history() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "seq 1 1000; exec cat", "1000").await;
    for (lines, first) in [(1, 1000), (10, 991), (60, 941), (1000, 1), (u32::MAX, 1)] {
        let got = text(&mcp, json!({"target": target, "lines": lines})).await;
        assert_eq!(got, numbers(first, 1000), "{lines} lines");
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_range_counts_from_the_screen_top() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // 200 lines and the cursor's row on 50 rows: the screen begins with 152.
    let target = ready_pane(&mcp, "seq 1 200; exec cat", "200").await;
    let range = async |start: Value, end: Value| {
        text(&mcp, json!({"target": target, "start": start, "end": end})).await
    };
    assert_eq!(range(json!(0), json!(2)).await, numbers(152, 154));
    assert_eq!(range(json!(-3), json!(-1)).await, numbers(149, 151));
    assert_eq!(range(json!(-1000), json!(-150)).await, numbers(1, 2));
    assert_eq!(range(json!(-5_000_000_000_i64), json!(-150)).await, numbers(1, 2));
    assert_eq!(range(json!(-2), Value::Null).await, numbers(150, 200));
    assert_eq!(range(Value::Null, json!(0)).await, "152");
    assert_eq!(range(json!(47), json!(1000)).await, numbers(199, 200));
    mcp.close().await;
}

#[tokio::test]
async fn wrapped_lines_are_joined_by_default() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let long = "abcdefghij".repeat(30);
    let command = format!("for n in $(seq 1 20); do echo $n {long}; done; printf end; exec cat");
    let made = mcp.call("create_session", json!({"command": command, "width": 40, "height": 10}));
    let target = string(&made.await.ok()["pane_id"]);
    shows(&mcp, &target, "end").await;
    let joined = text(&mcp, json!({"target": target, "lines": 12})).await;
    let expected: Vec<String> = (10..=20).map(|n| format!("{n} {long}")).collect();
    assert_eq!(joined, format!("{}\nend", expected.join("\n")));
    let apart = text(&mcp, json!({"target": target, "lines": 3, "join": false})).await;
    let row = format!("20 {long}");
    assert_eq!(apart, format!("{}\n{}\nend", &row[240..280], &row[280..]));
    mcp.close().await;
}

#[tokio::test]
async fn only_colours_are_kept_on_request() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "printf '\\033[1;31mred\\033[0m \\033]8;;http://x.example\\033\\\\link\\033]8;;\\033\\\\ \
                   \\033]0;title\\007plain'; exec cat";
    let target = ready_pane(&mcp, command, "plain").await;
    assert_eq!(screen(&mcp, &target).await, "red link plain");
    let colored = mcp.call("capture_pane", json!({"target": target, "colors": true})).await.text();
    assert!(colored.contains("\u{1b}[1m\u{1b}[31mred"), "{colored:?}");
    assert!(!colored.contains('\u{7}') && !colored.contains("\u{1b}]"), "{colored:?}");
    let rest = colored.replace("\u{1b}[", "");
    assert!(!rest.contains('\u{1b}'), "{colored:?}");
    mcp.close().await;
}

#[tokio::test]
async fn invisible_characters_are_removed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let hostile = "safe\u{202e}txt\u{202c} ze\u{200b}ro\u{2060} ta\u{e0041}g bom\u{feff} end";
    let file = tmux.home().join("hostile");
    std::fs::write(&file, hostile).unwrap();
    let command = format!("cat {}; printf '\\001\\033(0\\033(B.'; exec cat", file.display());
    let target = ready_pane(&mcp, &command, "end").await;
    for colors in [false, true] {
        let got = text(&mcp, json!({"target": target, "colors": colors})).await;
        assert!(got.is_ascii(), "{got:?}");
        assert!(got.starts_with("safetxt zero tag bom"), "{got:?}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn wide_characters_stay_whole() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let line = "漢字かな 🙂 café → ñ";
    let file = tmux.home().join("wide");
    std::fs::write(&file, format!("{line}\n{}\n", "漢字".repeat(120))).unwrap();
    let target = ready_pane(&mcp, &format!("cat {}; printf end; cat", file.display()), "end").await;
    let got = screen(&mcp, &target).await;
    assert_eq!(got, format!("{line}\n{}\nend", "漢字".repeat(120)));
    mcp.close().await;
}

#[tokio::test]
async fn an_exited_pane_is_read_completely() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for count in [1, 3, 48, 49, 120] {
        let target = pane(&mcp, &format!("seq 1 {count}; exit 4")).await;
        exited(&mcp, &target).await;
        // The screen alone if all lines fit on it; otherwise with history.
        let lines = if count > 49 { json!(200) } else { Value::Null };
        let got = text(&mcp, json!({"target": target, "lines": lines})).await;
        // tmux 3.2a always prints its exit notice.
        let got: Vec<&str> = got.lines().filter(|line| !line.starts_with("Pane is dead")).collect();
        assert_eq!(got.join("\n").trim_end(), numbers(1, count), "{count} lines");
        let facts = mcp.call("capture_pane", json!({"target": target})).await.text();
        assert!(facts.starts_with(&format!("{target} · exited 4 · ")), "{facts}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn a_line_scrolled_by_the_notice_is_read() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    let start = ["new-window", "-d", "-t", "main:", "-P", "-F", "#{pane_id}", "seq 1 22; read x"];
    let target = tmux.tmux(&start);
    shows(&mcp, &target, "22").await;
    tmux.tmux(&["send-keys", "-t", &target, "Enter"]);
    exited(&mcp, &target).await;
    let got = text(&mcp, json!({"target": target})).await;
    assert!(got.starts_with(&numbers(1, 22)), "{got}");
    mcp.close().await;
}

#[tokio::test]
async fn long_text_is_cut_at_the_beginning() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\ntext = 200").await;
    let target = ready_pane(&mcp, "seq -w 1 500; exec cat", "500").await;
    let whole = mcp.call("capture_pane", json!({"target": target, "lines": 500})).await.ok();
    assert_eq!(whole["truncated"], true);
    assert_eq!(whole["lines_cut"], 450);
    assert_eq!(string(&whole["text"]), numbers(451, 500));
    let facts = mcp.call("capture_pane", json!({"target": target, "lines": 500})).await.text();
    let facts = facts.lines().next().unwrap();
    assert!(facts.contains("first 450 lines cut") && facts.contains("start and end"), "{facts}");
    // Lines 401 to 450: the screen begins with 452.
    let rest = text(&mcp, json!({"target": target, "start": -51, "end": -2})).await;
    assert_eq!(rest, numbers(401, 450));
    mcp.close().await;
}

#[tokio::test]
async fn the_default_limit_is_16000_characters() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "seq 100001 105000; exec cat", "105000").await;
    let whole = mcp.call("capture_pane", json!({"target": target, "lines": 5000})).await.ok();
    let kept = string(&whole["text"]);
    assert!(kept.len() <= 16_000 && kept.len() > 15_980, "{} characters", kept.len());
    assert!(kept.ends_with("105000") && whole["truncated"] == true);
    let count = kept.lines().count() as u64 + whole["lines_cut"].as_u64().unwrap();
    assert_eq!(count, 5000);
    mcp.close().await;
}

#[tokio::test]
async fn contradicting_arguments_are_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    for (arguments, words) in [
        (json!({"target": "main", "lines": 3, "start": 0}), "`lines`"),
        (json!({"target": "main", "lines": 3, "end": 0}), "`lines`"),
        (json!({"target": "main", "lines": 0}), "`lines`"),
        (json!({"target": "main", "start": 3, "end": 1}), "`start` 3"),
        (json!({"target": "main", "lines": -4}), "-4"),
        (json!({"target": "main", "colours": true}), "`colors`"),
        (json!({}), "`target` is missing"),
    ] {
        let error = mcp.call("capture_pane", arguments.clone()).await.err("invalid_argument");
        assert!(error.contains(words) && error.contains("Next: "), "{arguments}: {error}");
    }
    mcp.call("capture_pane", json!({"target": "%5"})).await.err("not_found");
    mcp.close().await;
}

/// An editor fills the rows behind its text with blanks.
#[tokio::test]
async fn empty_rows_of_an_editor_cost_little() {
    let tmux = TmuxServer::new();
    tmux.use_shell(Shell::Bash);
    let mcp = serve(&tmux).await;
    let draw = "perl -e '$| = 1; print \"\\e[?1049h\\e[2J\\e[94m\"; \
                print \"\\e[$_;1H~\" . \" \" x 199 for 2..49; print \"\\e[50;1H\\e[0;44mstatus  \\e[0m\"; sleep 1000'";
    let call = json!({"command": draw, "until": ["text:status"], "timeout": 20});
    let mut answer = mcp.call("start_and_watch", call).await.text();
    let target = answer.split_whitespace().find(|word| word.starts_with('%')).unwrap().to_owned();
    for (tool, arguments) in [
        ("start_and_watch", Value::Null),
        ("wait_for", json!({"target": target, "until": ["stable:0.2"]})),
        ("capture_pane", json!({"target": target})),
        ("capture_pane", json!({"target": target, "colors": true})),
        ("capture_pane", json!({"target": target, "colors": true, "lines": 50})),
        ("snapshot_pane", json!({"target": target})),
    ] {
        if tool != "start_and_watch" {
            answer = mcp.call(tool, arguments.clone()).await.text();
        }
        assert!(answer.len() < 600, "{tool} {arguments}: {} bytes", answer.len());
        let (_, rows) = answer.split_once('\n').unwrap();
        assert_eq!(rows.matches('~').count(), 48, "{tool} {arguments}: {answer}");
        // Blanks that can be seen stay.
        let coloured = arguments.get("colors").is_some();
        assert!(!coloured || answer.contains("[44mstatus  "), "{tool} {arguments}: {answer:?}");
    }
    mcp.close().await;
}
