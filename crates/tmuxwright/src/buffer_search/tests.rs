//! Tests of buffer search: a search in pieces finds the same matches as a search of the whole text.

use std::ops::{ControlFlow, Range};

use proptest::prelude::*;
use regex::bytes::RegexBuilder;

use super::windows::WindowSizes;
use super::*;

const SMALL: WindowSizes = WindowSizes { step: 7, overlap: 6, back: 4 };

fn search_with(
    pattern: &mut BufferPattern,
    text: &[u8],
    cuts: &[usize],
    range: Range<u64>,
    limit: usize,
    sizes: WindowSizes,
) -> (Vec<Hit>, Option<Hit>, u64) {
    let mut found = HitList::new(limit, pattern.is_fuzzy());
    let mut search = BufferSearch::with_sizes(pattern, range, &mut found, 0, sizes);
    let mut rest = text;
    let mut ended = ControlFlow::Continue(());
    let mut cuts = cuts.iter().cycle();
    while ended.is_continue() && !rest.is_empty() {
        let (piece, tail) = rest.split_at((*cuts.next().unwrap()).clamp(1, rest.len()));
        ended = search.push(piece);
        rest = tail;
    }
    if ended.is_continue() {
        let _ = search.finish();
    }
    let position = search.position();
    let (hits, more) = found.into_hits();
    (hits, more, position)
}

/// Offset, length and line of each match.
fn places(hits: &[Hit]) -> Vec<(u64, u64, u64)> {
    hits.iter().map(|hit| (hit.offset, hit.length, hit.line)).collect()
}

/// All matches that are not empty, found with the whole text in memory.
fn naive(pattern: &str, case: bool, text: &[u8]) -> Vec<(u64, u64, u64)> {
    let regex = RegexBuilder::new(pattern).case_insensitive(!case).build().unwrap();
    let mut all = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
        for found in regex.find_iter(line).filter(|found| !found.is_empty()) {
            let at = (offset + found.start()) as u64;
            all.push((at, found.len() as u64, number as u64 + 1));
        }
        offset += line.len() + 1;
    }
    all
}

/// Patterns whose matches are not longer than the overlap of two windows.
const PATTERNS: &[&str] = &[
    "ab",
    "a",
    "^a",
    "a$",
    "^b?a",
    "\\bab",
    "b\\b",
    "a.b",
    "[ab]{2,4}",
    "a|ba",
    "é",
    "(?-u)\\xff",
    "\\Aa",
    "b\\z",
    "c",
    "a\\s*b",
];

fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => Just(&b"a"[..]), 8 => Just(&b"b"[..]), 2 => Just(&b" "[..]), 1 => Just(&b"\n"[..]),
        1 => Just(&b"\xff"[..]), 1 => Just("é".as_bytes()), 1 => Just(&b"B"[..]),
        1 => Just(&b"\0"[..]),
    ];
    prop::collection::vec(part, 0..120).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn matches_do_not_depend_on_the_pieces(
        text in text(),
        cuts in prop::collection::vec(1usize..20, 1..8),
        pattern in prop::sample::select(PATTERNS),
        case in any::<bool>(),
    ) {
        let mut searched = BufferPattern::exact(pattern, true, case).unwrap();
        let all = naive(pattern, case, &text);
        let (hits, more, _) =
            search_with(&mut searched, &text, &cuts, 0..u64::MAX, usize::MAX, SMALL);
        prop_assert_eq!(places(&hits), all);
        prop_assert_eq!(more, None);
    }

    #[test]
    fn a_continued_search_finds_every_match_once(
        text in text(),
        cuts in prop::collection::vec(1usize..20, 1..8),
        pattern in prop::sample::select(PATTERNS),
        limit in 1usize..5,
    ) {
        let mut searched = BufferPattern::exact(pattern, true, true).unwrap();
        let mut all = Vec::new();
        let mut from = 0;
        loop {
            let (hits, more, _) =
                search_with(&mut searched, &text, &cuts, from..u64::MAX, limit, SMALL);
            all.extend(places(&hits));
            let Some(more) = more else { break };
            prop_assert_eq!(hits.len(), limit);
            from = more.offset;
        }
        prop_assert_eq!(all, naive(pattern, true, &text));
    }

    #[test]
    fn a_stopped_search_continues_at_its_position(
        text in text(),
        pattern in prop::sample::select(PATTERNS),
        stop in 0usize..120,
    ) {
        let mut searched = BufferPattern::exact(pattern, true, true).unwrap();
        let mut found = HitList::new(usize::MAX, false);
        let mut search = BufferSearch::with_sizes(&mut searched, 0..u64::MAX, &mut found, 0, SMALL);
        let _ = search.push(text.get(..stop.min(text.len())).unwrap());
        let position = search.position();
        let mut all = places(&found.into_hits().0);
        let rest =
            search_with(&mut searched, &text, &[5], position..u64::MAX, usize::MAX, SMALL);
        all.extend(places(&rest.0));
        prop_assert_eq!(all, naive(pattern, true, &text));
    }

    #[test]
    fn ranges_are_extracted_from_any_pieces(
        text in prop::collection::vec(any::<u8>(), 0..60),
        cut in 1usize..20,
        ranges in prop::collection::vec((0u64..70, 0u64..20), 0..5),
    ) {
        let ranges: Vec<Range<u64>> =
            ranges.into_iter().map(|(start, length)| start..start + length).collect();
        let mut extract = Extract::new(ranges.clone());
        for piece in text.chunks(cut) {
            if extract.push(piece).is_break() {
                break;
            }
        }
        for (part, range) in extract.into_parts().into_iter().zip(ranges) {
            let within = |at: u64| (at as usize).min(text.len());
            prop_assert_eq!(&part[..], &text[within(range.start)..within(range.end)]);
        }
    }
}

fn find(pattern: &str, text: &[u8], range: Range<u64>) -> Vec<(u64, u64, u64)> {
    let mut pattern = BufferPattern::exact(pattern, false, false).unwrap();
    let (hits, _, _) =
        search_with(&mut pattern, text, &[64 * 1024], range, 100, WindowSizes::DEFAULT);
    places(&hits)
}

#[test]
fn a_long_line_is_searched_to_its_end() {
    let mut text = vec![b'x'; 1_000_000];
    for at in [0, 60 * 1024 - 3, 64 * 1024 - 2, 500_000, 999_994] {
        text[at..at + 6].copy_from_slice(b"NEEDLE");
    }
    let offsets: Vec<u64> = find("needle", &text, 0..u64::MAX).iter().map(|hit| hit.0).collect();
    assert_eq!(offsets, [0, 61437, 65534, 500_000, 999_994]);
}

#[test]
fn only_matches_beginning_in_the_range_are_found() {
    let text = b"ab ab ab\nab";
    assert_eq!(find("ab", text, 1..9), [(3, 2, 1), (6, 2, 1)]);
    assert_eq!(find("ab", text, 9..10), [(9, 2, 2)]);
    assert_eq!(find("ab", text, 12..20), []);
}

#[test]
fn a_long_line_is_shown_around_the_match() {
    let mut pattern = BufferPattern::exact("needle", false, true).unwrap();
    let mut line = "é".repeat(2000).into_bytes();
    line.extend(b"needle");
    line.extend("é".repeat(2000).into_bytes());
    let (hits, _, _) =
        search_with(&mut pattern, &line, &[777], 0..u64::MAX, 1, WindowSizes::DEFAULT);
    let text = &hits[0].text;
    assert!(text.starts_with("…é") && text.ends_with("é…") && text.contains("éneedleé"), "{text}");
    assert!(text.len() < 700 && !text.contains('\u{fffd}'), "{text}");
    let (hits, _, _) =
        search_with(&mut pattern, b"a\nthe needle\n", &[3], 0..u64::MAX, 1, WindowSizes::DEFAULT);
    assert_eq!(hits[0].text, "the needle");
}

#[test]
fn the_best_fuzzy_matches_come_first() {
    let mut pattern = BufferPattern::fuzzy("cfg rd", false).unwrap();
    let text = b"unrelated\nxcxfxgxrxdx\nread the config file\nConfigReader::cfg_rd\ncfg";
    let (hits, more, _) =
        search_with(&mut pattern, text, &[4], 0..u64::MAX, 2, WindowSizes::DEFAULT);
    assert_eq!(more, None);
    assert_eq!(hits.len(), 2);
    assert_eq!((hits[0].text.as_str(), hits[0].line), ("ConfigReader::cfg_rd", 4));
    assert!(hits[0].score > hits[1].score);
    assert_eq!(hits[0].offset, 43);
    let many = b"cfg rd\n".repeat(1000);
    let (hits, _, _) =
        search_with(&mut pattern, &many, &[99], 0..u64::MAX, 3, WindowSizes::DEFAULT);
    let lines: Vec<u64> = hits.iter().map(|hit| hit.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn invalid_patterns_are_refused_with_a_reason() {
    let error = |pattern: Result<BufferPattern, _>| {
        let error: crate::contract::ToolError = pattern.unwrap_err();
        error.to_string()
    };
    assert!(error(BufferPattern::exact("", false, false)).contains("empty"));
    assert!(error(BufferPattern::exact("a\nb", false, false)).contains("line end"));
    assert!(error(BufferPattern::exact("(", true, false)).contains("unclosed group"));
    assert!(error(BufferPattern::exact("(\\w{200}){200}", true, false)).contains("size limit"));
    assert!(error(BufferPattern::fuzzy("  ", false)).contains("blank"));
}
