//! Marks against a grid that behaves as tmux's does.

mod grid;
mod random;

use grid::Grid;

use super::{Bookmark, CaptureRange, from_replies};

fn numbers(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|n| n.to_string()).collect()
}

fn grid_with(from: u32, to: u32) -> Grid {
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&numbers(from, to));
    grid
}

#[test]
fn what_is_printed_is_new_once() {
    for before in [0, 1, 2, 3, 10, 23, 24, 30, 400] {
        for count in [0, 1, 2, 22, 23, 24, 60, 500] {
            let mut grid = grid_with(1, before);
            let mark = grid.bookmark();
            assert_eq!(grid.new_lines(&mark), [""; 0]);
            grid.lines(&numbers(10_001, 10_000 + count));
            assert_eq!(grid.new_lines(&mark), numbers(10_001, 10_000 + count), "{before} {count}");
            assert_eq!(grid.new_lines(&grid.bookmark()), [""; 0]);
        }
    }
}

#[test]
fn no_more_is_read_than_is_needed() {
    let mut grid = grid_with(1, 1000);
    let mark = grid.bookmark();
    grid.lines(&numbers(1, 80));
    assert_eq!(grid.since(&mark).1, [CaptureRange::NEAR]);
    grid.lines(&numbers(1, 500));
    let (_, reaches) = grid.since(&mark);
    assert!(reaches.len() == 2 && reaches[1].back < 800, "{reaches:?}");
    // In full history the other places it can have been trimmed to are looked at, and no more.
    let mut grid = Grid::new(80, 24, 10_000);
    grid.lines(&numbers(1, 33_000));
    let mark = grid.bookmark();
    grid.lines(&numbers(1, 40));
    let (news, reaches) = grid.since(&mark);
    assert_eq!(news.lines, numbers(1, 40));
    assert!(reaches.len() == 2 && reaches[1].back == CaptureRange::NEAR.back, "{reaches:?}");
    assert!((8..=10).contains(&reaches[1].probes.len()), "{reaches:?}");
    // Unless they look the same.
    let mut grid = Grid::new(80, 24, 10_000);
    for _ in 0..33 {
        grid.lines(&numbers(1, 1000));
    }
    let mark = grid.bookmark();
    let (news, reaches) = grid.since(&mark);
    assert!(news.missed && reaches.last() == Some(&CaptureRange::ALL), "{news:?} {reaches:?}");
}

#[test]
fn an_unfinished_line_comes_again_only_if_it_has_changed() {
    let mut grid = grid_with(1, 50);
    grid.print("$ ");
    let mark = grid.bookmark();
    assert_eq!(grid.new_lines(&mark), [""; 0]);
    grid.print("seq 2");
    assert_eq!(grid.new_lines(&mark), ["$ seq 2"]);
    grid.print("\n1\n2\n$ ");
    assert_eq!(grid.new_lines(&mark), ["$ seq 2", "1", "2", "$"]);
    let mark = grid.bookmark();
    grid.print("\n\n$ ");
    assert_eq!(grid.new_lines(&mark), ["", "$"]);
    let mark = grid.bookmark();
    grid.print("\r");
    assert_eq!(grid.new_lines(&mark), [""; 0]);
}

#[test]
fn blank_lines_count_but_for_the_row_the_cursor_was_in() {
    let mut grid = grid_with(1, 5);
    let mark = grid.bookmark();
    // Such as Enter, typed for a program that reads a line.
    grid.print("\n");
    assert_eq!(grid.new_lines(&mark), [""; 0]);
    grid.print("\n");
    assert_eq!(grid.new_lines(&mark), [""]);
    grid.print("x\n\n");
    assert_eq!(grid.new_lines(&mark), ["", "x", ""]);
}

#[test]
fn a_line_that_wraps_is_one() {
    let mut grid = grid_with(1, 30);
    let long = "abcdefghij".repeat(100);
    let mark = grid.bookmark();
    grid.lines(&[long.clone(), "x".to_owned(), long.clone()]);
    assert_eq!(grid.new_lines(&mark), [long.as_str(), "x", &long]);
    // Also where the screen begins in its middle, and where no line fits into the mark's rows.
    let mark = grid.bookmark();
    grid.lines(&[long.repeat(5), long.repeat(5)]);
    let mark2 = grid.bookmark();
    grid.lines(&numbers(1, 3));
    assert_eq!(grid.new_lines(&mark).len(), 5);
    assert_eq!(grid.new_lines(&mark2), numbers(1, 3));
}

#[test]
fn lines_that_are_all_the_same_are_counted() {
    let same = |count| vec!["same".to_owned(); count];
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&same(300));
    let mark = grid.bookmark();
    for _ in 0..3 {
        grid.lines(&same(70));
    }
    assert_eq!(grid.new_lines(&mark), same(210));
    // Also when they wrap otherwise since.
    let long = |count| vec!["0123456789".repeat(7); count];
    let mut grid = Grid::new(80, 24, 2000);
    grid.lines(&long(40));
    let mark = grid.bookmark();
    grid.lines(&long(3));
    grid.resize(50);
    grid.lines(&long(3));
    assert_eq!(grid.new_lines(&mark), long(6));
}

#[test]
fn full_history_is_not_lost_history() {
    let mut grid = Grid::new(80, 24, 1000);
    grid.lines(&numbers(1, 3333));
    for round in 0..30 {
        let mark = grid.bookmark();
        let new = numbers(10_000 + round * 50, 10_049 + round * 50);
        grid.lines(&new);
        assert_eq!(grid.new_lines(&mark), new, "round {round}");
    }
}

#[test]
fn lost_history_is_said() {
    for before in [0, 1, 5, 60] {
        let mut grid = Grid::new(80, 24, 100);
        grid.lines(&numbers(1, before));
        let mark = grid.bookmark();
        grid.lines(&numbers(1001, 6000));
        let (news, _) = grid.since(&mark);
        assert!(news.missed, "{before}");
        assert_eq!(news.lines.last().unwrap(), "6000");
        assert_eq!(news.lines.len() + 1, grid.left().len());
    }
}

#[test]
fn a_prompt_tells_apart_what_the_lines_before_it_cannot() {
    let mut grid = Grid::new(80, 24, 1000);
    grid.lines(&vec!["same".to_owned(); 2000]);
    let mut plain = Grid::new(80, 24, 1000);
    plain.lines(&vec!["same".to_owned(); 2000]);
    let silent = plain.bookmark();
    grid.print("$ ");
    let mark = grid.bookmark();
    grid.print("seq 3\n1\n2\n3\n$ ");
    assert_eq!(grid.new_lines(&mark), ["$ seq 3", "1", "2", "3", "$"]);
    // Without one, nobody can know whether more of the same came: all of it counts.
    plain.lines(&numbers(1, 3));
    assert!(plain.since(&silent).0.missed);
}

#[test]
fn a_place_is_found_after_a_resize_and_after_history_was_cleared() {
    let long = "0123456789".repeat(9);
    let lines: Vec<String> = (0..200).map(|n| format!("{n} {long}")).collect();
    for (before, after) in [(80, 100), (80, 33), (30, 31), (80, 200)] {
        let mut grid = Grid::new(before, 24, 2000);
        grid.lines(&lines[..120]);
        let mark = grid.bookmark();
        grid.lines(&lines[120..130]);
        grid.resize(after);
        grid.lines(&lines[130..]);
        assert_eq!(grid.new_lines(&mark), &lines[120..]);
    }
    // A prompt in the first row of a new pane.
    let mut grid = Grid::new(80, 24, 2000);
    grid.print("$ ");
    let mark = grid.bookmark();
    grid.resize(50);
    assert_eq!(grid.new_lines(&mark), [""; 0]);
    grid.print("ls\n");
    assert_eq!(grid.new_lines(&mark), ["$ ls"]);
    let mut grid = grid_with(1, 100);
    let mark = grid.bookmark();
    grid.lines(&numbers(101, 110));
    grid.clear_history();
    grid.lines(&numbers(111, 115));
    assert_eq!(grid.new_lines(&mark), numbers(101, 115));
    grid.lines(&numbers(116, 300));
    grid.clear_history();
    assert!(grid.since(&mark).0.missed);
}

#[test]
fn lines_written_anew_are_new() {
    for count in [20, 100, 1000, 5000] {
        let mut grid = grid_with(1, count);
        grid.lines(&["a 1%".to_owned(), "b 1%".to_owned(), "c 1%".to_owned()]);
        let mark = grid.bookmark();
        grid.rewrite(2, "b 50%");
        assert_eq!(grid.new_lines(&mark), ["b 50%", "c 1%"]);
        grid.print("done\n");
        assert_eq!(grid.new_lines(&mark), ["b 50%", "c 1%", "done"]);
    }
}

#[test]
fn the_notice_of_a_dead_pane_is_not_its_text() {
    for count in [0, 3, 22, 23, 24, 100] {
        for end in ["", "\n"] {
            let mut grid = grid_with(1, count);
            let mark = grid.bookmark();
            grid.print("last words");
            grid.print(end);
            grid.die();
            assert_eq!(grid.new_lines(&mark), ["last words"], "{count}");
            assert_eq!(grid.new_lines(&grid.bookmark()), [""; 0]);
            let seen = grid.look().screen().lines;
            assert!(seen.ends_with(&["last words".to_owned()]) && seen.len() as u32 <= count + 1);
            assert!(grid.look().counts_like_tmux());
        }
    }
}

#[test]
fn the_screen_is_what_is_new_at_first() {
    let grid = grid_with(1, 100);
    assert_eq!(grid.look().screen().lines, numbers(78, 100));
    assert_eq!(grid.look().screen().rows[..2], [0, 1]);
    assert_eq!(Grid::new(80, 24, 2000).look().screen().lines, [""; 0]);
    // A line of which only the end is on the screen is shown whole.
    let mut grid = Grid::new(10, 4, 2000);
    grid.lines(&["0123456789abcdefghij".to_owned(), "a".to_owned(), "b".to_owned()]);
    assert_eq!(grid.look().screen().lines, ["0123456789abcdefghij", "a", "b"]);
}

#[test]
fn in_a_full_screen_program_the_rows_that_changed_are_new() {
    let rows = |list: &[&str]| list.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
    let mut grid = grid_with(1, 100);
    let before = grid.bookmark();
    grid.print("vi\n");
    grid.full = Some(rows(&["title", "", "text", "", "status"]));
    let look = grid.look();
    let all = [(0, "title".to_owned()), (2, "text".to_owned()), (4, "status".to_owned())];
    assert_eq!(look.changed_rows(Some(&before)), all);
    assert_eq!(look.changed_rows(None), all);
    let inside = before.with_alternate_screen(&look);
    assert_eq!(inside.to_string().parse(), Ok(inside.clone()));
    assert_eq!(look.changed_rows(Some(&inside)), []);
    grid.full = Some(rows(&["title", "new", "", "", "status"]));
    let changed = [(1, "new".to_owned()), (2, String::new())];
    assert_eq!(grid.look().changed_rows(Some(&inside)), changed);
    // A mark made inside knows the lines behind, and one from before keeps them.
    let only_inside = grid.bookmark();
    grid.full = None;
    assert_eq!(grid.new_lines(&inside), ["vi"]);
    grid.print("$ ");
    assert_eq!(grid.new_lines(&only_inside), ["$"]);
}

#[test]
fn a_mark_is_short() {
    let mut grid = Grid::new(200, 50, 50_000);
    grid.pid = 4_000_000;
    grid.lines(&numbers(1, 40_000));
    grid.print("user@host:~/project$ ");
    let text = grid.bookmark().to_string();
    assert!(text.len() <= 60, "{} characters: {text}", text.len());
    let mark = from_replies(&grid.replies(&CaptureRange::NEAR)).unwrap();
    assert_eq!(mark.to_string(), text);
}

#[test]
fn what_is_no_mark_is_refused() {
    let good = grid_with(1, 100).bookmark().to_string();
    let mut bad = vec![String::new(), "garbage".to_owned(), "%3".to_owned(), "é".repeat(30)];
    bad.extend((0..good.len()).map(|end| good[..end].to_owned()));
    bad.extend((1..good.len()).map(|start| good[start..].to_owned()));
    for text in bad {
        assert!(text.parse::<Bookmark>().is_err(), "{text}");
    }
    let error = "x".repeat(500).parse::<Bookmark>().unwrap_err().to_string();
    assert!(error.starts_with("`xxx") && error.len() < 120, "{error}");
}
