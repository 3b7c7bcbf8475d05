//! Tests of `docs/capabilities.md`: each capability of the earlier servers is met, planned, or refused
//! with a reason.

use std::fs;
use std::ops::RangeInclusive;

use crate::laws::claims::{KnownNames, backticked, root};

/// The number of capabilities, each a row.
const CAPABILITIES: usize = 259;

/// Rows that may be planned: remote servers, packaging and client set-up.
const PLANNED_ROWS: &[RangeInclusive<usize>] =
    &[180..=180, 183..=183, 207..=207, 250..=250, 253..=253, 257..=259];

/// Number, capability and answer of each row.
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
    assert_eq!(numbers, (1..=CAPABILITIES).collect::<Vec<_>>());
    let known = KnownNames::new();
    let problems: Vec<String> = rows
        .into_iter()
        .flat_map(|(number, capability, answer)| {
            let problems = problems(&known, number, answer);
            problems.into_iter().map(move |problem| format!("{number} {capability}: {problem}"))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The rules that the answer of a row breaks.
fn problems(known: &KnownNames, number: usize, answer: &str) -> Vec<String> {
    let names = backticked(answer);
    if answer.starts_with("**Planned**") {
        let may_be_planned = PLANNED_ROWS.iter().any(|rows| rows.contains(&number));
        let exists = !names.is_empty() && names.iter().all(|name| known.has(name));
        return [(!may_be_planned, "may not be planned"), (exists, "exists already")]
            .into_iter()
            .filter(|(holds, _)| *holds)
            .map(|(_, problem)| problem.to_owned())
            .collect();
    }
    let missing = names.iter().filter(|name| !known.has(name));
    let mut problems: Vec<String> = missing.map(|name| format!("there is no {name}")).collect();
    if answer.starts_with("**Refused**") {
        let reason = answer.split_once(": ").map_or("", |(_, reason)| reason);
        if reason.split_whitespace().count() < 5 {
            problems.push("refused without a reason".to_owned());
        }
    } else if names.is_empty() {
        problems.push("names nothing that shows it".to_owned());
    }
    problems
}

#[test]
fn false_capability_rows_are_found() {
    let known = KnownNames::new();
    for (number, answer) in [
        (1, "somehow"),
        (1, "`list_everything`"),
        (1, "**Planned**: `tmux://x`"),
        (1, "**Refused**: no"),
        (258, "**Planned**: `list_sessions`"),
    ] {
        assert_eq!(problems(&known, number, answer).len(), 1, "{answer}");
    }
    assert!(problems(&known, 258, "**Planned**: `tmux://x`").is_empty());
}
