//! Key names, and the `send-keys` commands that type text and keys so that they arrive unchanged.

use crate::command::Command;
use crate::id::PaneId;

/// Key names: tmux's own spelling, and other common spellings.
const KEY_NAMES: &[(&str, &[&str])] = &[
    ("Enter", &["Return", "CR"]),
    ("Escape", &["Esc"]),
    ("Tab", &[]),
    ("BTab", &["BackTab"]),
    ("Space", &[]),
    ("BSpace", &["Backspace", "BS"]),
    ("Up", &["ArrowUp"]),
    ("Down", &["ArrowDown"]),
    ("Left", &["ArrowLeft"]),
    ("Right", &["ArrowRight"]),
    ("Home", &[]),
    ("End", &[]),
    ("PPage", &["PageUp", "PgUp"]),
    ("NPage", &["PageDown", "PgDn"]),
    ("IC", &["Insert", "Ins"]),
    ("DC", &["Delete", "Del"]),
    ("F1", &[]),
    ("F2", &[]),
    ("F3", &[]),
    ("F4", &[]),
    ("F5", &[]),
    ("F6", &[]),
    ("F7", &[]),
    ("F8", &[]),
    ("F9", &[]),
    ("F10", &[]),
    ("F11", &[]),
    ("F12", &[]),
    ("KPEnter", &[]),
];

/// How many bytes one `send-keys -H` holds. tmux takes much longer per byte with more arguments:
/// 0.13 s for 40,000 bytes with 50 at a time, 1.7 s with 4,000.
const RAW_BYTES_PER_COMMAND: usize = 50;

/// How many characters one `send-keys -l` holds.
const TEXT_CHARS_PER_COMMAND: usize = 8 * 1024;

/// A key that can be pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TmuxKey {
    /// A key as tmux names it: `Enter`, `C-c`, `M-x`, `a`.
    Named(String),
    /// A byte that is sent to the program unchanged: `0x1b`.
    Byte(u8),
}

/// A name that is not the name of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not the name of a key")]
pub struct UnknownKey {
    /// The name as given.
    pub name: String,
}

impl TmuxKey {
    /// Reads `Enter`, `C-c`, `^C`, `M-S-Up`, `0x1b` or a single character.
    pub fn parse(text: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey { name: text.to_owned() };
        if let Some(hex) = text.strip_prefix("0x") {
            return u8::from_str_radix(hex, 16).map(Self::Byte).map_err(|_| unknown());
        }
        let mut modifiers = String::new();
        let mut rest = text;
        loop {
            rest = match rest.as_bytes() {
                [b'^', _, ..] => {
                    modifiers.push_str("C-");
                    rest.get(1..).unwrap_or_default()
                }
                [m @ (b'C' | b'M' | b'S' | b'c' | b'm' | b's'), b'-', _, ..] => {
                    modifiers.push(char::from(m.to_ascii_uppercase()));
                    modifiers.push('-');
                    rest.get(2..).unwrap_or_default()
                }
                _ => break,
            };
        }
        let base = base_name(rest).ok_or_else(unknown)?;
        // tmux 3.5 and later read `C-C` as Ctrl and Shift, but people write it for Ctrl and c.
        let base = if modifiers.contains('C') && !modifiers.contains('S') && base.len() == 1 {
            base.to_ascii_lowercase()
        } else {
            base
        };
        Ok(Self::Named(modifiers + &base))
    }

    /// The key that ends a line.
    pub fn enter() -> Self {
        Self::Named("Enter".to_owned())
    }

    /// The names of all keys in tmux's spelling, for suggestions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KEY_NAMES.iter().map(|(name, _)| *name)
    }

    /// The command that presses the key.
    pub fn press(&self, pane: PaneId) -> Command {
        let command = Command::action("send-keys").option("-t", pane);
        match self {
            Self::Named(name) => command.arg("--").arg(name),
            Self::Byte(byte) => command.arg("-H").arg(format!("{byte:02x}")),
        }
    }
}

/// tmux's spelling of a key name without modifiers.
fn base_name(text: &str) -> Option<String> {
    let mut chars = text.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return (!only.is_control()).then(|| match only {
            ' ' => "Space".to_owned(),
            other => other.to_string(),
        });
    }
    KEY_NAMES
        .iter()
        .find(|(name, others)| {
            name.eq_ignore_ascii_case(text) || others.iter().any(|o| o.eq_ignore_ascii_case(text))
        })
        .map(|(name, _)| (*name).to_owned())
}

/// The commands that type `text` into a pane byte for byte.
///
/// `send-keys -l` is fast, but it drops characters whose width tmux does not know, and turns
/// control characters into keys, which tmux encodes in the way the program has requested. So only
/// printable ASCII is sent with `-l`, and everything else as raw bytes with `-H`.
pub fn type_text(pane: PaneId, text: &str) -> Vec<Command> {
    let printable = |b: &u8| (b' '..=b'~').contains(b);
    let mut commands = Vec::new();
    for run in text.as_bytes().chunk_by(|a, b| printable(a) == printable(b)) {
        if run.first().is_some_and(printable) {
            for piece in run.chunks(TEXT_CHARS_PER_COMMAND) {
                let send = Command::action("send-keys").option("-t", pane).arg("-l").arg("--");
                commands.push(send.arg(String::from_utf8_lossy(piece)));
            }
        } else {
            for piece in run.chunks(RAW_BYTES_PER_COMMAND) {
                let send = Command::action("send-keys").option("-t", pane).arg("-H");
                commands
                    .push(piece.iter().fold(send, |send, byte| send.arg(format!("{byte:02x}"))));
            }
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> String {
        match TmuxKey::parse(text) {
            Ok(TmuxKey::Named(name)) => name,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn keys_are_parsed_in_every_spelling() {
        assert_eq!(named("Enter"), "Enter");
        assert_eq!(named("return"), "Enter");
        assert_eq!(named("PgUp"), "PPage");
        assert_eq!(named("^C"), "C-c");
        assert_eq!(named("C-C"), "C-c");
        assert_eq!(named("C-S-P"), "C-S-P");
        assert_eq!(named("M-x"), "M-x");
        assert_eq!(named("c-m-Up"), "C-M-Up");
        assert_eq!(named("^"), "^");
        assert_eq!(named("-"), "-");
        assert_eq!(named("漢"), "漢");
        assert_eq!(named(" "), "Space");
        assert_eq!(TmuxKey::parse("0x1b"), Ok(TmuxKey::Byte(27)));
    }

    #[test]
    fn unknown_key_names_are_refused() {
        for text in ["", "Entr", "C-", "C-Foo", "F13", "0x", "0x100", "hello", "Ctrl-C", "\n"] {
            assert!(TmuxKey::parse(text).is_err(), "{text:?} was taken for a key");
        }
    }

    #[test]
    fn text_is_split_into_printable_and_raw() {
        let commands = type_text(PaneId(3), "ls -l;\n漢");
        let lines: Vec<String> = commands.iter().map(Command::to_line).collect();
        assert_eq!(
            lines,
            [r#"send-keys -t "%3" -l -- "ls -l;""#, r#"send-keys -t "%3" -H 0a e6 bc a2"#,]
        );
        assert!(type_text(PaneId(3), "").is_empty());
        assert_eq!(type_text(PaneId(3), &"x".repeat(100_000)).len(), 13);
    }
}
