//! Escape sequences: where one begins and how long it is.

/// The length of the escape sequence at the start of `text`, if there is one.
pub(super) fn length(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let kind = match chars.next()? {
        '\u{1b}' => match chars.next() {
            Some(c @ ' '..='~') => c,
            _ => return Some(1),
        },
        // C1: the same in one character, which takes two bytes as well.
        c @ '\u{80}'..='\u{9f}' => char::from(u8::try_from(u32::from(c) - 0x40).ok()?),
        _ => return None,
    };
    let rest = text.get(2..).unwrap_or_default();
    Some(match kind {
        '[' => 2 + of_control(rest),
        // OSC, DCS, SOS, PM, APC and a title.
        ']' | 'P' | 'X' | '^' | '_' | 'k' => 2 + of_string(rest),
        // Charset and the like.
        ' '..='/' => 2 + with_final(rest, 0x20..=0x2f, 0x30..=0x7e),
        _ => 2,
    })
}

/// Whether a sequence is `ESC [ … m`.
pub(super) fn is_color(sequence: &str) -> bool {
    sequence
        .strip_prefix("\u{1b}[")
        .and_then(|s| s.strip_suffix('m'))
        .is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':'))
}

/// Parameters, then a final byte. What cannot be part of it is left where it is.
fn of_control(rest: &str) -> usize {
    with_final(rest, 0x20..=0x3f, 0x40..=0x7e)
}

fn with_final(
    rest: &str,
    middle: std::ops::RangeInclusive<u8>,
    last: std::ops::RangeInclusive<u8>,
) -> usize {
    let count = rest.bytes().take_while(|b| middle.contains(b)).count();
    count + usize::from(rest.as_bytes().get(count).is_some_and(|b| last.contains(b)))
}

/// Up to the end that it is given. One that has none in its line is no string: what follows is text,
/// and may not be hidden by what comes before.
fn of_string(rest: &str) -> usize {
    let ends = ['\u{7}', '\u{18}', '\u{1a}', '\u{1b}', '\u{9c}', '\n'];
    let Some(at) = rest.find(ends) else { return 0 };
    let end = rest.get(at..).unwrap_or_default();
    match end.chars().next() {
        Some('\n') | None => 0,
        Some('\u{1b}') if end.starts_with("\u{1b}\\") => at + 2,
        Some('\u{1b}') => at,
        Some(c) => at + c.len_utf8(),
    }
}
