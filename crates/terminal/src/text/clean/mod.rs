//! Removal of everything invisible from text: escape sequences, control characters, and characters
//! that hide or reorder others.
//!
//! Terminal output is untrusted: text that a person cannot see must not reach a program either.

mod escape;
#[cfg(test)]
mod tests;

/// Removes escape sequences and invisible characters. Newlines and tabs stay, and with `colors` also
/// SGR sequences (`ESC [ … m`).
pub fn clean(text: &str, colors: bool) -> String {
    if is_printable_ascii(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match escape::sequence_length(rest) {
            Some(length) => {
                let sequence = rest.get(..length).unwrap_or_default();
                if colors && escape::is_sgr(sequence) {
                    out.push_str(sequence);
                }
                length
            }
            None => {
                if is_kept(c, out.chars().next_back()) {
                    out.push(c);
                }
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Cleans text for use within a line: newlines, carriage returns and tabs become `\n`, `\r` and `\t`.
/// No escape sequence in it can extend into the text around it.
pub fn inline(text: &str) -> String {
    if is_printable_ascii(text) {
        return text.to_owned();
    }
    let escaped = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    clean(&escaped, false)
}

/// Whether text consists of printable ASCII characters only, so that cleaning would not change it.
pub fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// Whether cleaning keeps a character that follows `previous`.
fn is_kept(c: char, previous: Option<char>) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Emoji and some scripts need these, but only one at a time: a series of them could encode an
        // invisible message.
        JOINER | NON_JOINER => previous.is_some_and(|p| is_base(p) || is_style_selector(p)),
        c if is_style_selector(c) => previous.is_some_and(is_base),
        c => !is_hidden(c),
    }
}

/// Zero-width non-joiner.
const NON_JOINER: char = '\u{200c}';
/// Zero-width joiner.
const JOINER: char = '\u{200d}';

/// Whether a character selects text or emoji style for the one before it.
fn is_style_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether a style selector may follow a character.
fn is_base(c: char) -> bool {
    !c.is_ascii() && !is_style_selector(c) && !matches!(c, JOINER | NON_JOINER)
}

/// Whether a character has no visible glyph. Private-use characters have one: prompts use them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        // Direction marks, embeddings and isolates.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Line and paragraph separator, which do not end a line in a terminal.
        | '\u{2028}' | '\u{2029}'
        // Soft hyphen, zero width, invisible operators, deprecated formats, byte order mark.
        | '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        // Hangul fillers and invisible Khmer vowels.
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Variation selectors, including the Mongolian ones.
        | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0d}'
        // Annotations, shorthand and musical formatting.
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags and more variation selectors, which can encode whole sentences.
        | '\u{e0000}'..='\u{e0fff}'
        // Noncharacters.
        | '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}
