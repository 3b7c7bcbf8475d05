//! `capture_since`: the lines after a cursor.

use serde_json::{Value, json};
use testkit::{Mcp, TmuxServer, until};

use crate::support::{exited, keys, pane, ready_pane, shows, string};
use crate::{launch, serve, serve_configured};

/// An answer of `capture_since`.
#[derive(Debug)]
struct Since {
    cursor: String,
    lines: Vec<String>,
    whole: Value,
}

fn parse(whole: Value) -> Since {
    let lines = whole["lines"].as_array().unwrap().iter().map(string).collect();
    Since { cursor: string(&whole["cursor"]), lines, whole }
}

async fn first(mcp: &Mcp, target: &str) -> Since {
    parse(mcp.call("capture_since", json!({"target": target})).await.ok())
}

async fn since(mcp: &Mcp, cursor: &str) -> Since {
    parse(mcp.call("capture_since", json!({"cursor": cursor})).await.ok())
}

/// The numbers from one to another, as text.
fn number_lines(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|n| n.to_string()).collect()
}

/// Opens a pane of 80x24 in `main`, and waits until it shows `ready`.
async fn small_pane(tmux: &TmuxServer, mcp: &Mcp, command: &str, ready: &str) -> String {
    let start = ["new-window", "-d", "-t", "=main:", "-P", "-F", "#{pane_id}", command];
    let pane = tmux.tmux(&start);
    shows(mcp, &pane, ready).await;
    pane
}

/// Presses Enter and waits until the pane shows `text`.
async fn press_enter(tmux: &TmuxServer, mcp: &Mcp, pane: &str, text: &str) {
    tmux.tmux(&["send-keys", "-t", pane, "Enter"]);
    shows(mcp, pane, text).await;
}

/// Turns echo off, so that a pane shows only what its program prints.
const NO_ECHO: &str = "stty -echo; ";

#[tokio::test]
async fn every_new_line_is_returned_once() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "sh -c 'stty -echo; printf ready; read x; echo; seq 1 500; exec sleep 1000'";
    let target = ready_pane(&mcp, command, "ready").await;
    let start = first(&mcp, &target).await;
    assert_eq!(start.lines, ["ready"]);
    assert_eq!(keys(&start.whole), ["cursor", "lines", "pane_id"]);
    assert_eq!(start.whole["pane_id"], target);
    assert!(start.cursor.len() <= 40, "{}", start.cursor);
    assert_eq!(since(&mcp, &start.cursor).await.lines, [""; 0]);
    press_enter(&tmux, &mcp, &target, "500").await;
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.lines, number_lines(1, 500));
    assert_eq!(keys(&new.whole), ["cursor", "lines", "pane_id"]);
    let nothing = since(&mcp, &new.cursor).await;
    assert_eq!(nothing.lines, [""; 0]);
    // The same cursor gives the same answer, also with a target and in another process.
    let both = json!({"cursor": start.cursor, "target": target});
    let again = parse(mcp.call("capture_since", both).await.ok());
    assert_eq!(again.lines, new.lines);
    let other = serve(&tmux).await;
    assert_eq!(since(&other, &start.cursor).await.lines, new.lines);
    assert_eq!(since(&other, &nothing.cursor).await.lines, [""; 0]);
    other.close().await;
    mcp.close().await;
}

#[tokio::test]
async fn a_cursor_of_an_empty_pane_works() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "sh -c 'read x; seq 1 500; exec sleep 1000'";
    for target in [pane(&mcp, command).await, small_pane(&tmux, &mcp, command, "").await] {
        let start = first(&mcp, &target).await;
        assert_eq!(start.lines, [""; 0]);
        // The terminal echoes this Enter, which is not a line of the program.
        press_enter(&tmux, &mcp, &target, "500").await;
        assert_eq!(since(&mcp, &start.cursor).await.lines, number_lines(1, 500));
    }
    mcp.close().await;
}

#[tokio::test]
async fn shell_lines_include_command_and_next_prompt() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let start = first(&mcp, "main").await;
    assert_eq!(start.lines, ["$"]);
    tmux.tmux(&["send-keys", "-t", "main", "seq 1 500", "Enter"]);
    until("the prompt is back", async || {
        let screen = tmux.tmux(&["capture-pane", "-p", "-t", "main"]);
        screen.trim_end().ends_with("500\n$").then_some(())
    })
    .await;
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.lines[0], "$ seq 1 500");
    assert_eq!(new.lines[1..501], number_lines(1, 500));
    assert_eq!(new.lines[501..], ["$"]);
    assert_eq!(since(&mcp, &new.cursor).await.lines, [""; 0]);
    // A partly typed line is returned whole.
    tmux.tmux(&["send-keys", "-t", "main", "echo hi"]);
    shows(&mcp, "main", "echo hi").await;
    let typed = since(&mcp, &new.cursor).await;
    assert_eq!(typed.lines, ["$ echo hi"]);
    assert_eq!(since(&mcp, &typed.cursor).await.lines, [""; 0]);
    mcp.close().await;
}

#[tokio::test]
async fn the_default_answer_is_facts_and_lines() {
    let tmux = TmuxServer::new();
    let mcp = launch(&tmux).mcp().await;
    let result = mcp.call("capture_since", json!({"target": "main"})).await.result();
    assert_eq!(result.structured_content, None);
    let text = result.content[0].as_text().unwrap().text.clone();
    let (facts, lines) = text.split_once('\n').unwrap();
    let (before, cursor) = facts.rsplit_once(" · cursor ").unwrap();
    assert_eq!((before, lines), ("%0 · 1 line on the screen", "$"));
    tmux.tmux(&["send-keys", "-t", "main", "echo a; echo; echo b", "Enter"]);
    until("the prompt is back", async || {
        let screen = tmux.tmux(&["capture-pane", "-p", "-t", "main"]);
        screen.contains("a\n\nb\n$").then_some(())
    })
    .await;
    let text = mcp.call("capture_since", json!({"cursor": cursor})).await.text();
    let (facts, lines) = text.split_once('\n').unwrap();
    assert!(facts.starts_with("%0 · 5 new lines · cursor "), "{facts}");
    assert_eq!(lines, "$ echo a; echo; echo b\na\n\nb\n$");
    let cursor = facts.rsplit_once(' ').unwrap().1;
    let text = mcp.call("capture_since", json!({"cursor": cursor})).await.text();
    assert_eq!(text, format!("%0 · nothing new · cursor {cursor}"));
    mcp.close().await;
}

#[tokio::test]
async fn trimmed_lines_are_reported_as_missed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["set-option", "-g", "history-limit", "100"]);
    for before in ["printf ready", "seq 1 60; printf ready"] {
        let command = format!("{NO_ECHO}{before}; read x; echo; seq 1 5000; read y");
        let target = small_pane(&tmux, &mcp, &command, "ready").await;
        let start = first(&mcp, &target).await;
        press_enter(&tmux, &mcp, &target, "5000").await;
        let new = since(&mcp, &start.cursor).await;
        assert_eq!(new.whole["lines_missed"], true);
        let count = new.lines.len() as u32;
        assert_eq!(new.lines, number_lines(5001 - count, 5000));
        assert!(count >= 110, "{count} lines");
        let nothing = since(&mcp, &new.cursor).await;
        assert_eq!(nothing.lines, [""; 0]);
        assert_eq!(nothing.whole.get("lines_missed"), None);
        let text = mcp.call("capture_since", json!({"cursor": start.cursor})).await.text();
        assert!(text.lines().next().unwrap().contains("lines may be missing"), "{text}");
    }
    mcp.close().await;
}

#[tokio::test]
async fn full_history_does_not_count_as_missed() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["set-option", "-g", "history-limit", "1000"]);
    let command =
        "stty -echo; seq 1 3000; for n in 1 2 3 4 5; do read x; seq ${n}001 ${n}050; done; read y";
    let target = small_pane(&tmux, &mcp, command, "3000").await;
    let mut cursor = first(&mcp, &target).await.cursor;
    for round in 1..=5 {
        press_enter(&tmux, &mcp, &target, &format!("{round}050")).await;
        let new = since(&mcp, &cursor).await;
        assert_eq!(new.lines, number_lines(round * 1000 + 1, round * 1000 + 50));
        assert_eq!(new.whole.get("lines_missed"), None);
        cursor = new.cursor;
    }
    mcp.close().await;
}

#[tokio::test]
async fn identical_lines_are_counted() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command =
        "stty -echo; yes same | head -300; read x; yes same | head -70; printf end; read y";
    let target = small_pane(&tmux, &mcp, command, "same").await;
    until("all lines are printed", async || {
        let rows = tmux.tmux(&["display-message", "-p", "-t", &target, "#{history_size}"]);
        (rows == "277").then_some(())
    })
    .await;
    let start = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "end").await;
    let new = since(&mcp, &start.cursor).await;
    let mut expected = vec!["same".to_owned(); 70];
    expected.push("end".to_owned());
    assert_eq!(new.lines, expected);
    mcp.close().await;
}

#[tokio::test]
async fn a_cursor_survives_a_resize() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let long = "0123456789".repeat(15);
    let print =
        |from: u32, to: u32| format!("for n in $(seq {from} {to}); do echo $n {long}; done");
    let command = format!(
        "{NO_ECHO}{}; read x; {}; read y; {}; read z",
        print(1, 60),
        print(61, 63),
        print(64, 70)
    );
    let target = small_pane(&tmux, &mcp, &command, "60 012").await;
    let start = first(&mcp, &target).await;
    assert_eq!(start.lines.last().unwrap(), &format!("60 {long}"));
    let mut expected: Vec<String> = (61..=70).map(|n| format!("{n} {long}")).collect();
    press_enter(&tmux, &mcp, &target, "63 012").await;
    let early = since(&mcp, &start.cursor).await;
    assert_eq!(early.lines, expected[..3]);
    tmux.tmux(&["resize-window", "-t", &target, "-x", "47", "-y", "20"]);
    press_enter(&tmux, &mcp, &target, "70 012").await;
    assert_eq!(since(&mcp, &start.cursor).await.lines, expected);
    tmux.tmux(&["resize-window", "-t", &target, "-x", "200", "-y", "50"]);
    expected.drain(..3);
    assert_eq!(since(&mcp, &early.cursor).await.lines, expected);
    mcp.close().await;
}

#[tokio::test]
async fn a_cursor_survives_a_change_of_height() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "stty -echo; seq 1 60; read x; seq 61 63; read y";
    let target = small_pane(&tmux, &mcp, command, "60").await;
    let start = first(&mcp, &target).await;
    for height in ["10", "40", "24"] {
        tmux.tmux(&["resize-window", "-t", &target, "-x", "80", "-y", height]);
        assert_eq!(since(&mcp, &start.cursor).await.lines, [""; 0]);
    }
    press_enter(&tmux, &mcp, &target, "63").await;
    assert_eq!(since(&mcp, &start.cursor).await.lines, number_lines(61, 63));
    mcp.close().await;
}

#[tokio::test]
async fn a_cursor_survives_cleared_history() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "stty -echo; seq 1 100; read x; seq 101 105; read y; seq 106 110; read z; \
                   seq 111 400; read end";
    let target = small_pane(&tmux, &mcp, command, "100").await;
    let start = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "105").await;
    tmux.tmux(&["clear-history", "-t", &target]);
    assert_eq!(since(&mcp, &start.cursor).await.lines, number_lines(101, 105));
    press_enter(&tmux, &mcp, &target, "110").await;
    assert_eq!(since(&mcp, &start.cursor).await.lines, number_lines(101, 110));
    // Lines that were printed and cleared are missed.
    press_enter(&tmux, &mcp, &target, "400").await;
    tmux.tmux(&["clear-history", "-t", &target]);
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.lines, number_lines(378, 400));
    assert_eq!(new.whole["lines_missed"], true);
    mcp.close().await;
}

#[tokio::test]
async fn lines_after_a_cleared_screen_are_new() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    // tmux moves a cleared screen into history, unless the program clears that too.
    let command = "stty -echo; seq 1 100; read x; printf '\\033[H\\033[2J'; seq 101 105; read y; \
                   printf '\\033[H\\033[2J\\033[3J'; seq 106 110; read z";
    let target = small_pane(&tmux, &mcp, command, "100").await;
    let start = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "105").await;
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.lines, number_lines(101, 105));
    assert_eq!(new.whole.get("lines_missed"), None);
    press_enter(&tmux, &mcp, &target, "110").await;
    let new = since(&mcp, &new.cursor).await;
    assert_eq!(new.lines, number_lines(106, 110));
    assert_eq!(new.whole["lines_missed"], true);
    mcp.close().await;
}

#[tokio::test]
async fn rewritten_lines_are_returned_again() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "stty -echo; seq 1 30; printf 'a 1%%\\nb 1%%\\nc 1%%\\n'; read x; \
                   printf '\\033[2A\\rb 50%%\\033[2B\\rgo\\n'; read y";
    let target = small_pane(&tmux, &mcp, command, "c 1%").await;
    let start = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "go").await;
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.lines, ["b 50%", "c 1%", "go"]);
    assert_eq!(new.whole.get("lines_missed"), None);
    mcp.close().await;
}

#[tokio::test]
async fn invalid_cursors_are_refused() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "printf ready; exec cat", "ready").await;
    let cursor = first(&mcp, &target).await.cursor;
    let mut broken = cursor.clone();
    broken.pop();
    let refused = async |arguments: Value, words: &[&str]| {
        let error = mcp.call("capture_since", arguments).await.err("invalid_argument");
        for word in words.iter().chain(&["`target`"]) {
            assert!(error.contains(word), "{word}: {error}");
        }
    };
    refused(json!({}), &["neither `target` nor `cursor`"]).await;
    refused(json!({"cursor": "garbage"}), &["`garbage` is not a cursor", "start anew"]).await;
    refused(json!({"cursor": ""}), &["is not a cursor"]).await;
    refused(json!({"cursor": broken}), &["is not a cursor"]).await;
    let other = json!({"cursor": cursor, "target": "main"});
    refused(other, &[&format!("of pane {target}"), "`main` is %0", "start anew"]).await;
    tmux.tmux(&["respawn-pane", "-k", "-t", &target, "printf again; exec cat"]);
    shows(&mcp, &target, "again").await;
    refused(json!({"cursor": cursor}), &["respawned", "start anew"]).await;
    let anew = first(&mcp, &target).await;
    assert_eq!(anew.lines, ["again"]);
    tmux.tmux(&["kill-pane", "-t", &target]);
    let error = mcp.call("capture_since", json!({"cursor": anew.cursor})).await.err("not_found");
    assert!(error.contains(&target), "{error}");
    mcp.close().await;
}

#[tokio::test]
async fn the_last_output_is_new_after_exit() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    tmux.tmux(&["set-option", "-g", "remain-on-exit", "on"]);
    for count in [3, 22, 23, 60] {
        let command =
            format!("{NO_ECHO}seq 1 {count}; read x; echo last; printf words; read y; exit 3");
        let own = ready_pane(&mcp, &command, &count.to_string()).await;
        let theirs = small_pane(&tmux, &mcp, &command, &count.to_string()).await;
        for target in [own, theirs] {
            let start = first(&mcp, &target).await;
            // Older versions of tmux may lose output just before an exit.
            press_enter(&tmux, &mcp, &target, "words").await;
            tmux.tmux(&["send-keys", "-t", &target, "Enter"]);
            exited(&mcp, &target).await;
            let new = since(&mcp, &start.cursor).await;
            assert_eq!(new.lines, ["last", "words"], "{count} {target}");
            assert_eq!(since(&mcp, &new.cursor).await.lines, [""; 0]);
            let text = mcp.call("capture_since", json!({"cursor": start.cursor})).await.text();
            assert!(text.starts_with(&format!("{target} · 2 new lines · exited 3 · ")), "{text}");
            let anew = first(&mcp, &target).await.lines;
            assert_eq!(anew.last().unwrap(), "words");
            assert!(anew.len() <= count + 2);
        }
    }
    mcp.close().await;
}

#[tokio::test]
async fn full_screen_programs_return_only_changed_rows() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let command = "stty -echo; seq 1 100; read x; echo before; \
                   printf '\\033[?1049h\\033[2J\\033[HTitle\\033[3;1Hrow two\\033[10;1Hstatus 1'; read y; \
                   printf '\\033[3;1H\\033[K\\033[5;1Hrow four\\033[10;8H2'; read z; \
                   printf '\\033[?1049l'; echo after; read end";
    let target = small_pane(&tmux, &mcp, command, "100").await;
    let main = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "status 1").await;
    let all = ["Title", "row two", "status 1"];
    let inside = since(&mcp, &main.cursor).await;
    assert_eq!(inside.lines, all);
    assert_eq!(inside.whole["rows"], json!([0, 2, 9]));
    assert_eq!(inside.whole["alternate_screen"], true);
    assert!(inside.cursor.len() <= 40, "{}", inside.cursor);
    let fresh = first(&mcp, &target).await;
    assert_eq!(
        (&fresh.lines[..], &fresh.whole["rows"]),
        (&all.map(str::to_owned)[..], &json!([0, 2, 9]))
    );
    let other = serve(&tmux).await;
    for process in [&mcp, &other] {
        let same = since(process, &inside.cursor).await;
        assert_eq!((same.lines.len(), &same.whole["rows"]), (0, &json!([])));
    }
    press_enter(&tmux, &mcp, &target, "status 2").await;
    for cursor in [&inside.cursor, &fresh.cursor] {
        let changed = since(&mcp, cursor).await;
        assert_eq!(changed.lines, ["", "row four", "status 2"]);
        assert_eq!(changed.whole["rows"], json!([2, 4, 9]));
    }
    other.close().await;
    // A new process has not seen the rows, and returns all that have text.
    let new = serve(&tmux).await;
    assert_eq!(since(&new, &inside.cursor).await.lines, ["Title", "row four", "status 2"]);
    new.close().await;
    let text = mcp.call("capture_since", json!({"cursor": inside.cursor})).await.text();
    assert!(text.contains(" · 3 rows changed · full-screen program · "), "{text}");
    assert!(text.ends_with("\n2: \n4: row four\n9: status 2"), "{text}");
    let last = since(&mcp, &inside.cursor).await;
    press_enter(&tmux, &mcp, &target, "after").await;
    // Lines from before the full-screen program are neither lost nor repeated.
    for (cursor, lines) in [
        (&main.cursor, &["before", "after"][..]),
        (&last.cursor, &["before", "after"]),
        (&fresh.cursor, &["after"]),
    ] {
        let left = since(&mcp, cursor).await;
        assert_eq!(left.lines, lines);
        assert_eq!(left.whole.get("alternate_screen"), None);
    }
    mcp.close().await;
}

#[tokio::test]
async fn long_output_keeps_its_end() {
    let tmux = TmuxServer::new();
    let mcp = serve_configured(&tmux, "[limits]\ntext = 200").await;
    let command =
        "stty -echo; printf ready; read x; echo; seq 101 500; read y; printf %0300d 7; read z";
    let target = ready_pane(&mcp, command, "ready").await;
    let start = first(&mcp, &target).await;
    press_enter(&tmux, &mcp, &target, "500").await;
    let new = since(&mcp, &start.cursor).await;
    assert_eq!(new.whole["truncated"], true);
    assert_eq!(new.lines, number_lines(451, 500));
    let text = mcp.call("capture_since", json!({"cursor": start.cursor})).await.text();
    let facts = text.lines().next().unwrap();
    let (before, place) = facts.split_once("; capture_pane with start ").unwrap();
    assert!(before.ends_with(" · 400 new lines · first 350 lines cut"), "{facts}");
    let (start, rest) = place.split_once(" and end ").unwrap();
    let end = rest.split_once(' ').unwrap().0;
    let (start, end): (i64, i64) = (start.parse().unwrap(), end.parse().unwrap());
    // 402 rows, 50 of them on the screen; the first new row is the second.
    assert_eq!((start, end), (-351, -2));
    let range = json!({"target": target, "start": start, "end": end});
    let rest = mcp.call("capture_pane", range).await.ok();
    let rest = string(&rest["text"]);
    assert!(
        number_lines(101, 450).join("\n").ends_with(&rest) && rest.ends_with("\n450"),
        "{rest}"
    );
    assert_eq!(since(&mcp, &new.cursor).await.lines, [""; 0]);
    // A single line that is too long loses its beginning.
    press_enter(&tmux, &mcp, &target, "0007").await;
    let long = since(&mcp, &new.cursor).await;
    assert_eq!(long.lines, [format!("{:0200}", 7)]);
    let text = mcp.call("capture_since", json!({"cursor": new.cursor})).await.text();
    let cut = " · 1 new line · beginning cut; capture_pane with start 48 shows all of it · ";
    assert!(text.contains(cut), "{text}");
    mcp.close().await;
}

#[tokio::test]
async fn a_busy_pane_is_followed_without_gaps() {
    let tmux = TmuxServer::new();
    let mcp = serve(&tmux).await;
    let target = ready_pane(&mcp, "stty -echo; seq 1 30000; printf end; read x", "1").await;
    let mut got = first(&mcp, &target).await;
    let mut lines = got.lines.clone();
    until("the last line is printed", async || {
        got = since(&mcp, &got.cursor).await;
        assert_eq!(got.whole.get("lines_missed"), None);
        // After a truncated answer the comparison starts again.
        if got.whole.get("truncated").is_some() {
            lines.clear();
        }
        // A number that was printed in part is returned again, whole.
        if let (Some(last), Some(next)) = (lines.last(), got.lines.first())
            && next.starts_with(last.as_str())
            && next.parse() != last.parse::<u32>().map(|n| n + 1)
        {
            lines.pop();
        }
        lines.extend(got.lines.clone());
        (lines.last().map(String::as_str) == Some("end")).then_some(())
    })
    .await;
    lines.pop();
    let first: u32 = lines[0].parse().unwrap();
    assert_eq!(lines, number_lines(first, 30_000));
    mcp.close().await;
}
