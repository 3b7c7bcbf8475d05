//! Whatever is printed, wrapped, trimmed and reflowed: what was there before a mark and what is new
//! since are what was printed, or lines are said to be missed.

use proptest::prelude::*;

use super::Bookmark;
use super::grid::Grid;

#[derive(Debug, Clone)]
enum Step {
    Print(Vec<String>),
    /// A line without its end, and then the rest of it.
    Part(String, String),
    Resize(usize),
    ClearHistory,
    Look,
}

fn step() -> impl Strategy<Value = Step> {
    // Few letters, so that lines are often alike.
    let line = "[ab ]{0,3}|[a-z]{0,60}";
    prop_oneof![
        5 => prop::collection::vec(line, 0..40).prop_map(Step::Print),
        2 => ("[a-z]{1,20}", "[a-z]{0,20}").prop_map(|(a, b)| Step::Part(a, b)),
        1 => (5_usize..60).prop_map(Step::Resize),
        1 => Just(Step::ClearHistory),
        5 => Just(Step::Look),
    ]
}

/// Blanks at the ends of lines cannot be seen.
fn trimmed(line: &str) -> String {
    line.trim_end().to_owned()
}

/// Whether rows were trimmed while the pane was narrower than before and after, and the mark has too
/// few lines to tell: nobody can know then.
fn is_hidden(grid: &Grid, mark: &Bookmark) -> bool {
    let width = usize::try_from(mark.width).unwrap().min(grid.width());
    grid.trimmed_at < width && mark.anchor.lines + mark.tail.len() < 3
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_is_lost_or_repeated(
        steps in prop::collection::vec(step(), 1..30),
        width in 5_usize..50,
        height in 2_usize..20,
        limit in prop_oneof![Just(2000_usize), Just(100), Just(250), 10_usize..300],
    ) {
        let mut grid = Grid::new(width, height, limit);
        let mut mark = grid.bookmark();
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
                    let mark = grid.bookmark();
                    prop_assert_eq!(grid.new_lines(&mark), Vec::<String>::new());
                    grid.print(&rest);
                    grid.print("\n");
                    printed.push(start + &rest);
                }
                Step::Resize(width) => grid.resize(width),
                Step::ClearHistory => {
                    grid.clear_history();
                    cleared = true;
                }
                Step::Look => {
                    let (news, _) = grid.since(&mark);
                    let left: Vec<String> = grid.left().iter().map(|line| trimmed(line)).collect();
                    if news.missed {
                        prop_assert_eq!(&news.lines, &left[..left.len() - 1]);
                    } else if !cleared && !is_hidden(&grid, &mark) {
                        // The row of the cursor is as it was.
                        let same = printed.first().is_some_and(String::is_empty);
                        prop_assert_eq!(&news.lines, &printed[usize::from(same)..]);
                    }
                    mark = grid.bookmark();
                    printed.clear();
                    grid.trimmed_at = usize::MAX;
                    cleared = false;
                }
            }
        }
    }
}
