//! Modifiers of a replacement: which there are, and the arguments they take.

use super::arguments::{arithmetic, check_time, number};
use super::parser::{Operation, Parsed, Parser};
use super::{FormatError, FormatUse, pattern};

/// Limits of the modifiers with a number.
const MAX_TRUNCATION: i64 = 10_000;
const MAX_PADDING: i64 = 1_000;

impl<'a> Parser<'a> {
    pub(super) fn not_a_modifier(&self, c: char) -> FormatError {
        if matches!(c, 'E' | 'T') {
            return FormatError::new(
                format!("`{c}` expands a value as a format, and `#(…)` in it would run a program"),
                "name the option without it; show_option shows it too",
            );
        }
        FormatError::new(
            format!("`{c}` is not one of the modifiers that a format may use"),
            "docs/allow-lists.md lists them",
        )
    }

    /// One modifier with its arguments.
    pub(super) fn modifier(&mut self) -> Parsed<Option<Operation>> {
        for (text, operation) in [
            ("==", Operation::Compare),
            ("!=", Operation::Compare),
            ("<=", Operation::Compare),
            (">=", Operation::Compare),
            ("<", Operation::Compare),
            (">", Operation::Compare),
            ("&&", Operation::Logic),
            ("||", Operation::Logic),
            ("!!", Operation::Not),
            ("!", Operation::Not),
        ] {
            if self.take(text) {
                return Ok(Some(operation));
            }
        }
        let Some(letter) = self.next() else { return Err(self.unclosed()) };
        let arguments = match letter {
            '=' | 'p' if self.rest().starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                vec![self.until(&[';', ':'])?]
            }
            _ => self.arguments()?,
        };
        self.apply(letter, &arguments)
    }

    /// Checks a modifier's arguments.
    fn apply(&mut self, letter: char, arguments: &[&str]) -> Parsed<Option<Operation>> {
        let flags = |allowed: &str| {
            let flags = arguments.first().copied().unwrap_or_default();
            match arguments.len() < 2 && flags.chars().all(|flag| allowed.contains(flag)) {
                true => Ok(flags),
                false => Err(FormatError::new(
                    format!("`{flags}` is not an argument of the modifier `{letter}`"),
                    "docs/allow-lists.md lists them",
                )),
            }
        };
        let regex = |flags: &str| flags.contains('r');
        Ok(Some(match (letter, arguments) {
            ('b' | 'd' | 'n' | 'w', []) => return Ok(None),
            ('l', []) => Operation::Literal,
            ('a' | 'c', []) => Operation::Convert,
            ('q', _) => return flags("eha").map(|_| None),
            ('S' | 'W' | 'P' | 'L', _) => flags("intr").map(|_| Operation::Loop(letter as u8))?,
            ('m', _) => Operation::Match { regex: regex(flags("ri")?) },
            ('C', _) => Operation::Search { regex: regex(flags("ri")?) },
            ('e', arguments) => arithmetic(arguments).map(|()| Operation::Arithmetic)?,
            ('=', [width] | [width, _]) => {
                return number(width, -MAX_TRUNCATION, MAX_TRUNCATION).map(|()| None);
            }
            ('p', [width]) => return number(width, -MAX_PADDING, MAX_PADDING).map(|()| None),
            ('s', [find, _] | [find, _, "i"]) => return pattern::check(find, true).map(|()| None),
            ('t', [] | ["p"]) => return Ok(None),
            ('t', ["f", time]) if self.usage == FormatUse::Once => {
                return check_time(time).map(|()| None);
            }
            ('=' | 'p' | 's' | 't', _) => {
                return Err(FormatError::new(
                    format!("the arguments of the modifier `{letter}` are not among those allowed"),
                    "docs/allow-lists.md lists them",
                ));
            }
            (letter, _) => return Err(self.not_a_modifier(letter)),
        }))
    }

    /// Arguments between `/` or `|`, if there are any.
    fn arguments(&mut self) -> Parsed<Vec<&'a str>> {
        let mut arguments = Vec::new();
        let Some(mark @ ('/' | '|')) = self.peek() else { return Ok(arguments) };
        while self.peek() == Some(mark) {
            self.next();
            if matches!(self.peek(), Some(';' | ':')) {
                break;
            }
            arguments.push(self.until(&[mark, ';', ':'])?);
        }
        Ok(arguments)
    }

    /// Plain text up to one of `ends`, which is not consumed. `#:` stands for a colon.
    pub(super) fn until(&mut self, ends: &[char]) -> Parsed<&'a str> {
        let from = self.at;
        while let Some(c) = self.peek() {
            if ends.contains(&c) {
                return Ok(self.text.get(from..self.at).unwrap_or_default());
            }
            let colon = self.rest().starts_with("#:");
            let special = "#,{}".contains(c) || (c == '%' && self.usage == FormatUse::Stored);
            if special && !colon {
                return Err(FormatError::new(
                    format!("`{c}` stands in an argument of a modifier"),
                    "arguments must be plain text",
                ));
            }
            self.at += if colon { 2 } else { c.len_utf8() };
        }
        Err(self.unclosed())
    }
}
