//! Cutting text to a length.

/// Cuts text to at most its last `max` characters, at the start of a line unless the last line is
/// longer. Returns the number of lines that were dropped or cut.
pub fn keep_tail(text: &mut String, max: usize) -> usize {
    let Some((at, _)) = text.char_indices().rev().nth(max.saturating_sub(1)) else {
        return 0;
    };
    if at == 0 {
        return 0;
    }
    // A last line that is longer than `max` is cut in its middle.
    let boundary = text.get(at..).and_then(|tail| tail.find('\n')).map(|n| at + n + 1);
    let whole_line = text.get(..at).is_some_and(|head| head.ends_with('\n'));
    let start = match boundary {
        _ if whole_line => at,
        Some(boundary) if boundary < text.len() => boundary,
        _ => at,
    };
    let dropped = text.get(..start).map_or(0, |head| head.matches('\n').count()).max(1);
    text.drain(..start);
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(text: &str, max: usize) -> (String, usize) {
        let mut text = text.to_owned();
        let dropped = keep_tail(&mut text, max);
        (text, dropped)
    }

    #[test]
    fn short_text_is_unchanged() {
        assert_eq!(tail("one\ntwo", 7), ("one\ntwo".into(), 0));
        assert_eq!(tail("", 7), ("".into(), 0));
    }

    #[test]
    fn whole_lines_are_kept() {
        assert_eq!(tail("one\ntwo\nthree", 9), ("two\nthree".into(), 1));
        assert_eq!(tail("one\ntwo\nthree", 8), ("three".into(), 2));
        assert_eq!(tail("漢字\n漢字", 3), ("漢字".into(), 1));
    }

    #[test]
    fn long_line_keeps_its_end() {
        assert_eq!(tail("abcdefgh", 3), ("fgh".into(), 1));
    }
}
