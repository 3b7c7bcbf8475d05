//! Property test: after any sequence of prints, resizes and clears, the new lines are exactly the
//! printed ones, or they are reported as missed.

use proptest::prelude::*;

use super::Bookmark;
use super::grid::Grid;

#[derive(Debug, Clone)]
enum Step {
    Print(Vec<String>),
    /// The beginning of a line, and then the rest of it.
    Part(String, String),
    Resize(usize),
    ClearHistory,
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    // Few letters, so that lines are often alike.
    let line = "[ab ]{0,3}|[a-z]{0,60}";
    prop_oneof![
        5 => prop::collection::vec(line, 0..40).prop_map(Step::Print),
        2 => ("[a-z]{1,20}", "[a-z]{0,20}").prop_map(|(a, b)| Step::Part(a, b)),
        1 => (5_usize..60).prop_map(Step::Resize),
        1 => Just(Step::ClearHistory),
        5 => Just(Step::Read),
    ]
}

/// A line without trailing blanks, which tmux does not keep.
fn trimmed(line: &str) -> String {
    line.trim_end().to_owned()
}

/// Whether rows were trimmed while the pane was narrower than before and after, and the bookmark has too
/// few lines to detect it.
fn is_hidden(grid: &Grid, bookmark: &Bookmark) -> bool {
    let width = usize::try_from(bookmark.width).unwrap().min(grid.width());
    grid.trimmed_at < width && bookmark.anchor.lines + bookmark.tail.len() < 3
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_line_is_lost_or_repeated(
        steps in prop::collection::vec(step(), 1..30),
        width in 5_usize..50,
        height in 2_usize..20,
        limit in prop_oneof![Just(2000_usize), Just(100), Just(250), 10_usize..300],
    ) {
        let mut grid = Grid::new(width, height, limit);
        let mut bookmark = grid.bookmark();
        let mut printed: Vec<String> = Vec::new();
        let mut cleared = false;
        for step in steps {
            match step {
                Step::Print(lines) => {
                    printed.extend(lines.iter().map(|line| trimmed(line)));
                    grid.lines(&lines);
                }
                Step::Part(start, rest) => {
                    grid.print(&start);
                    let bookmark = grid.bookmark();
                    prop_assert_eq!(grid.new_lines(&bookmark), Vec::<String>::new());
                    grid.print(&rest);
                    grid.print("\n");
                    printed.push(start + &rest);
                }
                Step::Resize(width) => grid.resize(width),
                Step::ClearHistory => {
                    grid.clear_history();
                    cleared = true;
                }
                Step::Read => {
                    let (new, _) = grid.since(&bookmark);
                    let left: Vec<String> = grid.left().iter().map(|line| trimmed(line)).collect();
                    if new.missed {
                        prop_assert_eq!(&new.lines, &left[..left.len() - 1]);
                    } else if !cleared && !is_hidden(&grid, &bookmark) {
                        // An empty first line leaves the cursor's row unchanged.
                        let same = printed.first().is_some_and(String::is_empty);
                        prop_assert_eq!(&new.lines, &printed[usize::from(same)..]);
                    }
                    bookmark = grid.bookmark();
                    printed.clear();
                    grid.trimmed_at = usize::MAX;
                    cleared = false;
                }
            }
        }
    }
}
