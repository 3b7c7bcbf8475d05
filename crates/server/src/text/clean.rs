//! Takes out of text what a reader cannot see: escape sequences, control characters, and characters
//! that hide or reorder others. A terminal's output is written by anybody.

use serde_json::Value;

/// Cleans text; lines and tabs stay, colours (`ESC [ … m`) only if asked for.
pub(crate) fn clean(text: &str, colors: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\u{1b}' {
            let length = escape_length(rest);
            let (sequence, tail) = rest.split_at(length);
            if colors && is_sgr(sequence) {
                out.push_str(sequence);
            }
            rest = tail;
            continue;
        }
        if is_visible(c, out.chars().next_back()) {
            out.push(c);
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    out
}

/// Cleans every string in a value.
pub(crate) fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) if !is_clean(text) => *text = clean(text, false),
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(map) => map.values_mut().for_each(clean_value),
        _ => {}
    }
}

/// Text for the middle of a row: line ends and tabs are shown, not obeyed.
pub(crate) fn inline(text: &str) -> String {
    if !text.contains(['\n', '\r', '\t']) {
        return text.to_owned();
    }
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}

fn is_clean(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// The length of the escape sequence at the start of `text`; to the end if it is torn.
fn escape_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let until = |from: usize, ends: &dyn Fn(usize, u8) -> bool| {
        let found = bytes.iter().enumerate().skip(from).find(|(at, b)| ends(*at, **b));
        found.map_or(bytes.len(), |(at, _)| at + 1)
    };
    match bytes.get(1) {
        // CSI: parameters, then a final byte. What cannot be part of one is left where it is.
        Some(b'[') => csi_length(bytes),
        // OSC, DCS, SOS, PM, APC: up to BEL or ESC \.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => until(2, &|at, b| {
            b == 7 || (b == b'\\' && bytes.get(at.wrapping_sub(1)) == Some(&0x1b))
        }),
        // Charset and the like: one more byte follows.
        Some(b' '..=b'/') => floor(text, 3),
        Some(b'0'..=b'~') => 2,
        Some(_) => 1,
        None => 1,
    }
}

fn csi_length(bytes: &[u8]) -> usize {
    let parameters = bytes.iter().skip(2).take_while(|b| (0x20..=0x3f).contains(*b)).count();
    let ends = bytes.get(2 + parameters).is_some_and(|b| (0x40..=0x7e).contains(b));
    2 + parameters + usize::from(ends)
}

fn floor(text: &str, at: usize) -> usize {
    (1..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

fn is_sgr(sequence: &str) -> bool {
    sequence
        .strip_prefix("\u{1b}[")
        .and_then(|s| s.strip_suffix('m'))
        .is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':'))
}

/// Whether a character may stay. `before` is what it follows.
fn is_visible(c: char, before: Option<char>) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Joiners and variation selectors belong to emoji and some scripts, nowhere else.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => before.is_some_and(|b| !b.is_ascii()),
        // Soft hyphen, zero width, invisible operators, byte order mark.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        // Tags and the variation selectors that can carry hidden text.
        | '\u{e0000}'..='\u{e0fff}' => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_go_and_text_stays() {
        let table = [
            ("a\u{1b}[1;31mred\u{1b}[0mb", "aredb"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(Bx\u{1b}=y", "xy"),
            ("a\u{1b}[", "a"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[12é", "aé"),
            ("a\u{1b}é", "aé"),
            ("a\u{1b}[1\u{1b}[2mb", "ab"),
            ("a\u{1b}]never ends", "a"),
            ("\u{9b}31mx\u{7f}\u{8}\r", "31mx"),
            ("one\n\ttwo", "one\n\ttwo"),
        ];
        for (input, expected) in table {
            assert_eq!(clean(input, false), expected, "{input:?}");
        }
    }

    #[test]
    fn colours_stay_when_asked_for_and_nothing_else() {
        assert_eq!(
            clean("\u{1b}[38;5;9mx\u{1b}[2J\u{1b}[4:3my\u{1b}[0m", true),
            "\u{1b}[38;5;9mx\u{1b}[4:3my\u{1b}[0m"
        );
    }

    #[test]
    fn hidden_characters_go() {
        assert_eq!(
            clean("pay\u{202e}load \u{200b}a\u{e0041}b\u{feff}\u{2066}", false),
            "payload ab"
        );
        assert_eq!(clean("i\u{fe0f}\u{200d}", false), "i");
    }

    #[test]
    fn emoji_and_scripts_that_need_joiners_stay_whole() {
        for text in ["👨\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "می\u{200c}خواهم", "漢字🙂é"]
        {
            assert_eq!(clean(text, false), text);
        }
    }

    #[test]
    fn rows_stay_on_one_line() {
        assert_eq!(inline("a\nb\tc"), "a\\nb\\tc");
    }
}
