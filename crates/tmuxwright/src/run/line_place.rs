//! The place of a typed line on the screen. A shell with a transient prompt shrinks its prompt when it
//! accepts a line, so that the line moves; the command file must erase it where it is then.
//!
//! The command file asks with a mark and waits, so that the screen does not change meanwhile. The answer is
//! a file with two numbers. A shell that leaves its line in place is asked no further.

use tmux_control::{Error, PaneId, Server};
use unicode_width::UnicodeWidthChar;

use super::command_file::answer_path;
use super::cursor_row::CursorRow;
use super::delivery::LinePlace;
use super::follow::JobFollower;

/// The line that makes a shell evaluate a command file.
#[derive(Debug, Clone)]
pub(super) struct CommandLine {
    pub(super) text: String,
    /// Its place if the shell does not move it.
    pub(super) predicted: LinePlace,
}

impl JobFollower {
    /// Answers the shell's question where its typed line is.
    pub(super) async fn answer_line_query(&mut self) {
        let Some(line) = self.state.command_line.take() else { return };
        let found = find_on_screen(self.engine.tmux(), self.pane.pane, &line.text).await;
        let place = match found {
            Ok(Some(place)) => {
                self.engine.records().pane(&self.pane).line_stays = place == line.predicted;
                place
            }
            // It has scrolled away.
            Ok(None) | Err(_) => line.predicted,
        };
        let answer = format!("{} {}\n", place.rows_up, place.column + 1);
        let written = self.engine.private_dir().write_file(&self.line_file(), &answer).await;
        if let Err(error) = written {
            tracing::warn!(%error, "cannot answer where the typed line is");
        }
    }

    /// Name of the file with the answer.
    pub(super) fn line_file(&self) -> String {
        answer_path(&self.job.id)
    }
}

/// Finds a typed line above the cursor. All that the shell printed before a mark is on the screen when the mark is
/// seen, since tmux has passed it on.
pub(super) async fn find_on_screen(
    tmux: &Server,
    pane: PaneId,
    line: &str,
) -> Result<Option<LinePlace>, Error> {
    let (above, width) = CursorRow::read_above(tmux, pane).await?;
    Ok(find(&above, width, line))
}

/// Finds a line in the rows above the cursor, with the blank before it. A line of an earlier command may stand further
/// up. A shell with `set -v` shows the line a second time, right below.
fn find(above: &[String], width: usize, line: &str) -> Option<LinePlace> {
    let mut cells = Vec::new();
    for (row, text) in above.iter().enumerate() {
        let mut end = 0;
        for c in text.chars() {
            cells.push((row, end, c));
            end += c.width().unwrap_or(0);
        }
        cells.extend((end..width).map(|column| (row, column, ' ')));
    }
    let line: Vec<char> = line.trim_end().chars().collect();
    let is_line =
        |cells: &[(usize, usize, char)]| cells.iter().map(|cell| cell.2).eq(line.iter().copied());
    let is_blank = |cells: &[(usize, usize, char)]| cells.iter().all(|cell| cell.2 == ' ');
    let mut at = cells.windows(line.len()).rposition(is_line)?;
    while let Some(above) = cells.get(..at)
        && let Some(earlier) = above.windows(line.len()).rposition(is_line)
        && above.get(earlier + line.len()..).is_some_and(is_blank)
    {
        at = earlier;
    }
    let &(row, column, _) = cells.get(at)?;
    Some(LinePlace { rows_up: above.len() - row, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_found_where_it_begins() {
        let screen = |rows: &[&str]| rows.iter().map(|&row| row.to_owned()).collect::<Vec<_>>();
        let place = |rows_up, column| Some(LinePlace { rows_up, column });
        for (rows, expected) in [
            (["output", "$  eval x"].as_slice(), place(1, 2)),
            (&["漢字>  eval x"], place(1, 6)),
            (&["prompt $  ev", "al x"], place(2, 9)),
            (&["prompt 234 $", " eval x"], place(1, 0)),
            (&["prompt 23 $", "eval x"], place(2, 11)),
            (&["$  eval x", " eval x"], place(2, 2)),
            (&["$  eval x", "out", "$  eval x"], place(1, 2)),
            (&["$ eval y"], None),
            (&[], None),
        ] {
            assert_eq!(find(&screen(rows), 12, " eval x"), expected, "{rows:?}");
        }
    }
}
