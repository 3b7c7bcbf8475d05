//! The examples of the table: each shape finds its secret, and leaves a similar text alone.

use super::super::known_shapes;
use super::*;

/// An example of the table, with its placeholders filled.
fn filled(example: &str) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some((before, behind)) = rest.split_once('{') {
        text.push_str(before);
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let length = name.strip_prefix(word).and_then(|number| number.parse().ok());
        let made = match (word, length) {
            ("", Some(length)) => random(length),
            ("hex", Some(length)) => "0f1e2d3c4b5a6978".chars().cycle().take(length).collect(),
            ("upper", Some(length)) => upper(length),
            ("digit", Some(length)) => "1234567890".chars().cycle().take(length).collect(),
            _ => {
                text.push('{');
                rest = behind;
                continue;
            }
        };
        text.push_str(&made);
        rest = after;
    }
    text + rest
}

#[test]
fn every_shape_finds_its_example_and_no_more() {
    assert!(known_shapes().count() >= 90, "{}", known_shapes().count());
    for Shape { kind, source, secret, harmless, .. } in known_shapes() {
        assert!(!source.is_empty(), "{kind}");
        let secret = match secret.contains('⟦') {
            true => filled(secret),
            false => format!("⟦{}⟧", filled(secret)),
        };
        let (before, rest) = secret.split_once('⟦').unwrap();
        let (inner, behind) = rest.split_once('⟧').unwrap();
        let breaks = "\n".repeat(inner.matches('\n').count());
        let shown = format!("{before}[redacted:{kind}]{breaks}{behind}");
        assert_eq!(redacted(&format!("{before}{inner}{behind}")), shown, "{kind}, {source}");
        let harmless = filled(harmless);
        assert_eq!(redacted(&harmless), harmless, "{kind}, {source}");
    }
}
