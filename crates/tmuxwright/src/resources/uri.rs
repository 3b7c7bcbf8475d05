//! URIs of resources: RFC 6570 templates with simple variables, one per segment. Pure.
//!
//! Written URIs are percent-encoded as the RFC requires: pane `%3` is `tmux://panes/%253`. URIs that
//! are read need not be: people write `tmux://panes/%3`.

const SCHEME: &str = "tmux://";

/// The end of templates, if several tmux servers can be reached.
pub(super) const SERVER_TEMPLATE: &str = "{?server}";

/// The end of a URI before the name of its tmux server.
const SERVER_QUERY: &str = "?server=";

/// A URI without its tmux server, and that server.
pub(super) fn split_server(uri: &str) -> Option<(&str, String)> {
    let (uri, server) = uri.split_once(SERVER_QUERY)?;
    Some((uri, decode(server)?)).filter(|(_, server)| !server.is_empty())
}

/// The URI for a tmux server.
pub(super) fn with_server(uri: &str, server: &str) -> String {
    format!("{uri}{SERVER_QUERY}{}", encode(server))
}

/// The variables of a template, in order.
pub(super) fn variables(template: &'static str) -> impl Iterator<Item = &'static str> {
    segments(template).filter_map(variable)
}

/// Expands a template with these values, in the order of its variables.
pub(super) fn expand(template: &str, values: &[&str]) -> String {
    let mut values = values.iter();
    let filled = segments(template).map(|part| match variable(part) {
        Some(_) => values.next().map(|value| encode(value)).unwrap_or_default(),
        None => part.to_owned(),
    });
    format!("{SCHEME}{}", filled.collect::<Vec<_>>().join("/"))
}

/// Matches a URI against a template. Returns the variables with their values, still encoded.
pub(super) fn match_template<'a>(
    template: &'static str,
    uri: &'a str,
) -> Option<Vec<(&'static str, &'a str)>> {
    let mut values = Vec::new();
    let mut parts = path(uri)?.split('/');
    for wanted in segments(template) {
        let part = parts.next()?;
        match variable(wanted) {
            Some(name) if !part.is_empty() => values.push((name, part)),
            None if part == wanted => {}
            _ => return None,
        }
    }
    parts.next().is_none().then_some(values)
}

/// The first segment of a URI; of a text without our scheme, the part before the first slash.
pub(super) fn first(uri: &str) -> &str {
    path(uri).unwrap_or(uri).split('/').next().unwrap_or_default()
}

fn path(uri: &str) -> Option<&str> {
    let (scheme, path) = uri.split_at_checked(SCHEME.len())?;
    scheme.eq_ignore_ascii_case(SCHEME).then_some(path)
}

fn segments(template: &str) -> std::str::Split<'_, char> {
    template.strip_prefix(SCHEME).unwrap_or(template).split('/')
}

fn variable(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Percent-encodes a value.
pub(super) fn encode(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// Percent-decodes a value. A `%` without two hexadecimal digits after it is kept. None if the result
/// is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let hex = match behind {
            [high, low, ..] if byte == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match hex {
            Some((high, low)) => {
                out.push(high * 16 + low);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                out.push(byte);
                rest = behind;
            }
        }
    }
    String::from_utf8(out).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_percent_encoded() {
        for (value, encoded) in [
            ("%3", "%253"),
            ("@1", "%401"),
            ("$0", "%240"),
            ("a/b", "a%2Fb"),
            ("a%2Fb", "a%252Fb"),
            ("bücher", "b%C3%BCcher"),
            ("~a-b_c.d", "~a-b_c.d"),
        ] {
            assert_eq!(encode(value), encoded);
            assert_eq!(decode(encoded).as_deref(), Some(value));
        }
        let tail = expand("tmux://panes/{pane}/tail/{lines}/ansi", &["%3", "20"]);
        assert_eq!(tail, "tmux://panes/%253/tail/20/ansi");
    }

    #[test]
    fn text_without_encoding_is_kept() {
        for text in ["%3", "100%", "%zz", "a%2", "ü", "a b", "%+1"] {
            assert_eq!(decode(text).as_deref(), Some(text));
        }
        assert_eq!(decode("%FF"), None);
    }

    #[test]
    fn uri_is_split_before_it_is_decoded() {
        let template = "tmux://sessions/{session}/tree";
        assert_eq!(
            match_template(template, "tmux://sessions/a%2Fb/tree"),
            Some(vec![("session", "a%2Fb")])
        );
        assert_eq!(
            match_template(template, "TMUX://sessions/x/tree"),
            Some(vec![("session", "x")])
        );
        for wrong in [
            "tmux://sessions/a/b/tree",
            "tmux://sessions//tree",
            "tmux://sessions/a/trees",
            "tmux://sessions/a",
            "tmux://sessions/a/tree/",
            "tmux:/sessions/a/tree",
            "http://sessions/a/tree",
            "ü",
            "",
        ] {
            assert_eq!(match_template(template, wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn encoding_round_trips(value in ".*") {
            prop_assert_eq!(decode(&encode(&value)), Some(value));
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in ".*") {
            let _ = (decode(&text), match_template("tmux://panes/{pane}", &text), first(&text));
        }
    }
}
