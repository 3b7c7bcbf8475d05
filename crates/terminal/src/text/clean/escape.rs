//! Recognition of escape sequences and their length.

/// The length in bytes of the escape sequence at the start of `text`, if there is one.
pub(super) fn sequence_length(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let kind = match chars.next()? {
        '\u{1b}' => match chars.next() {
            Some(c @ ' '..='~') => c,
            _ => return Some(1),
        },
        // C1: one character for `ESC` and the next one, of two bytes as well.
        c @ '\u{80}'..='\u{9f}' => char::from(u8::try_from(u32::from(c) - 0x40).ok()?),
        _ => return None,
    };
    let rest = text.get(2..).unwrap_or_default();
    Some(match kind {
        '[' => 2 + length_to_final(rest, 0x20..=0x3f, 0x40..=0x7e),
        // OSC, DCS, SOS, PM, APC and the title sequence of screen.
        ']' | 'P' | 'X' | '^' | '_' | 'k' => 2 + string_length(rest),
        // Charset designation and similar.
        ' '..='/' => 2 + length_to_final(rest, 0x20..=0x2f, 0x30..=0x7e),
        _ => 2,
    })
}

/// Whether a sequence is SGR: `ESC [ … m`.
pub(super) fn is_sgr(sequence: &str) -> bool {
    sequence
        .strip_prefix("\u{1b}[")
        .and_then(|s| s.strip_suffix('m'))
        .is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit() || b == b';' || b == b':'))
}

/// The length of parameters and the final byte. A byte that cannot belong to the sequence ends it and
/// is not counted.
fn length_to_final(
    rest: &str,
    middle: std::ops::RangeInclusive<u8>,
    last: std::ops::RangeInclusive<u8>,
) -> usize {
    let count = rest.bytes().take_while(|b| middle.contains(b)).count();
    count + usize::from(rest.as_bytes().get(count).is_some_and(|b| last.contains(b)))
}

/// The length of a string with its terminator. Without a terminator in the same line it is 0: an
/// unfinished sequence must not hide the text after it.
fn string_length(rest: &str) -> usize {
    let terminators = ['\u{7}', '\u{18}', '\u{1a}', '\u{1b}', '\u{9c}', '\n'];
    let Some(at) = rest.find(terminators) else { return 0 };
    let end = rest.get(at..).unwrap_or_default();
    match end.chars().next() {
        Some('\n') | None => 0,
        Some('\u{1b}') if end.starts_with("\u{1b}\\") => at + 2,
        Some('\u{1b}') => at,
        Some(c) => at + c.len_utf8(),
    }
}
