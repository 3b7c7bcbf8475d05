//! `docs/capabilities.md` says how each promise of the earlier designs is met: it is held to that.

use std::fs;
use std::ops::RangeInclusive;

use crate::laws::claims::{Present, named, root};

/// How many promises there are.
const ROWS: usize = 259;

/// What later changes bring: remote servers, packaging and client set-up.
const LATER: &[RangeInclusive<usize>] =
    &[180..=180, 183..=183, 207..=207, 250..=250, 253..=253, 257..=259];

/// The number, the promise, and how it is met.
fn rows(page: &str) -> Vec<(usize, &str, &str)> {
    page.lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.splitn(3, " | ");
            let number = cells.next()?.parse().ok()?;
            Some((number, cells.next()?, cells.next()?))
        })
        .collect()
}

#[test]
fn every_capability_is_met_planned_or_refused() {
    let page = fs::read_to_string(root().join("docs/capabilities.md")).unwrap();
    let rows = rows(&page);
    let numbers: Vec<usize> = rows.iter().map(|(number, ..)| *number).collect();
    assert_eq!(numbers, (1..=ROWS).collect::<Vec<_>>());
    let present = Present::new();
    let problems: Vec<String> = rows
        .into_iter()
        .flat_map(|(number, promise, how)| {
            let problems = problems(&present, number, how);
            problems.into_iter().map(move |problem| format!("{number} {promise}: {problem}"))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn problems(present: &Present, number: usize, how: &str) -> Vec<String> {
    let things = named(how);
    if how.starts_with("**Planned**") {
        let is_later = LATER.iter().any(|later| later.contains(&number));
        let is_there = !things.is_empty() && things.iter().all(|thing| present.has(thing));
        return [(!is_later, "cannot be left for later"), (is_there, "is there already")]
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, problem)| problem.to_owned())
            .collect();
    }
    let missing = things.iter().filter(|thing| !present.has(thing));
    let mut problems: Vec<String> = missing.map(|thing| format!("there is no {thing}")).collect();
    if how.starts_with("**Refused**") {
        let why = how.split_once(": ").map_or("", |(_, why)| why);
        if why.split_whitespace().count() < 5 {
            problems.push("refused without a reason".to_owned());
        }
    } else if things.is_empty() {
        problems.push("nothing shows it".to_owned());
    }
    problems
}

#[test]
fn false_capability_rows_are_found() {
    let present = Present::new();
    for (number, how) in [
        (1, "somehow"),
        (1, "`list_everything`"),
        (1, "**Planned**: `tmux://x`"),
        (1, "**Refused**: no"),
        (258, "**Planned**: `list_sessions`"),
    ] {
        assert_eq!(problems(&present, number, how).len(), 1, "{how}");
    }
    assert!(problems(&present, 258, "**Planned**: `tmux://x`").is_empty());
}
