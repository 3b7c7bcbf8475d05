//! Tests of `docs/coming-from.md`: every replacement that it names exists, and every feature of the
//! earlier servers has a row.

mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use past::{EARLIER_SERVERS, EarlierServer, SHARED, TOOLS};

use crate::laws::claims::{KnownNames, backticked, root, signature};

/// The word in the last column that marks a replacement as planned.
const PLANNED: &str = "planned";

/// A row of a table: the earlier feature, its replacement, and a note on the difference.
struct Row {
    line: usize,
    section: String,
    table: String,
    earlier: Vec<String>,
    replacements: Vec<String>,
    note: String,
}

impl Row {
    fn is_planned(&self) -> bool {
        self.planned_marks() > 0
    }

    fn planned_marks(&self) -> usize {
        self.note.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == PLANNED).count()
    }
}

/// All rows of all tables on the page.
fn rows() -> Vec<Row> {
    let page = fs::read_to_string(root().join("docs/coming-from.md")).unwrap();
    let (mut section, mut table) = (String::new(), String::new());
    let mut rows = Vec::new();
    for (line, text) in (1..).zip(page.lines()) {
        if let Some(heading) = text.strip_prefix("## ") {
            section = heading.to_owned();
            table.clear();
        } else if let Some(heading) = text.strip_prefix("### ") {
            table = heading.to_owned();
        } else if let Some(row) = text.strip_prefix('|').and_then(|row| row.strip_suffix('|')) {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(
                cells.len(),
                3,
                "docs/coming-from.md: line {line} has too few or too many columns"
            );
            let (earlier, replacements, note) = (cells[0], cells[1], cells[2]);
            if earlier != "there" && earlier != "---" {
                let (section, table, note) = (section.clone(), table.clone(), note.to_owned());
                let (earlier, replacements) = (names(earlier), names(replacements));
                rows.push(Row { line, section, table, earlier, replacements, note });
            }
        }
    }
    rows
}

/// The names in a cell.
fn names(cell: &str) -> Vec<String> {
    backticked(cell).into_iter().map(str::to_owned).collect()
}

/// Whether a replacement exists. Only a table about arguments names them without their tools.
fn exists(known: &KnownNames, item: &str, row: &Row) -> bool {
    known.has(item) || (row.table == SHARED && known.has_argument(item))
}

/// Fails if there are problems on the page.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "docs/coming-from.md:\n{}", wrong.join("\n"));
}

#[test]
fn named_replacements_exist() {
    let known = KnownNames::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| !row.is_planned()) {
        let missing = row.replacements.iter().filter(|item| !exists(&known, item, row));
        wrong.extend(missing.map(|item| format!("line {}: there is no `{item}`", row.line)));
    }
    assert_none(&wrong);
}

#[test]
fn planned_replacements_do_not_exist_yet() {
    let known = KnownNames::new();
    let mut wrong = Vec::new();
    for row in rows().iter().filter(|row| row.is_planned()) {
        if row.replacements.iter().all(|item| exists(&known, item, row)) {
            wrong.push(format!("line {}: planned, but every replacement exists", row.line));
        }
        if row.planned_marks() > 1 {
            wrong.push(format!("line {}: `planned` stands there more than once", row.line));
        }
    }
    assert_none(&wrong);
}

#[test]
fn row_without_replacement_has_a_reason() {
    let is_silent = |row: &Row| row.replacements.is_empty() && row.note.is_empty();
    let wrong: Vec<String> = rows()
        .iter()
        .filter(|row| is_silent(row))
        .map(|row| format!("line {}: neither a replacement nor a reason", row.line))
        .collect();
    assert_none(&wrong);
}

#[test]
fn page_lists_exactly_the_earlier_features() {
    let rows = rows();
    let mut wrong = Vec::new();
    for EarlierServer { section, tables } in EARLIER_SERVERS {
        let shared = tables.iter().find(|(table, _)| *table == SHARED).map_or("", |(_, list)| list);
        let shared: BTreeSet<&str> = shared.split_whitespace().collect();
        for (table, list) in *tables {
            let expected: BTreeMap<&str, Vec<&str>> =
                list.lines().flat_map(|line| entries(table, line)).collect();
            let of_table = |row: &&Row| row.section == *section && row.table == *table;
            let listed: Vec<(&str, Vec<&str>)> = rows
                .iter()
                .filter(of_table)
                .flat_map(|row| row.earlier.iter().map(|item| signature(item)))
                .collect();
            let heading = format!("{section}, {table}");
            wrong.extend(differences(&heading, &expected, &listed, &shared));
        }
    }
    for row in &rows {
        let known = EARLIER_SERVERS.iter().any(|server| {
            server.section == row.section
                && server.tables.iter().any(|(table, _)| *table == row.table)
        });
        if !known {
            wrong.push(format!("line {}: `{}` is not a known table", row.line, row.table));
        }
    }
    assert_none(&wrong);
}

/// The entries in a line of a list: one signature in a table of calls, else names.
fn entries<'a>(table: &str, line: &'a str) -> Vec<(&'a str, Vec<&'a str>)> {
    match table {
        TOOLS | "Prompts" => {
            Some(line.trim()).filter(|l| !l.is_empty()).map(signature).into_iter().collect()
        }
        _ => line.split_whitespace().map(|name| (name, Vec::new())).collect(),
    }
}

/// The entries that only the table or only its list has.
fn differences(
    heading: &str,
    expected: &BTreeMap<&str, Vec<&str>>,
    listed: &[(&str, Vec<&str>)],
    shared: &BTreeSet<&str>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, parameters) in expected {
        let rows = listed.iter().filter(|(listed, _)| listed == name).collect::<Vec<_>>();
        if rows.is_empty() {
            wrong.push(format!("{heading}: `{name}` has no row"));
            continue;
        }
        let is_listed = |wanted: &str| rows.iter().any(|(_, all)| all.contains(&wanted));
        let left_out =
            parameters.iter().filter(|wanted| !is_listed(wanted) && !shared.contains(*wanted));
        wrong.extend(
            left_out.map(|wanted| format!("{heading}: `{wanted}` of `{name}` is left out")),
        );
    }
    for (name, parameters) in listed {
        let Some(known) = expected.get(name) else {
            wrong.push(format!("{heading}: there was no `{name}`"));
            continue;
        };
        let made_up =
            parameters.iter().filter(|name| !known.contains(name) && !shared.contains(*name));
        wrong.extend(made_up.map(|wanted| format!("{heading}: `{name}` had no `{wanted}`")));
    }
    wrong
}
