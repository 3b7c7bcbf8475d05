//! Tests of the search and its pages.

use regex::Regex;

use super::*;

/// Number of each line that a search shows, and whether it matches.
fn expected_lines(
    lines: &[String],
    regex: &Regex,
    context: usize,
    from: usize,
) -> Vec<(usize, bool)> {
    let hits: Vec<bool> = lines.iter().map(|line| regex.is_match(line)).collect();
    let near = |n: usize| {
        let end = (n + context + 1).min(hits.len());
        hits[n.saturating_sub(context)..end].contains(&true)
    };
    (from..lines.len()).filter(|&n| near(n)).map(|n| (n, hits[n])).collect()
}

fn expected_text(lines: &[String], shown: &[(usize, bool)], context: usize) -> String {
    let mut text: Vec<String> = Vec::new();
    let mut last = None;
    for &(n, hit) in shown {
        if context > 0 && last.is_some_and(|last| last + 1 < n) {
            text.push("--".to_owned());
        }
        text.push(format!("{}{}{}", n + 1, if hit { ':' } else { '-' }, lines[n]));
        last = Some(n);
    }
    text.join("\n")
}

proptest! {
    #[test]
    fn search_finds_the_lines_of_grep(
        lines in any_lines(),
        pending in pending_rows(),
        context in 0usize..4,
        from in 0usize..45,
    ) {
        let all = [lines.clone(), pending.clone()].concat();
        let regex = Regex::new("^a|漢b").unwrap();
        let shown = expected_lines(&all, &regex, context, from);
        for transcript in in_memory_and_file(&lines) {
            let view = TranscriptView::new(&transcript, &pending);
            let found = view.grep(&regex, context, from as u64, usize::MAX).unwrap();
            prop_assert_eq!(&found.text, &expected_text(&all, &shown, context));
            prop_assert_eq!(found.lines as usize, shown.len());
            let matches = shown.iter().filter(|(_, hit)| *hit).count();
            prop_assert_eq!(found.matches as usize, matches);
            prop_assert_eq!((found.next, found.cut), (None, false));
        }
    }

    #[test]
    fn pages_together_are_the_whole_search(
        lines in any_lines(),
        context in 0usize..4,
        budget in 80usize..300,
    ) {
        let regex = Regex::new("ca|漢").unwrap();
        let [_, transcript] = in_memory_and_file(&lines);
        let view = TranscriptView::new(&transcript, &[]);
        let (mut from, mut pages) = (0, Vec::new());
        loop {
            let found = view.grep(&regex, context, from, budget).unwrap();
            prop_assert!(chars(&found.text) <= budget);
            if !found.text.is_empty() {
                pages.push(found.text);
            }
            let Some(next) = found.next else { break };
            prop_assert!(next > from);
            from = next;
        }
        let without_gaps = |text: &str| text.replace("\n--\n", "\n");
        let whole = expected_text(&lines, &expected_lines(&lines, &regex, context, 0), context);
        prop_assert_eq!(without_gaps(&pages.join("\n")), without_gaps(&whole));
    }
}

#[test]
fn context_reaches_across_blocks() {
    let lines: Vec<String> = (1..=20).map(|n| format!("{n:020}")).collect();
    let regex = Regex::new("0(9|14)$").unwrap();
    for transcript in in_memory_and_file(&lines) {
        let found = TranscriptView::new(&transcript, &[]).grep(&regex, 2, 0, usize::MAX).unwrap();
        let labels: Vec<&str> =
            found.text.lines().map(|line| line.get(..3).unwrap_or("")).collect();
        assert_eq!(
            labels,
            ["7-0", "8-0", "9:0", "10-", "11-", "12-", "13-", "14:", "15-", "16-"],
            "{}",
            found.text
        );
    }
}

#[test]
fn giant_line_is_cut_around_its_match() {
    let (a, b) = ("é".repeat(3_000_000), "漢".repeat(2_000_000));
    let transcript = filled(["before", &format!("{a}needle{b}"), "needle"]);
    let view = TranscriptView::new(&transcript, &[]);
    let regex = Regex::new("needle").unwrap();
    let found = view.grep(&regex, 0, 0, 102).unwrap();
    let text = "é".repeat(25) + "needle" + &"漢".repeat(69);
    let (skipped, dropped) = (3_000_000 - 25, 2_000_000 - 69);
    assert_eq!(found.text, format!("2:[+{skipped} characters] …{text}… [+{dropped} characters]"));
    assert_eq!((found.matches, found.next, found.cut), (1, Some(2), true));
    assert_eq!(view.grep(&regex, 0, 2, 102).unwrap().text, "3:needle");
}
