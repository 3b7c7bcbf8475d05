//! Blanks at the ends of coloured lines.

/// The escape character, and the characters that begin a CSI and an OSC sequence after it.
const ESCAPE: char = '\u{1b}';
const CSI: char = '[';
const OSC: char = ']';

/// Removes blanks at the ends of lines that cannot be seen, such as those of a foreground colour only.
/// Blanks with a background, or with a line through, above or below them, stay. So do all sequences,
/// because the next line continues their style.
pub fn trim_styled_blanks(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Blanks and sequences since the last visible character, and the sequences alone.
    let (mut pending, mut sequences) = (String::new(), String::new());
    let mut style = BlankStyle::default();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (piece, behind) = rest.split_at(sequence_length(rest).unwrap_or(c.len_utf8()));
        rest = behind;
        match c {
            ESCAPE if piece.len() > 1 => {
                style.apply(piece);
                pending.push_str(piece);
                sequences.push_str(piece);
                continue;
            }
            ' ' if !style.is_visible() => {
                pending.push(' ');
                continue;
            }
            '\n' => kept.push_str(&sequences),
            _ => kept.push_str(&pending),
        }
        kept.push(c);
        pending.clear();
        sequences.clear();
    }
    kept + &sequences
}

/// The attributes with which a blank can be seen.
#[derive(Default)]
struct BlankStyle {
    background: bool,
    reverse: bool,
    underlined: bool,
    struck: bool,
    overlined: bool,
}

impl BlankStyle {
    fn is_visible(&self) -> bool {
        self.background || self.reverse || self.underlined || self.struck || self.overlined
    }

    /// Applies a sequence, if it is SGR.
    fn apply(&mut self, sequence: &str) {
        let parameters = sequence.strip_prefix([ESCAPE]).and_then(|it| it.strip_prefix(CSI));
        let Some(parameters) = parameters.and_then(|it| it.strip_suffix('m')) else { return };
        let mut groups = parameters.split(';');
        while let Some(group) = groups.next() {
            let (code, argument) = group.split_once(':').unwrap_or((group, ""));
            match code {
                "" | "0" => *self = Self::default(),
                "4" => self.underlined = argument != "0",
                "21" => self.underlined = true,
                "24" => self.underlined = false,
                "7" | "27" => self.reverse = code == "7",
                "9" | "29" => self.struck = code == "9",
                "53" | "55" => self.overlined = code == "53",
                "49" => self.background = false,
                "38" | "48" | "58" => {
                    self.background |= code == "48";
                    // The colour follows as groups of its own: `5;N` or `2;R;G;B`.
                    let colour = if argument.is_empty() { groups.next() } else { None };
                    let skipped = match colour {
                        Some("5") => 1,
                        Some("2") => 3,
                        _ => 0,
                    };
                    groups.by_ref().take(skipped).for_each(drop);
                }
                _ => {
                    let code = code.parse::<u8>().unwrap_or_default();
                    self.background |= matches!(code, 40..=47 | 100..=107);
                }
            }
        }
    }
}

/// Length of the CSI or OSC sequence at the beginning of a text.
fn sequence_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix(ESCAPE)?;
    let end = match body.chars().next()? {
        CSI => body.char_indices().skip(1).find(|(_, c)| ('@'..='~').contains(c))?.0 + 1,
        OSC => {
            let (bell, terminator) = (body.find('\u{7}'), body.find("\u{1b}\\").map(|at| at + 1));
            [bell, terminator].into_iter().flatten().min()? + 1
        }
        _ => return None,
    };
    Some(ESCAPE.len_utf8() + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_invisible_blanks_are_removed() {
        for (text, trimmed) in [
            ("~   \nx  y ", "~\nx  y"),
            // The style is continued in the next line.
            ("\u{1b}[94m~   \n~   \u{1b}[39m\nx", "\u{1b}[94m~\n~\u{1b}[39m\nx"),
            ("a \u{1b}[31m b  \u{1b}[0m ", "a \u{1b}[31m b\u{1b}[0m"),
            // Blanks that can be seen stay, up to the last of them.
            ("\u{1b}[44mx  \n  \u{1b}[49m  ", "\u{1b}[44mx  \n  \u{1b}[49m"),
            ("x \u{1b}[7m \u{1b}[27m ", "x \u{1b}[7m \u{1b}[27m"),
            ("\u{1b}[4mx \u{1b}[4:0m ", "\u{1b}[4mx \u{1b}[4:0m"),
            ("\u{1b}[48;5;4m \u{1b}[m ", "\u{1b}[48;5;4m \u{1b}[m"),
            ("\u{1b}[48:2::1:2:3m ", "\u{1b}[48:2::1:2:3m "),
            ("\u{1b}[104m \u{1b}[9m \u{1b}[53m ", "\u{1b}[104m \u{1b}[9m \u{1b}[53m "),
            // The numbers of a foreground colour are not attributes.
            ("\u{1b}[38;5;44mx ", "\u{1b}[38;5;44mx"),
            ("\u{1b}[38;2;7;4;9mx ", "\u{1b}[38;2;7;4;9mx"),
            ("\u{1b}[58;5;7mx ", "\u{1b}[58;5;7mx"),
            // Links, and sequences without an end.
            ("\u{1b}]8;;u\u{1b}\\x  \u{1b}]8;;\u{1b}\\ ", "\u{1b}]8;;u\u{1b}\\x\u{1b}]8;;\u{1b}\\"),
            ("x \u{1b}[", "x \u{1b}["),
            ("x \u{1b}", "x \u{1b}"),
            ("", ""),
        ] {
            assert_eq!(trim_styled_blanks(text), trimmed, "{text:?}");
        }
    }
}
