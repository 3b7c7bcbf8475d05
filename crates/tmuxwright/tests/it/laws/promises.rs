//! `docs/security.md`: every safeguard links to a file of tests.

use std::fs;

use super::claims::root;

#[test]
fn every_safeguard_links_to_its_tests() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (_, table) = page.split_once("## Safeguards").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let rows = rows.split(|row| row.starts_with("| removed")).next().unwrap();
    assert!(rows.len() >= 15, "{rows:?}");
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let links: Vec<&str> =
            tests.split("](").skip(1).filter_map(|it| it.split(')').next()).collect();
        assert!(!links.is_empty(), "no tests: {row}");
        for link in links {
            let text = fs::read_to_string(root().join("docs").join(link)).unwrap_or_default();
            assert!(text.contains("#[test]") || text.contains("#[tokio::test]"), "{link}: {row}");
        }
    }
}
