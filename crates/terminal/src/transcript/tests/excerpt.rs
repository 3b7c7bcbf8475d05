//! Tests of excerpts: no line is omitted without a notice, and the numbers in notices are right.

use regex::Regex;

use super::super::excerpt::{Excerpt, LineSelection, excerpt};
use super::*;

/// A usual limit of characters.
const MAX_CHARS: usize = 16_000;

fn shown(view: &TranscriptView<'_>, selection: LineSelection, max_chars: usize) -> Excerpt {
    let call = |arguments: &str| format!("command_result(command_id=\"c7\", {arguments})");
    excerpt(view, &selection, max_chars, &call).unwrap()
}

fn numbered_lines(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("line {n}")).collect()
}

/// The argument `from` of the call in a notice.
fn from_argument(notice: &str) -> u64 {
    assert!(notice.contains("command_result(command_id=\"c7\", from="), "{notice}");
    numbers(notice.split_once("from=").unwrap().1)[0] as u64
}

proptest! {
    #[test]
    fn omitted_lines_are_those_of_the_notice(
        lines in vec("[a-cé漢]{0,9}", 0..60),
        pending in pending_rows(),
        max_lines in 1u64..70,
        max_chars in 40usize..500,
    ) {
        let all = [lines.clone(), pending.clone()].concat();
        for transcript in in_memory_and_file(&lines) {
            let view = TranscriptView::new(&transcript, &pending);
            let got = shown(&view, LineSelection::BothEnds { max_lines }, max_chars);
            prop_assert_eq!(got.total_lines, all.len() as u64);
            if !got.truncated {
                prop_assert_eq!(&got.text, &all.join("\n"));
                prop_assert_eq!((got.shown_lines, got.next), (got.total_lines, None));
                continue;
            }
            let fits = chars(&all.join("\n")) <= max_chars && all.len() as u64 <= max_lines;
            prop_assert!(!fits);
            let notice = got.text.lines().find(|line| line.starts_with('…')).unwrap();
            let numbers = numbers(notice);
            let last = if notice.contains("lines") { numbers[1] } else { numbers[0] };
            let (a, b) = (numbers[0], last);
            let kept = [&all[..a - 1], &[notice.to_owned()], &all[b..]].concat();
            prop_assert_eq!(&got.text, &kept.join("\n"));
            prop_assert_eq!(numbers[if a == b { 1 } else { 2 }], all.len());
            prop_assert_eq!((from_argument(notice), got.next), (a as u64, Some(a as u64)));
            prop_assert_eq!(got.shown_lines as usize, all.len() - (b + 1 - a));
            prop_assert!(got.shown_lines <= max_lines);
            let hidden = shown(&view, LineSelection::From(a as u64), 0);
            prop_assert_eq!(hidden.text, all[a - 1..].join("\n"));
        }
    }

    #[test]
    fn pages_together_are_the_whole_transcript(
        lines in any_lines(),
        max_chars in 70usize..300,
    ) {
        let [_, transcript] = in_memory_and_file(&lines);
        let view = TranscriptView::new(&transcript, &[]);
        let (mut next, mut read) = (Some(1), Vec::new());
        while let Some(line) = next {
            let page = shown(&view, LineSelection::From(line), max_chars);
            let mut text = page.text.as_str();
            if page.truncated {
                let (before, notice) = text.rsplit_once('\n').unwrap();
                prop_assert_eq!(numbers(notice)[0] as u64, page.total_lines - page.next.unwrap() + 1);
                prop_assert_eq!(Some(from_argument(notice)), page.next);
                text = before;
            }
            prop_assert!(chars(text) <= max_chars);
            if page.shown_lines > 0 {
                read.push(text.to_owned());
            }
            next = page.next;
        }
        prop_assert_eq!(read.join("\n"), lines.join("\n"));
    }
}

#[test]
fn long_output_shows_both_ends() {
    let transcript = filled(numbered_lines(5412));
    let view = TranscriptView::new(&transcript, &[]);
    let got = shown(&view, LineSelection::BothEnds { max_lines: 201 }, MAX_CHARS);
    let lines: Vec<&str> = got.text.lines().collect();
    assert_eq!(
        lines[99..=101],
        [
            "line 100",
            "… lines 101–5311 of 5412 left out; command_result(command_id=\"c7\", from=101) shows them …",
            "line 5312"
        ]
    );
    assert_eq!((lines[0], lines[201]), ("line 1", "line 5412"));
    assert_eq!((got.shown_lines, got.total_lines, got.next), (201, 5412, Some(101)));
    assert!(shown(&view, LineSelection::From(101), MAX_CHARS).text.starts_with("line 101\n"));
}

#[test]
fn characters_limit_each_half() {
    let transcript = filled(vec!["x".repeat(99); 1000]);
    let view = TranscriptView::new(&transcript, &[]);
    let got = shown(&view, LineSelection::BothEnds { max_lines: 2000 }, MAX_CHARS);
    assert_eq!((got.shown_lines, got.next), (160, Some(81)));
    let whole = shown(&view, LineSelection::BothEnds { max_lines: 0 }, MAX_CHARS);
    assert_eq!((chars(&whole.text), whole.truncated), (99_999, false));
}

#[test]
fn notice_of_one_line_is_singular() {
    let transcript = filled(numbered_lines(5));
    let got = shown(
        &TranscriptView::new(&transcript, &[]),
        LineSelection::BothEnds { max_lines: 4 },
        MAX_CHARS,
    );
    assert_eq!(
        got.text.lines().nth(2).unwrap(),
        "… line 3 of 5 left out; command_result(command_id=\"c7\", from=3) shows it …"
    );
}

#[test]
fn giant_line_is_cut_in_its_middle() {
    let giant = "漢字".repeat(100_000);
    for around in [0, 1, 7] {
        let mut lines = vec!["short".to_owned(); around];
        lines.insert(around / 2, giant.clone());
        let transcript = filled(&lines);
        let view = TranscriptView::new(&transcript, &[]);
        let got = shown(&view, LineSelection::BothEnds { max_lines: 200 }, MAX_CHARS);
        assert_eq!((got.shown_lines, got.truncated), (lines.len() as u64, true));
        let line = got.text.lines().nth(around / 2).unwrap();
        let (start, rest) = line.split_once("… [").unwrap();
        let (notice, end) = rest.split_once("] …").unwrap();
        let numbers = numbers(notice);
        assert_eq!(numbers[0], 200_000 - chars(start) - chars(end), "{notice}");
        assert!(chars(start) >= 7900 && giant.starts_with(start), "{notice}");
        assert!(chars(end) >= 7900 && giant.ends_with(end), "{notice}");
        assert!(chars(start) + chars(end) <= MAX_CHARS, "{notice}");
        let whole =
            shown(&view, LineSelection::From(from_argument(notice)), *numbers.last().unwrap());
        assert!(whole.text.lines().next().unwrap() == giant);
        assert_eq!(whole.shown_lines, 1);
    }
}

#[test]
fn long_line_uses_the_budget_completely() {
    let transcript = filled(["éé", "0123456789", "éé"]);
    let view = TranscriptView::new(&transcript, &[]);
    let whole = shown(&view, LineSelection::BothEnds { max_lines: 9 }, 16);
    assert_eq!((whole.text.as_str(), whole.truncated), ("éé\n0123456789\néé", false));
    assert_eq!(
        shown(&view, LineSelection::BothEnds { max_lines: 9 }, 15).text,
        "éé\n01234… [+1 characters; command_result(command_id=\"c7\", from=2, max_chars=10) \
         shows the line] …6789\néé"
    );
}

#[test]
fn giant_lines_at_both_ends_are_cut() {
    let giants = [1, 2].map(|n| n.to_string().repeat(50_000));
    let transcript = filled([&giants[0], "one", "two", &giants[1]]);
    let got = shown(
        &TranscriptView::new(&transcript, &[]),
        LineSelection::BothEnds { max_lines: 200 },
        MAX_CHARS,
    );
    let lines: Vec<&str> = got.text.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(numbers(&lines[0].replace("11", ""))[..3], [42_000, 7, 1], "{}", lines[0]);
    assert!(lines[1].starts_with("… lines 2–3 of 4 left out"), "{}", lines[1]);
    assert!(lines[2].contains("… [+42000 characters;") && lines[2].ends_with("222"));
    assert_eq!((got.shown_lines, got.next), (2, Some(2)));
}

#[test]
fn head_shows_the_first_lines() {
    let transcript = filled(numbered_lines(1000));
    let view = TranscriptView::new(&transcript, &strings(["pending"]));
    let got = shown(&view, LineSelection::Head(2), MAX_CHARS);
    assert_eq!((got.text.as_str(), got.truncated, got.next), ("line 1\nline 2", false, Some(3)));
    let got = shown(&view, LineSelection::Head(5000), 0);
    assert!(got.text.ends_with("line 1000\npending") && got.next.is_none() && !got.truncated);
    let got = shown(&view, LineSelection::Head(500), 19);
    assert_eq!(
        got.text,
        "line 1\nline 2\n… 999 more lines; go on with command_result(command_id=\"c7\", from=3) …"
    );
    assert_eq!((got.shown_lines, got.truncated, got.next), (2, true, Some(3)));
    assert_eq!(shown(&view, LineSelection::Head(0), MAX_CHARS).shown_lines, 0);
}

#[test]
fn tail_shows_the_last_lines() {
    let transcript = filled(numbered_lines(1000));
    let view = TranscriptView::new(&transcript, &strings(["pending"]));
    let got = shown(&view, LineSelection::Tail(2), MAX_CHARS);
    assert_eq!((got.text.as_str(), got.truncated, got.next), ("line 1000\npending", false, None));
    let got = shown(&view, LineSelection::Tail(10), 17);
    assert_eq!(
        got.text,
        "… lines 992–999 of 1001 left out; command_result(command_id=\"c7\", from=992) shows them …\n\
         line 1000\npending"
    );
    assert_eq!((got.shown_lines, got.truncated, got.next), (2, true, Some(992)));
    let got = shown(&view, LineSelection::Tail(2), 4);
    assert_eq!(
        got.text,
        "… line 1000 of 1001 left out; command_result(command_id=\"c7\", from=1000) shows it …\n\
         pe… [+3 characters; command_result(command_id=\"c7\", from=1001, max_chars=7) shows the line] …ng"
    );
    assert_eq!((got.shown_lines, got.next), (1, Some(1000)));
    assert_eq!(shown(&view, LineSelection::Tail(0), MAX_CHARS).text, "");
}

#[test]
fn from_continues_after_a_long_line() {
    let transcript = filled(["abcdefgh", "next"]);
    let view = TranscriptView::new(&transcript, &[]);
    let got = shown(&view, LineSelection::From(1), 3);
    assert_eq!(
        got.text,
        "abc… [+5 characters; command_result(command_id=\"c7\", from=1, max_chars=8) shows the line]\n\
         … 1 more line; go on with command_result(command_id=\"c7\", from=2) …"
    );
    assert_eq!((got.shown_lines, got.truncated, got.next), (1, true, Some(2)));
    let got = shown(&view, LineSelection::From(2), 3);
    assert_eq!((got.shown_lines, got.truncated, got.next), (1, true, None));
    for beyond in [3, u64::MAX] {
        let got = shown(&view, LineSelection::From(beyond), 3);
        assert_eq!((got.text.as_str(), got.shown_lines, got.truncated), ("", 0, false));
        assert_eq!((got.total_lines, got.next), (2, None));
    }
    assert_eq!(shown(&view, LineSelection::From(0), 0).text, "abcdefgh\nnext");
}

#[test]
fn notice_of_a_search_names_the_next_line() {
    let transcript = filled(numbered_lines(1000));
    let view = TranscriptView::new(&transcript, &[]);
    let search = |from| LineSelection::Grep { regex: Regex::new("0$").unwrap(), context: 1, from };
    let got = shown(&view, search(1), 60);
    assert_eq!(
        got.text,
        "9-line 9\n10:line 10\n11-line 11\n--\n19-line 19\n20:line 20\n\
         … 2 matches up to line 20 of 1000; go on with command_result(command_id=\"c7\", from=21) \
         and the same grep …"
    );
    assert_eq!((got.shown_lines, got.matches, got.next), (5, Some(2), Some(21)));
    assert!(got.truncated);
    assert!(shown(&view, search(21), 60).text.starts_with("21-line 21\n--\n29-"));
    let got = shown(&view, search(995), MAX_CHARS);
    assert_eq!(got.text, "999-line 999\n1000:line 1000");
    assert_eq!((got.truncated, got.next, got.matches), (false, None, Some(1)));
    let none = LineSelection::Grep { regex: Regex::new("nothing").unwrap(), context: 3, from: 0 };
    let got = shown(&view, none, MAX_CHARS);
    assert_eq!((got.text.as_str(), got.shown_lines, got.matches), ("", 0, Some(0)));
}
