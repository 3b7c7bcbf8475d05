//! `docs/coming-from.md` is written by hand. What it says about this program must be so, and nothing
//! of the earlier designs may be left out.

mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use past::{PAST, Past, SHARED, TOOLS};

use crate::laws::claims::{Present, named, root, signature};

/// The word in the last column of a row about something that is not made yet.
const PLANNED: &str = "planned";

/// A row of a table: what it was, what it is, and the difference.
struct Row {
    line: usize,
    section: String,
    part: String,
    there: Vec<String>,
    here: Vec<String>,
    note: String,
}

impl Row {
    fn is_planned(&self) -> bool {
        self.planned() > 0
    }

    fn planned(&self) -> usize {
        self.note.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == PLANNED).count()
    }
}

/// All rows of all tables on the page.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/coming-from.md")).unwrap();
    let (mut section, mut part) = (String::new(), String::new());
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(page.lines()) {
        if let Some(heading) = text.strip_prefix("## ") {
            section = heading.to_owned();
            part.clear();
        } else if let Some(heading) = text.strip_prefix("### ") {
            part = heading.to_owned();
        } else if let Some(row) = text.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 3, "docs/coming-from.md: the columns of line {line}");
            let (there, here, note) = (cells[0], cells[1], cells[2]);
            if there != "there" && there != "---" {
                let (section, part, note) = (section.clone(), part.clone(), note.to_owned());
                rows.push(Row { line, section, part, there: code(there), here: code(here), note });
            }
        }
    }
    rows
}

/// What stands between backticks.
fn code(cell: &str) -> Vec<String> {
    named(cell).into_iter().map(str::to_owned).collect()
}

/// Whether there is what an item of a row names. Only a table about arguments names them without
/// their tools.
fn is_here(present: &Present, item: &str, row: &Row) -> bool {
    present.has(item) || (row.part == SHARED && present.has_argument(item))
}

fn must_be_empty(wrong: &[String]) {
    assert!(wrong.is_empty(), "docs/coming-from.md:\n{}", wrong.join("\n"));
}

#[test]
fn named_replacements_exist() {
    let present = Present::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| !row.is_planned()) {
        let missing = row.here.iter().filter(|item| !is_here(&present, item, row));
        wrong.extend(missing.map(|item| format!("line {}: there is no `{item}`", row.line)));
    }
    must_be_empty(&wrong);
}

#[test]
fn planned_replacements_do_not_exist_yet() {
    let present = Present::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| row.is_planned()) {
        if row.here.iter().all(|item| is_here(&present, item, row)) {
            wrong.push(format!("line {}: all of it is here, so it is not planned", row.line));
        }
        if row.planned() > 1 {
            wrong.push(format!("line {}: planned once is enough", row.line));
        }
    }
    must_be_empty(&wrong);
}

#[test]
fn row_without_replacement_has_a_reason() {
    let silent = |row: &Row| row.here.is_empty() && row.note.is_empty();
    let wrong: Vec<String> = rows()
        .iter()
        .filter(|row| silent(row))
        .map(|row| format!("line {}: neither an answer nor a reason", row.line))
        .collect();
    must_be_empty(&wrong);
}

#[test]
fn page_lists_exactly_the_earlier_features() {
    let rows = rows();
    let mut wrong = Vec::new();
    for Past { section, parts } in PAST {
        let shared = parts.iter().find(|(part, _)| *part == SHARED).map_or("", |(_, list)| list);
        let shared: BTreeSet<&str> = shared.split_whitespace().collect();
        for (part, list) in *parts {
            let was: BTreeMap<&str, Vec<&str>> =
                list.lines().flat_map(|line| entries(part, line)).collect();
            let of_part = |row: &&Row| row.section == *section && row.part == *part;
            let is: Vec<(&str, Vec<&str>)> = rows
                .iter()
                .filter(of_part)
                .flat_map(|row| row.there.iter().map(|item| signature(item)))
                .collect();
            let place = format!("{section}, {part}");
            wrong.extend(differences(&place, &was, &is, &shared));
        }
    }
    for row in &rows {
        let known = PAST.iter().any(|past| {
            past.section == row.section && past.parts.iter().any(|(part, _)| *part == row.part)
        });
        if !known {
            wrong.push(format!("line {}: `{}` is no known table", row.line, row.part));
        }
    }
    must_be_empty(&wrong);
}

/// A line of a list: one signature where calls are listed, else names.
fn entries<'a>(part: &str, line: &'a str) -> Vec<(&'a str, Vec<&'a str>)> {
    match part {
        TOOLS | "Prompts" => {
            Some(line.trim()).filter(|l| !l.is_empty()).map(signature).into_iter().collect()
        }
        _ => line.split_whitespace().map(|name| (name, Vec::new())).collect(),
    }
}

/// What one table has and its list has not, or the other way round.
fn differences(
    place: &str,
    was: &BTreeMap<&str, Vec<&str>>,
    is: &[(&str, Vec<&str>)],
    shared: &BTreeSet<&str>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, parameters) in was {
        let said = is.iter().filter(|(said, _)| said == name).collect::<Vec<_>>();
        if said.is_empty() {
            wrong.push(format!("{place}: `{name}` has no row"));
            continue;
        }
        let is_said = |wanted: &str| said.iter().any(|(_, all)| all.contains(&wanted));
        let left_out =
            parameters.iter().filter(|wanted| !is_said(wanted) && !shared.contains(*wanted));
        wrong.extend(left_out.map(|wanted| format!("{place}: `{wanted}` of `{name}` is left out")));
    }
    for (name, parameters) in is {
        let Some(known) = was.get(name) else {
            wrong.push(format!("{place}: there was no `{name}`"));
            continue;
        };
        let made_up =
            parameters.iter().filter(|said| !known.contains(said) && !shared.contains(*said));
        wrong.extend(made_up.map(|said| format!("{place}: `{name}` had no `{said}`")));
    }
    wrong
}
