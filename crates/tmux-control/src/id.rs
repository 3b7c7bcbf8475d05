//! Ids of tmux objects: sessions `$0`, windows `@0` and panes `%0`.
//!
//! An id stays the same for the life of its object, through renames and moves, and one tmux server
//! never reuses it.

use std::fmt;
use std::str::FromStr;

/// Text that is not an id of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of the form `{sigil}N`")]
pub struct InvalidId {
    text: String,
    sigil: char,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $sigil:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $sigil, self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                text.strip_prefix($sigil)
                    .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| InvalidId { text: text.to_owned(), sigil: $sigil })
            }
        }
    };
}

id!(
    /// A session: `$0`.
    SessionId,
    '$'
);
id!(
    /// A window: `@0`.
    WindowId,
    '@'
);
id!(
    /// A pane: `%0`.
    PaneId,
    '%'
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_and_print_symmetrically() {
        assert_eq!("%12".parse(), Ok(PaneId(12)));
        assert_eq!(PaneId(12).to_string(), "%12");
        assert_eq!("$0".parse(), Ok(SessionId(0)));
        assert_eq!("@7".parse(), Ok(WindowId(7)));
    }

    #[test]
    fn invalid_ids_are_refused() {
        for text in ["", "%", "%x", "%1x", "% 1", "%+1", "@1", "1", "%99999999999"] {
            assert!(text.parse::<PaneId>().is_err(), "{text:?} was taken for a pane id");
        }
    }
}
