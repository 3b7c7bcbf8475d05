//! Tests of reading, and of storage errors.

use super::super::view::{Mask, ReadLines};
use super::*;

/// The number of lines that fit a budget.
fn fitting<'a>(lines: impl Iterator<Item = &'a String>, budget: usize) -> usize {
    let mut used = 0;
    lines
        .take_while(|line| {
            used += chars(line) + 1;
            used <= budget + 1
        })
        .count()
}

fn read_lines(lines: &[String], from: usize, to: usize) -> ReadLines {
    ReadLines { text: lines[from..to].join("\n"), lines: from as u64..to as u64 }
}

/// Overwrites `bb`, wherever the bytes that are read begin and end.
fn no_bs() -> Mask<'static> {
    let apply = |bytes: &mut [u8]| {
        let text = String::from_utf8_lossy(bytes).replace("bb", "**");
        if text.len() == bytes.len() {
            bytes.copy_from_slice(text.as_bytes());
        }
    };
    Mask { apply: Box::new(apply), context: 4 }
}

#[test]
fn masked_view_shows_masked_lines_and_parts() {
    let lines = strings(["abba", "b", "bbabb", "aaaaaaaaaabbaaaaaaaaaa"]);
    for transcript in in_memory_and_file(&lines[..3]) {
        let view = TranscriptView::new(&transcript, &lines[3..]);
        let mask = no_bs();
        let view = view.masked(Some(&mask));
        let all = view.read(0, 4, usize::MAX).unwrap().text;
        assert_eq!(all, "a**a\nb\n**a**\naaaaaaaaaa**aaaaaaaaaa");
        let ends = view.ends(3, 11, 11).unwrap();
        assert_eq!((ends.start.as_str(), ends.end.as_str()), ("aaaaaaaaaa*", "*aaaaaaaaaa"));
    }
}

proptest! {
    #[test]
    fn read_and_tail_agree_with_a_vector(
        lines in any_lines(),
        pending in pending_rows(),
        from in 0usize..45,
        count in 0usize..45,
        budget in prop_oneof![0usize..200, Just(usize::MAX - 1)],
    ) {
        let all = [lines.clone(), pending.clone()].concat();
        let from = from.min(all.len());
        let to = (from + count).min(all.len());
        let next = from + fitting(all[from..to].iter(), budget);
        let start = all.len() - fitting(all[from..].iter().rev(), budget);
        for transcript in in_memory_and_file(&lines) {
            let view = TranscriptView::new(&transcript, &pending);
            prop_assert_eq!(view.lines(), all.len() as u64);
            let got = view.read(from as u64, to as u64, budget).unwrap();
            prop_assert_eq!(got, read_lines(&all, from, next));
            let got = view.tail(from as u64, budget).unwrap();
            prop_assert_eq!(got, read_lines(&all, start, all.len()));
        }
    }

    #[test]
    fn line_ends_agree_with_a_string(
        lines in any_lines(),
        pending in pending_rows(),
        at in any::<prop::sample::Index>(),
        start in 0usize..80,
        end in 0usize..80,
    ) {
        let all = [lines.clone(), pending.clone()].concat();
        prop_assume!(!all.is_empty());
        let number = at.index(all.len());
        let line: Vec<char> = all[number].chars().collect();
        let start = start.min(line.len());
        let end = end.min(line.len() - start);
        for transcript in in_memory_and_file(&lines) {
            let ends = TranscriptView::new(&transcript, &pending).ends(number as u64, start, end).unwrap();
            prop_assert_eq!(ends.start, String::from_iter(&line[..start]));
            prop_assert_eq!(ends.end, String::from_iter(&line[line.len() - end..]));
            prop_assert_eq!(ends.hidden, line.len() - start - end);
        }
    }
}

#[test]
fn newline_in_a_line_starts_another() {
    let transcript = filled(["a\nb", "c"]);
    assert_eq!(transcript.lines(), 3);
    assert_eq!(TranscriptView::new(&transcript, &[]).read(1, 3, 9).unwrap().text, "b\nc");
}

#[test]
fn no_line_differs_from_an_empty_line() {
    let transcript = Transcript::new();
    assert_eq!(transcript.lines(), 0);
    assert_eq!(TranscriptView::new(&transcript, &[]).read(0, 9, 9).unwrap(), read_lines(&[], 0, 0));
    let transcript = filled([""]);
    assert_eq!(transcript.lines(), 1);
    assert_eq!(TranscriptView::new(&transcript, &[]).read(0, 9, 9).unwrap().lines, 0..1);
}

#[test]
fn twenty_megabytes_of_lines_stay_readable() {
    let count = 2_700_000u64;
    let transcript = filled((1..=count).map(|n| n.to_string()));
    let view = TranscriptView::new(&transcript, &[]);
    let (mut next, mut bytes) = (0, 0);
    while next < count {
        let read = view.read(next, u64::MAX, 1_000_000).unwrap();
        assert_eq!(read.lines.start, next);
        for (number, line) in (next + 1..).zip(read.text.split('\n')) {
            assert_eq!(line.parse(), Ok(number));
        }
        bytes += read.text.len() + 1;
        next = read.lines.end;
    }
    assert!(next == count && bytes > 20_000_000, "{next} {bytes}");
    for from in [0, 1, 65_535, 1_234_567, count - 1] {
        assert_eq!(view.read(from, from + 1, 9).unwrap().text, (from + 1).to_string());
    }
    assert_eq!(view.tail(0, 15).unwrap().text, format!("{}\n{count}", count - 1));
}

#[test]
fn giant_line_is_readable_whole_or_in_part() {
    let giant = "漢🙂".repeat(3_000_000);
    let mut transcript = filled(["before"]);
    transcript.push(&giant);
    transcript.push("after");
    let view = TranscriptView::new(&transcript, &[]);
    assert_eq!(view.read(0, 3, 1000).unwrap(), read_lines(&strings(["before"]), 0, 1));
    assert_eq!(view.tail(0, 1000).unwrap().text, "after");
    let ends = view.ends(1, 3, 2).unwrap();
    assert_eq!(
        (ends.start.as_str(), ends.end.as_str(), ends.hidden),
        ("漢🙂漢", "漢🙂", 5_999_995)
    );
    assert!(view.read(1, 2, 6_000_000).unwrap().text == giant);
    assert_eq!(view.read(1, 2, 5_999_999).unwrap().lines, 1..1);
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_loses_only_later_lines() {
    let mut transcript = Transcript::with_file(|| {
        std::fs::OpenOptions::new().read(true).write(true).open("/dev/full")
    });
    (1..=100_000).for_each(|n| transcript.push(&n.to_string()));
    assert_eq!(transcript.lines(), 100_000);
    assert!(transcript.storage_error().unwrap().contains("No space left"));
    let stored = 100_000 - transcript.lost_lines();
    let view = TranscriptView::new(&transcript, &strings(["row"]));
    assert_eq!(view.lines(), stored + 2);
    let lines = view.read(0, stored, usize::MAX).unwrap().text;
    assert!(lines.len() > 200_000, "{}", lines.len());
    assert_eq!(lines, Vec::from_iter((1..=stored).map(|n| n.to_string())).join("\n"));
    let end = view.read(stored, u64::MAX, 1000).unwrap().text;
    let (notice, row) = end.split_once('\n').unwrap();
    assert_eq!((numbers(notice)[0] as u64, row), (transcript.lost_lines(), "row"));
    assert!(notice.contains("No space left"), "{notice}");
}

#[test]
fn lines_are_lost_without_a_file() {
    let mut transcript = Transcript::with_file(|| Err(std::io::Error::other("no file today")));
    transcript.push("small");
    transcript.push(&"x".repeat(300_000));
    transcript.push("never kept");
    assert_eq!((transcript.lines(), transcript.lost_lines()), (3, 2));
    assert_eq!(transcript.storage_error(), Some("no file today"));
    assert_eq!(TranscriptView::new(&transcript, &[]).read(0, 1, 9).unwrap().text, "small");
}
