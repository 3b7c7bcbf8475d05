//! Tests of bookmarks against a model of tmux's grid.

mod grid;
mod random;

use grid::Grid;

use super::{Bookmark, CaptureRange, ShownScreens, from_replies};

fn numbers(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|n| n.to_string()).collect()
}

fn grid_with(from: u32, to: u32) -> Grid {
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&numbers(from, to));
    grid
}

#[test]
fn printed_lines_are_reported_once() {
    for before in [0, 1, 2, 3, 10, 23, 24, 30, 400] {
        for count in [0, 1, 2, 22, 23, 24, 60, 500] {
            let mut grid = grid_with(1, before);
            let bookmark = grid.bookmark();
            assert_eq!(grid.new_lines(&bookmark), [""; 0]);
            grid.lines(&numbers(10_001, 10_000 + count));
            assert_eq!(
                grid.new_lines(&bookmark),
                numbers(10_001, 10_000 + count),
                "{before} {count}"
            );
            assert_eq!(grid.new_lines(&grid.bookmark()), [""; 0]);
        }
    }
}

#[test]
fn only_the_needed_range_is_captured() {
    let mut grid = grid_with(1, 1000);
    let bookmark = grid.bookmark();
    grid.lines(&numbers(1, 80));
    assert_eq!(grid.since(&bookmark).1, [CaptureRange::NEAR]);
    grid.lines(&numbers(1, 500));
    let (_, ranges) = grid.since(&bookmark);
    assert!(ranges.len() == 2 && ranges[1].back < 800, "{ranges:?}");
    // In a full history only the rows are probed to which trimming can have moved the bookmark.
    let mut grid = Grid::new(80, 24, 10_000);
    grid.lines(&numbers(1, 33_000));
    let bookmark = grid.bookmark();
    grid.lines(&numbers(1, 40));
    let (new, ranges) = grid.since(&bookmark);
    assert_eq!(new.lines, numbers(1, 40));
    assert!(ranges.len() == 2 && ranges[1].back == CaptureRange::NEAR.back, "{ranges:?}");
    assert!((8..=10).contains(&ranges[1].probes.len()), "{ranges:?}");
    // If those look the same, the whole history is captured.
    let mut grid = Grid::new(80, 24, 10_000);
    for _ in 0..33 {
        grid.lines(&numbers(1, 1000));
    }
    let bookmark = grid.bookmark();
    let (new, ranges) = grid.since(&bookmark);
    assert!(new.missed && ranges.last() == Some(&CaptureRange::ALL), "{new:?} {ranges:?}");
}

#[test]
fn open_line_is_repeated_only_if_changed() {
    let mut grid = grid_with(1, 50);
    grid.print("$ ");
    let bookmark = grid.bookmark();
    assert_eq!(grid.new_lines(&bookmark), [""; 0]);
    grid.print("seq 2");
    assert_eq!(grid.new_lines(&bookmark), ["$ seq 2"]);
    grid.print("\n1\n2\n$ ");
    assert_eq!(grid.new_lines(&bookmark), ["$ seq 2", "1", "2", "$"]);
    let bookmark = grid.bookmark();
    grid.print("\n\n$ ");
    assert_eq!(grid.new_lines(&bookmark), ["", "$"]);
    let bookmark = grid.bookmark();
    grid.print("\r");
    assert_eq!(grid.new_lines(&bookmark), [""; 0]);
}

#[test]
fn blank_lines_count_except_the_cursor_row() {
    let mut grid = grid_with(1, 5);
    let bookmark = grid.bookmark();
    // As when Enter is typed for a program that reads a line.
    grid.print("\n");
    assert_eq!(grid.new_lines(&bookmark), [""; 0]);
    grid.print("\n");
    assert_eq!(grid.new_lines(&bookmark), [""]);
    grid.print("x\n\n");
    assert_eq!(grid.new_lines(&bookmark), ["", "x", ""]);
}

#[test]
fn wrapped_line_is_reported_whole() {
    let mut grid = grid_with(1, 30);
    let long = "abcdefghij".repeat(100);
    let bookmark = grid.bookmark();
    grid.lines(&[long.clone(), "x".to_owned(), long.clone()]);
    assert_eq!(grid.new_lines(&bookmark), [long.as_str(), "x", &long]);
    // The screen begins in the middle of a line, which is longer than the bookmark's context.
    let bookmark = grid.bookmark();
    grid.lines(&[long.repeat(5), long.repeat(5)]);
    let later = grid.bookmark();
    grid.lines(&numbers(1, 3));
    assert_eq!(grid.new_lines(&bookmark).len(), 5);
    assert_eq!(grid.new_lines(&later), numbers(1, 3));
}

#[test]
fn identical_lines_are_counted() {
    let same = |count| vec!["same".to_owned(); count];
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&same(300));
    let bookmark = grid.bookmark();
    for _ in 0..3 {
        grid.lines(&same(70));
    }
    assert_eq!(grid.new_lines(&bookmark), same(210));
    // A resize wraps the lines differently.
    let long = |count| vec!["0123456789".repeat(7); count];
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&long(40));
    let bookmark = grid.bookmark();
    grid.lines(&long(3));
    grid.resize(50);
    grid.lines(&long(3));
    assert_eq!(grid.new_lines(&bookmark), long(6));
}

#[test]
fn bookmark_is_found_in_a_full_history() {
    let mut grid = Grid::new(80, 24, 1000);
    grid.lines(&numbers(1, 3333));
    for round in 0..30 {
        let bookmark = grid.bookmark();
        let new = numbers(10_000 + round * 50, 10_049 + round * 50);
        grid.lines(&new);
        assert_eq!(grid.new_lines(&bookmark), new, "round {round}");
    }
}

#[test]
fn lost_history_is_reported_as_missed() {
    for before in [0, 1, 5, 60] {
        let mut grid = Grid::new(80, 24, 100);
        grid.lines(&numbers(1, before));
        let bookmark = grid.bookmark();
        grid.lines(&numbers(1001, 6000));
        let (new, _) = grid.since(&bookmark);
        assert!(new.missed, "{before}");
        assert_eq!(new.lines.last().unwrap(), "6000");
        assert_eq!(new.lines.len() + 1, grid.left().len());
    }
}

#[test]
fn open_line_distinguishes_identical_context() {
    let mut grid = Grid::new(80, 24, 1000);
    grid.lines(&vec!["same".to_owned(); 2000]);
    let mut plain = Grid::new(80, 24, 1000);
    plain.lines(&vec!["same".to_owned(); 2000]);
    let silent = plain.bookmark();
    grid.print("$ ");
    let bookmark = grid.bookmark();
    grid.print("seq 3\n1\n2\n3\n$ ");
    assert_eq!(grid.new_lines(&bookmark), ["$ seq 3", "1", "2", "3", "$"]);
    // Without a prompt it is unknown whether more identical lines came, so lines count as missed.
    plain.lines(&numbers(1, 3));
    assert!(plain.since(&silent).0.missed);
}

#[test]
fn bookmark_survives_resizing_and_clearing_history() {
    let long = "0123456789".repeat(9);
    let lines: Vec<String> = (0..200).map(|n| format!("{n} {long}")).collect();
    for (before, after) in [(80, 100), (80, 33), (30, 31), (80, 200)] {
        let mut grid = Grid::new(before, 24, 2000);
        grid.lines(&lines[..120]);
        let bookmark = grid.bookmark();
        grid.lines(&lines[120..130]);
        grid.resize(after);
        grid.lines(&lines[130..]);
        assert_eq!(grid.new_lines(&bookmark), &lines[120..]);
    }
    // A prompt in the first row of a new pane.
    let mut grid = Grid::new(80, 24, 2000);
    grid.print("$ ");
    let bookmark = grid.bookmark();
    grid.resize(50);
    assert_eq!(grid.new_lines(&bookmark), [""; 0]);
    grid.print("ls\n");
    assert_eq!(grid.new_lines(&bookmark), ["$ ls"]);
    let mut grid = grid_with(1, 100);
    let bookmark = grid.bookmark();
    grid.lines(&numbers(101, 110));
    grid.clear_history();
    grid.lines(&numbers(111, 115));
    assert_eq!(grid.new_lines(&bookmark), numbers(101, 115));
    grid.lines(&numbers(116, 300));
    grid.clear_history();
    assert!(grid.since(&bookmark).0.missed);
}

#[test]
fn rewritten_lines_are_new() {
    for count in [20, 100, 1000, 5000] {
        let mut grid = grid_with(1, count);
        grid.lines(&["a 1%".to_owned(), "b 1%".to_owned(), "c 1%".to_owned()]);
        let bookmark = grid.bookmark();
        grid.rewrite(2, "b 50%");
        assert_eq!(grid.new_lines(&bookmark), ["b 50%", "c 1%"]);
        grid.print("done\n");
        assert_eq!(grid.new_lines(&bookmark), ["b 50%", "c 1%", "done"]);
    }
}

#[test]
fn dead_pane_notice_is_not_reported() {
    for count in [0, 3, 22, 23, 24, 100] {
        for end in ["", "\n"] {
            let mut grid = grid_with(1, count);
            let bookmark = grid.bookmark();
            grid.print("last words");
            grid.print(end);
            grid.die();
            assert_eq!(grid.new_lines(&bookmark), ["last words"], "{count}");
            assert_eq!(grid.new_lines(&grid.bookmark()), [""; 0]);
            let seen = grid.text().screen().lines;
            assert!(seen.ends_with(&["last words".to_owned()]) && seen.len() as u32 <= count + 1);
            assert!(grid.text().row_count_matches());
        }
    }
}

#[test]
fn first_capture_returns_the_screen() {
    let grid = grid_with(1, 100);
    assert_eq!(grid.text().screen().lines, numbers(78, 100));
    assert_eq!(grid.text().screen().rows[..2], [0, 1]);
    assert_eq!(Grid::new(80, 24, 2000).text().screen().lines, [""; 0]);
    // A line with only its end on the screen is returned whole.
    let mut grid = Grid::new(10, 4, 2000);
    grid.lines(&["0123456789abcdefghij".to_owned(), "a".to_owned(), "b".to_owned()]);
    assert_eq!(grid.text().screen().lines, ["0123456789abcdefghij", "a", "b"]);
}

#[test]
fn alternate_screen_reports_changed_rows() {
    let rows = |list: &[&str]| list.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
    let mut grid = grid_with(1, 100);
    let before = grid.bookmark();
    grid.print("vi\n");
    grid.full = Some(rows(&["title", "", "text", "", "status"]));
    let text = grid.text();
    let screens = ShownScreens::default();
    assert_eq!(screens.changed_rows(&text, Some(&before)), [0, 2, 4]);
    assert_eq!(screens.changed_rows(&text, None), [0, 2, 4]);
    screens.remember(&text);
    let inside = before.with_alternate_screen(&text);
    assert_eq!(inside.to_string().parse(), Ok(inside.clone()));
    assert_eq!(screens.changed_rows(&text, Some(&inside)), [0; 0]);
    // Another process knows whether the screen is the same, but not its rows.
    let other = ShownScreens::default();
    assert_eq!(other.changed_rows(&text, Some(&inside)), [0; 0]);
    grid.full = Some(rows(&["title", "new", "", "", "status"]));
    assert_eq!(screens.changed_rows(&grid.text(), Some(&inside)), [1, 2]);
    assert_eq!(other.changed_rows(&grid.text(), Some(&inside)), [0, 1, 4]);
    // Bookmarks made before and during the alternate screen both find the main screen's lines.
    let only_inside = grid.bookmark();
    grid.full = None;
    assert_eq!(grid.new_lines(&inside), ["vi"]);
    grid.print("$ ");
    assert_eq!(grid.new_lines(&only_inside), ["$"]);
}

#[test]
fn oldest_of_many_shown_screens_is_forgotten() {
    let screens = ShownScreens::default();
    let mut grid = grid_with(1, 100);
    let cursors: Vec<Bookmark> = (0..300)
        .map(|number| {
            grid.full = Some(vec!["title".to_owned(), number.to_string()]);
            screens.remember(&grid.text());
            grid.bookmark()
        })
        .collect();
    grid.full = Some(vec!["title".to_owned(), "last".to_owned()]);
    let text = grid.text();
    assert_eq!(screens.changed_rows(&text, cursors.first()), [0, 1]);
    assert_eq!(screens.changed_rows(&text, cursors.last()), [1]);
}

#[test]
fn cursor_has_at_most_forty_characters() {
    for full in [None, Some((0..50).map(|row| format!("row {row}")).collect::<Vec<_>>())] {
        let mut grid = Grid::new(200, 50, 50_000);
        grid.pid = 4_000_000;
        grid.lines(&numbers(1, 40_000));
        grid.print("user@host:~/project$ ");
        grid.full = full;
        let text = grid.bookmark().to_string();
        assert!(text.len() <= 40, "{} characters: {text}", text.len());
        let bookmark = from_replies(&grid.replies(&CaptureRange::NEAR)).unwrap();
        assert_eq!(bookmark.to_string(), text);
        assert_eq!(text.parse(), Ok(bookmark));
    }
}

#[test]
fn invalid_cursor_is_refused() {
    let good = grid_with(1, 100).bookmark().to_string();
    let mut bad = vec![String::new(), "garbage".to_owned(), "%3".to_owned(), "é".repeat(30)];
    // A cursor as it was written before cursors were short.
    bad.push("0.2dv4.28.0.1.2.M0aB1a2b3c4d5eXY".to_owned());
    bad.extend((0..good.len()).map(|end| good[..end].to_owned()));
    bad.extend((1..good.len()).map(|start| good[start..].to_owned()));
    for text in bad {
        assert!(text.parse::<Bookmark>().is_err(), "{text}");
    }
    let error = "x".repeat(500).parse::<Bookmark>().unwrap_err().to_string();
    assert!(error.starts_with("`xxx") && error.len() < 120, "{error}");
}
