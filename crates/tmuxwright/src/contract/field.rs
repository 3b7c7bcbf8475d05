//! Free text as one field of a row or a list: no name, title or directory can be read as further facts.

use std::fmt::Write;

use terminal::text::clean;

/// A plain word unchanged, anything else as a JSON string in which invisible characters are escaped, so
/// that the text can be given back exactly. Quoted are also words that look like an id of tmux.
pub(crate) fn field(text: &str) -> String {
    let is_plain = |c: char| {
        !c.is_whitespace() && !matches!(c, '"' | '·' | '\\' | '`' | '\u{2800}' | '\u{fffd}')
    };
    if !text.is_empty() && text.chars().all(is_plain) && clean(text, false) == text && !is_id(text)
    {
        return text.to_owned();
    }
    quote(text)
}

/// The same in a list joined by commas, where ids and blanks are allowed: `@1 (main:1), dev`.
pub(super) fn list_item(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !matches!(c, ',' | '"' | '\\' | '`');
    let is_bare = !text.is_empty() && text.chars().all(is_plain) && clean(text, false) == text;
    if is_bare { text.to_owned() } else { quote(text) }
}

fn quote(text: &str) -> String {
    json_line(&text.into())
}

/// A value as JSON on one line, in which invisible characters are escaped.
pub(crate) fn json_line(value: &serde_json::Value) -> String {
    let json = value.to_string();
    if clean(&json, false) == json { json } else { escape_invisible(&json) }
}

/// Whether a word is written like an id: `%3`, `@1`, `$0`.
fn is_id(word: &str) -> bool {
    let number = word.strip_prefix(['%', '@', '$']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// JSON text with the characters that cleaning would remove written as escapes. It means the same, and a
/// terminal that prints it shows every character.
pub(crate) fn escape_invisible(quoted: &str) -> String {
    let mut shown = String::with_capacity(quoted.len());
    let mut buffer = [0; 4];
    for c in quoted.chars() {
        if !clean(c.encode_utf8(&mut buffer), false).is_empty() {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay_bare() {
        for word in ["bash", "/home/x", "dev-1", "日本", "a=b", "vim.tiny"] {
            assert_eq!(field(word), word);
        }
    }

    #[test]
    fn text_that_could_be_other_facts_is_quoted() {
        for (text, shown) in [
            ("/tmp/a · own", "\"/tmp/a · own\""),
            ("my session", "\"my session\""),
            ("say \"hi\"", "\"say \\\"hi\\\"\""),
            ("", "\"\""),
            ("a\nb\tc", "\"a\\nb\\tc\""),
            ("\u{1b}[1mx\u{202e}y", "\"\\u001b[1mx\\u202ey\""),
        ] {
            assert_eq!(field(text), shown);
        }
    }

    #[test]
    fn quoted_text_can_be_given_back_exactly() {
        for text in
            ["u\u{202e}v", "\u{1b}[1mx", "a\u{e0041}b", "tab\there", "x\u{2800}·\u{2800}own"]
        {
            let shown = field(text);
            assert_eq!(clean(&shown, false), shown, "{text:?}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }

    #[test]
    fn words_that_look_like_ids_are_quoted() {
        assert_eq!(
            ["%3", "$0", "@12", "$x", "%"].map(field),
            ["\"%3\"", "\"$0\"", "\"@12\"", "$x", "%"]
        );
    }
}
