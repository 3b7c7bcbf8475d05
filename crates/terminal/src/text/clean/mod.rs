//! Takes out of text what a reader cannot see: escape sequences, control characters, and characters
//! that hide or reorder others. A terminal's output is written by anybody.

mod escape;
#[cfg(test)]
mod tests;

/// Cleans text; lines and tabs stay, colours (`ESC [ … m`) only if asked for.
pub fn clean(text: &str, colors: bool) -> String {
    if is_clean(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match escape::length(rest) {
            Some(length) => {
                let sequence = rest.get(..length).unwrap_or_default();
                if colors && escape::is_color(sequence) {
                    out.push_str(sequence);
                }
                length
            }
            None => {
                if stays(c, out.chars().next_back()) {
                    out.push(c);
                }
                c.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// Text for the middle of a row: line ends and tabs are shown, not obeyed, and what begins in it ends
/// in it.
pub fn inline(text: &str) -> String {
    if is_clean(text) {
        return text.to_owned();
    }
    let shown = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    clean(&shown, false)
}

/// Whether text is printable ASCII alone: nothing in it needs cleaning.
pub fn is_clean(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// Whether a character stays. `before` is what it follows.
fn stays(c: char, before: Option<char>) -> bool {
    match c {
        '\n' | '\t' => true,
        c if c.is_control() => false,
        // Needed in emoji and in some scripts, and nowhere else. One at a time: a row of them is a
        // message that nobody sees.
        JOINER | NON_JOINER => before.is_some_and(|b| is_base(b) || is_style(b)),
        c if is_style(c) => before.is_some_and(is_base),
        c => !is_hidden(c),
    }
}

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';

/// Text or emoji style.
fn is_style(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

fn is_base(c: char) -> bool {
    !c.is_ascii() && !is_style(c) && !matches!(c, JOINER | NON_JOINER)
}

/// Characters without a shape. Private ones have one: prompts are drawn with them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        // Direction.
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Line ends that are none to a terminal.
        | '\u{2028}' | '\u{2029}'
        // Soft hyphen, zero width, invisible operators, deprecated formats, byte order mark.
        | '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}'
        // Fillers and vowels without a shape.
        | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Variation selectors, of Mongolian too.
        | '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0d}'
        // Annotations, and formats of shorthand and of music.
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags and more variation selectors: whole sentences can be written in them.
        | '\u{e0000}'..='\u{e0fff}'
        // No characters at all.
        | '\u{fdd0}'..='\u{fdef}')
        || u32::from(c) & 0xfffe == 0xfffe
}
