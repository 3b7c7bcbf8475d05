//! tmux formats that come back as typed rows.
//!
//! Titles, names and paths may hold any character, line ends included, and tmux has no format that
//! prints them unambiguously by itself. `#{q:…}` puts a backslash before every character that is
//! special to a shell, `;` and `\` among them, on all versions: so each value is printed with it and
//! ended by a bare `;`. Since 3.4 tmux also prints control characters as `\t` or `\033`; letters and
//! digits are never escaped by `q:`, so both escapes can be told apart and undone. And 3.4 alone puts
//! one more backslash before a `$` that looks like a variable.

use crate::error::Error;
use crate::id::{PaneId, SessionId, WindowId};

/// A struct that can be read from one line of a `-F` format.
pub trait Row: Sized {
    /// The format variables, in the order in which they are read, and whether each can hold
    /// characters that must be escaped.
    const FIELDS: &'static [(&'static str, bool)];

    /// Reads the values in that order.
    fn read(cells: &mut Cells) -> Option<Self>;

    /// The format that prints this row.
    fn format() -> String {
        let cell = |&(field, any): &(&str, bool)| match any {
            true => format!("#{{q:{field}}};"),
            // A quarter cheaper for tmux, and numbers and ids hold nothing to escape.
            false => format!("#{{{field}}};"),
        };
        Self::FIELDS.iter().map(cell).collect()
    }

    /// The same to be compared by tmux ([`Server::compare`](crate::Server::compare)). Such a value
    /// comes outside of replies, where a line end would begin a line of its own.
    fn compared() -> String {
        let cell = |&(field, any): &(&str, bool)| match any {
            true => format!("#{{s/\n/ /:{field}}};"),
            false => format!("#{{{field}}};"),
        };
        Self::FIELDS.iter().map(cell).collect()
    }

    /// Reads a reply of one row.
    fn parse_one(command: &str, reply: &[u8]) -> Result<Self, Error> {
        Self::parse_all(command, reply)?.pop().ok_or_else(|| Error::Unexpected {
            command: command.to_owned(),
            detail: "it printed nothing".to_owned(),
        })
    }

    /// Reads all the rows of a reply.
    fn parse_all(command: &str, reply: &[u8]) -> Result<Vec<Self>, Error> {
        let mut rest = reply;
        let mut rows = Vec::new();
        while !rest.is_empty() {
            let row = Cells::split(&mut rest, Self::FIELDS.len())
                .and_then(|mut cells| Self::read(&mut cells))
                .ok_or_else(|| Error::unexpected(command, reply))?;
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Declares a struct and the format variable behind each of its fields, once.
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
                &[$(($format, <$type as $crate::format::Cell>::ANY_TEXT)),*];

            fn read(cells: &mut $crate::format::Cells) -> Option<Self> {
                Some(Self { $($field: cells.next()?,)* })
            }
        }
    };
}

/// The values of one row, still as text.
#[derive(Debug)]
pub struct Cells(std::vec::IntoIter<String>);

impl Cells {
    /// Takes one row of `count` values, and the line end behind it, off the front of `rest`.
    fn split(rest: &mut &[u8], count: usize) -> Option<Self> {
        let mut cells = Vec::with_capacity(count);
        for _ in 0..count {
            cells.push(take_cell(rest)?);
        }
        *rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        Some(Self(cells.into_iter()))
    }

    /// All the values of a reply, for formats in which rows are nested: the number of values in a
    /// line is not known then.
    pub fn all(command: &str, reply: &[u8]) -> Result<Self, Error> {
        let mut rest = reply;
        let mut cells = Vec::new();
        while !matches!(rest, [] | [b'\n']) {
            // Every value is ended by `;`, so a line end before one belongs to the line before.
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            cells.push(take_cell(&mut rest).ok_or_else(|| Error::unexpected(command, reply))?);
        }
        Ok(Self(cells.into_iter()))
    }

    /// The next value as the type that is wanted.
    #[expect(clippy::should_implement_trait, reason = "each call may want another type")]
    pub fn next<T: Cell>(&mut self) -> Option<T> {
        T::parse(self.0.next()?)
    }
}

/// Reads one value up to its closing `;`, undoing both kinds of escape.
fn take_cell(rest: &mut &[u8]) -> Option<String> {
    let mut value = Vec::new();
    loop {
        let (&byte, tail) = rest.split_first()?;
        *rest = tail;
        match byte {
            b';' => return Some(String::from_utf8_lossy(&value).into_owned()),
            b'\\' => value.push(take_escape(rest)?),
            // `q:` never leaves a `$` bare: tmux 3.4 has escaped its backslash instead.
            b'$' if value.last() == Some(&b'\\') => {
                value.pop();
                value.push(b'$');
            }
            byte => value.push(byte),
        }
    }
}

/// Reads what follows a backslash: three octal digits, a C letter, or a character as it is.
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

/// A type that one value can be read as.
pub trait Cell: Sized {
    /// Whether the value can hold any character at all.
    const ANY_TEXT: bool = false;

    /// Reads the value, or nothing if it does not fit.
    fn parse(text: String) -> Option<Self>;
}

impl Cell for String {
    const ANY_TEXT: bool = true;

    fn parse(text: String) -> Option<Self> {
        Some(text)
    }
}

/// tmux prints a flag as `1`, `0` or nothing; a count that stands for a flag as a number.
impl Cell for bool {
    fn parse(text: String) -> Option<Self> {
        Some(!text.is_empty() && text != "0")
    }
}

/// Nothing is printed for a value that is not there.
impl<T: Cell> Cell for Option<T> {
    const ANY_TEXT: bool = T::ANY_TEXT;

    fn parse(text: String) -> Option<Self> {
        if text.is_empty() { Some(None) } else { T::parse(text).map(Some) }
    }
}

macro_rules! cell_from_str {
    ($($type:ty),*) => {$(
        impl Cell for $type {
            fn parse(text: String) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}
cell_from_str!(u32, u64, i32, i64, SessionId, WindowId, PaneId);

#[cfg(test)]
mod tests {
    use super::*;

    row! {
        /// Enough to try each kind of value.
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
    fn the_format_ends_each_value() {
        assert_eq!(
            Sample::format(),
            "#{pane_id};#{q:pane_title};#{pane_active};#{pane_dead_status};"
        );
    }

    #[test]
    fn titles_may_hold_anything() {
        let row = one("\\%3;a\\;b\\ \tc\nd\\\\e\\'f;1;;\n");
        assert_eq!(row.id, PaneId(3));
        assert_eq!(row.title, "a;b \tc\nd\\e'f");
        assert!(row.active);
        assert_eq!(row.status, None);
    }

    #[test]
    fn escapes_of_newer_versions_are_undone_too() {
        assert_eq!(one("\\%0;\\033x\\r\\\\033;0;1;\n").title, "\x1bx\r\\033");
    }

    #[test]
    fn the_extra_backslash_of_one_version_is_taken_away() {
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
    fn rows_follow_one_another() {
        let reply = b"\\%1;one;0;;\n\\%2;two;1;130;\n";
        let rows = Sample::parse_all("list-panes", reply).unwrap();
        assert_eq!(rows.iter().map(|row| row.id.0).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(rows[1].status, Some(130));
    }

    #[test]
    fn nested_rows_are_read_value_by_value() {
        let mut cells = Cells::all("x", b"s;a\nb;w;1;\ns;c;\n").unwrap();
        let mut read = || cells.next::<String>();
        let all: Vec<String> = std::iter::from_fn(&mut read).collect();
        assert_eq!(all, ["s", "a\nb", "w", "1", "s", "c"]);
        assert!(Cells::all("x", b"s;torn").is_err());
    }

    #[test]
    fn a_torn_row_is_an_error_and_not_a_guess() {
        assert!(Sample::parse_all("list-panes", b"\\%1;one").is_err());
        assert!(Sample::parse_all("list-panes", b"nonsense;a;0;;\n").is_err());
    }
}
