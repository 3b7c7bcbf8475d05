//! Typed rows: structs read from the output of a tmux format (`-F`).
//!
//! Titles, names and paths may hold any character, line ends included, and no tmux format prints
//! them unambiguously by itself. On all versions `#{q:…}` puts a backslash before every character
//! that is special to a shell, `;` and `\` among them. So each value is printed with `q:` and ended
//! by a bare `;`. From 3.4 tmux also prints control characters as `\t` or `\033`; `q:` never
//! escapes letters and digits, so both escapes can be told apart and undone. 3.4 (and no
//! other version) prints one more backslash before a `$` that could begin a variable.

use crate::error::Error;
use crate::id::{PaneId, SessionId, WindowId};

/// A struct that can be read from one line of a `-F` format.
pub trait Row: Sized {
    /// The format variables in order, and whether each can hold characters that must be escaped.
    const FIELDS: &'static [(&'static str, bool)];

    /// Reads the values in the order of [`Row::FIELDS`].
    fn read(values: &mut FieldValues) -> Option<Self>;

    /// The format that prints this row.
    fn format() -> String {
        let expression = |&(field, any_text): &(&str, bool)| match any_text {
            true => format!("#{{q:{field}}};"),
            // Numbers and ids need no escaping, and tmux expands this a quarter faster.
            false => format!("#{{{field}}};"),
        };
        Self::FIELDS.iter().map(expression).collect()
    }

    /// The format for [`Server::subscribe_format`](crate::Server::subscribe_format). tmux sends the
    /// value outside of replies, where a line end would begin a protocol line, so line ends are
    /// replaced.
    fn subscription_format() -> String {
        let expression = |&(field, any_text): &(&str, bool)| match any_text {
            true => format!("#{{s/\n/ /:{field}}};"),
            false => format!("#{{{field}}};"),
        };
        Self::FIELDS.iter().map(expression).collect()
    }

    /// Reads a reply of one row.
    fn parse_one(command: &str, reply: &[u8]) -> Result<Self, Error> {
        Self::parse_all(command, reply)?.pop().ok_or_else(|| Error::Unexpected {
            command: command.to_owned(),
            detail: "no row".to_owned(),
        })
    }

    /// Reads all the rows of a reply.
    fn parse_all(command: &str, reply: &[u8]) -> Result<Vec<Self>, Error> {
        let mut rest = reply;
        let mut rows = Vec::new();
        while !rest.is_empty() {
            let row = FieldValues::split(&mut rest, Self::FIELDS.len())
                .and_then(|mut values| Self::read(&mut values))
                .ok_or_else(|| Error::unexpected(command, reply))?;
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Declares a struct that implements [`Row`], with the format variable of each field.
#[macro_export]
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty = $format:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        $vis struct $name {
            $($(#[$doc])* $vis $field: $type,)*
        }

        impl $crate::format::Row for $name {
            const FIELDS: &'static [(&'static str, bool)] =
                &[$(($format, <$type as $crate::format::FieldValue>::ANY_TEXT)),*];

            fn read(values: &mut $crate::format::FieldValues) -> Option<Self> {
                Some(Self { $($field: values.next()?,)* })
            }
        }
    };
}

/// The values of a reply as text, read one after the other.
#[derive(Debug)]
pub struct FieldValues(std::vec::IntoIter<String>);

impl FieldValues {
    /// Removes one row of `count` values and its line end from the front of `rest`.
    fn split(rest: &mut &[u8], count: usize) -> Option<Self> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(take_value(rest)?);
        }
        *rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        Some(Self(values.into_iter()))
    }

    /// All values of a reply, for formats with nested loops, where the number of values per line
    /// varies.
    pub fn all(command: &str, reply: &[u8]) -> Result<Self, Error> {
        let mut rest = reply;
        let mut values = Vec::new();
        while !matches!(rest, [] | [b'\n']) {
            // Every value is ended by `;`, so a line end in front of a value ends the previous
            // line.
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            values.push(take_value(&mut rest).ok_or_else(|| Error::unexpected(command, reply))?);
        }
        Ok(Self(values.into_iter()))
    }

    /// The next value, parsed. `None` at the end or if the value is invalid.
    #[expect(clippy::should_implement_trait, reason = "each call may parse another type")]
    pub fn next<T: FieldValue>(&mut self) -> Option<T> {
        T::parse(self.0.next()?)
    }
}

/// Reads one value up to its closing `;`, undoing both kinds of escape.
fn take_value(rest: &mut &[u8]) -> Option<String> {
    let mut value = Vec::new();
    loop {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        match byte {
            b';' => return Some(String::from_utf8_lossy(&value).into_owned()),
            b'\\' => value.push(take_escape(rest)?),
            // `q:` escapes every `$`. A bare one is of tmux 3.4, which escaped its backslash again.
            b'$' if value.last() == Some(&b'\\') => {
                value.pop();
                value.push(b'$');
            }
            byte => value.push(byte),
        }
    }
}

/// Reads the escape after a backslash: three octal digits, a C letter, or the character itself.
pub(crate) fn take_escape(rest: &mut &[u8]) -> Option<u8> {
    let octal = |b: &u8| b.wrapping_sub(b'0');
    if let [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] = *rest {
        *rest = tail;
        return Some(octal(a) * 64 + octal(b) * 8 + octal(c));
    }
    let (&byte, tail) = rest.split_first()?;
    *rest = tail;
    Some(match byte {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b's' => b' ',
        b'0' => 0,
        other => other,
    })
}

/// A type that the value of one format variable can be parsed into.
pub trait FieldValue: Sized {
    /// Whether the value is free text, which must be escaped.
    const ANY_TEXT: bool = false;

    /// Parses the value. `None` if it is invalid.
    fn parse(text: String) -> Option<Self>;
}

impl FieldValue for String {
    const ANY_TEXT: bool = true;

    fn parse(text: String) -> Option<Self> {
        Some(text)
    }
}

/// tmux prints a flag as `1`, `0` or nothing; a count that serves as a flag is a number.
impl FieldValue for bool {
    fn parse(text: String) -> Option<Self> {
        Some(!text.is_empty() && text != "0")
    }
}

/// tmux prints nothing for a missing value.
impl<T: FieldValue> FieldValue for Option<T> {
    const ANY_TEXT: bool = T::ANY_TEXT;

    fn parse(text: String) -> Option<Self> {
        if text.is_empty() { Some(None) } else { T::parse(text).map(Some) }
    }
}

macro_rules! field_value_from_str {
    ($($type:ty),*) => {$(
        impl FieldValue for $type {
            fn parse(text: String) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}
field_value_from_str!(u32, u64, i32, i64, SessionId, WindowId, PaneId);

#[cfg(test)]
mod tests {
    use super::*;

    row! {
        /// A row with a value of each kind.
        Sample {
            id: PaneId = "pane_id",
            title: String = "pane_title",
            active: bool = "pane_active",
            status: Option<i32> = "pane_dead_status",
        }
    }

    fn one(reply: &str) -> Sample {
        let mut rows = Sample::parse_all("list-panes", reply.as_bytes()).unwrap();
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
    }

    #[test]
    fn format_ends_each_value_with_a_semicolon() {
        assert_eq!(
            Sample::format(),
            "#{pane_id};#{q:pane_title};#{pane_active};#{pane_dead_status};"
        );
    }

    #[test]
    fn titles_may_hold_any_character() {
        let row = one("\\%3;a\\;b\\ \tc\nd\\\\e\\'f;1;;\n");
        assert_eq!(row.id, PaneId(3));
        assert_eq!(row.title, "a;b \tc\nd\\e'f");
        assert!(row.active);
        assert_eq!(row.status, None);
    }

    #[test]
    fn control_character_escapes_are_undone() {
        assert_eq!(one("\\%0;\\033x\\r\\\\033;0;1;\n").title, "\x1bx\r\\033");
    }

    #[test]
    fn extra_backslash_of_3_4_is_removed() {
        for (value, others, only_3_4) in [
            ("$HOME", "\\$HOME", "\\\\$HOME"),
            ("\\$HOME", "\\\\\\$HOME", "\\\\\\\\$HOME"),
            ("$(id) $", "\\$\\(id\\)\\ \\$", "\\$\\(id\\)\\ \\$"),
        ] {
            for printed in [others, only_3_4] {
                assert_eq!(one(&format!("\\%0;{printed};0;1;\n")).title, value, "{printed}");
            }
        }
    }

    #[test]
    fn several_rows_are_parsed() {
        let reply = b"\\%1;one;0;;\n\\%2;two;1;130;\n";
        let rows = Sample::parse_all("list-panes", reply).unwrap();
        assert_eq!(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(rows[1].status, Some(130));
    }

    #[test]
    fn values_of_nested_loops_are_read_in_order() {
        let mut values = FieldValues::all("x", b"s;a\nb;w;1;\ns;c;\n").unwrap();
        let mut read = || values.next::<String>();
        let all: Vec<String> = std::iter::from_fn(&mut read).collect();
        assert_eq!(all, ["s", "a\nb", "w", "1", "s", "c"]);
        assert!(FieldValues::all("x", b"s;incomplete").is_err());
    }

    #[test]
    fn incomplete_rows_are_errors() {
        assert!(Sample::parse_all("list-panes", b"\\%1;one").is_err());
        assert!(Sample::parse_all("list-panes", b"nonsense;a;0;;\n").is_err());
    }
}
