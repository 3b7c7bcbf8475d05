//! tmux versions, and everything in which they differ for us.

use std::fmt;

/// The oldest version this crate speaks.
pub const OLDEST: Version = Version { major: 3, minor: 2, patch: 1 };

/// A tmux version: `3.2a` is major 3, minor 2, patch 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u16,
    minor: u16,
    patch: u8,
}

impl Version {
    /// Reads `3.3a`, `tmux 3.3a`, `next-3.8`. Builds without a number (`master`, `openbsd-7.6`)
    /// count as newer than every release.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let text = text.strip_prefix("tmux ").unwrap_or(text);
        let number = text.strip_prefix("next-").unwrap_or(text);
        Self::parse_number(number).unwrap_or(Self { major: u16::MAX, minor: 0, patch: 0 })
    }

    fn parse_number(text: &str) -> Option<Self> {
        let (major, rest) = text.split_once('.')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (minor, suffix) = rest.split_at_checked(digits)?;
        let patch = match suffix.as_bytes().first() {
            Some(letter @ b'a'..=b'z') => letter - b'a' + 1,
            _ => 0,
        };
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()?, patch })
    }

    /// Whether this crate speaks this version.
    pub fn is_supported(self) -> bool {
        self >= OLDEST
    }

    /// From 3.7 `paste-buffer` rewrites control characters unless `-S` is given; before, there is
    /// no `-S` and nothing is rewritten.
    pub fn paste_rewrites_controls(self) -> bool {
        self >= Self { major: 3, minor: 7, patch: 0 }
    }

    /// Before 3.7 a server can die while a control client greets it (see `control::door`), so
    /// clients should come seldom.
    pub(crate) fn has_fragile_greeting(self) -> bool {
        self < Self { major: 3, minor: 7, patch: 0 }
    }

    /// Before 3.7 what a program prints just before it exits is lost if tmux hears of the exit
    /// first, unless the pane is piped somewhere.
    pub fn loses_last_output(self) -> bool {
        self < Self { major: 3, minor: 7, patch: 0 }
    }

    /// 3.4 alone dies, and everybody's sessions with it, when a session is killed in which a window
    /// is zoomed.
    pub fn dies_of_zoomed_sessions(self) -> bool {
        self == Self { major: 3, minor: 4, patch: 0 }
    }

    /// Before 3.3 a new window has the size of whatever client made it, and not the one asked for.
    pub fn ignores_new_size(self) -> bool {
        self < Self { major: 3, minor: 3, patch: 0 }
    }

    /// Before 3.3 a server dies, and everybody's sessions with it, when the program of a pane ends
    /// or is replaced while what it printed is still on its way to a control client.
    pub fn dies_of_unread_output(self) -> bool {
        self < Self { major: 3, minor: 3, patch: 0 }
    }

    /// From 3.5 the layouts with a main pane can be mirrored.
    pub(crate) fn has_mirrored_layouts(self) -> bool {
        self >= Self { major: 3, minor: 5, patch: 0 }
    }

    /// From 3.4 `capture-pane` fills rows with blanks up to what they once held, unless `-T` is
    /// given; before, there is no `-T` and no such blanks.
    pub(crate) fn captures_unused_cells(self) -> bool {
        self >= Self { major: 3, minor: 4, patch: 0 }
    }

    /// From 3.4 a character that is followed by U+FE0F, and so to be shown as emoji, takes two
    /// columns whatever it is.
    pub fn widens_emoji(self) -> bool {
        self >= Self { major: 3, minor: 4, patch: 0 }
    }

    /// 3.3 alone leaves out of `capture-pane` what was erased and not written to since, with the
    /// background that it was erased with.
    pub fn captures_no_erased_cells(self) -> bool {
        self >= Self { major: 3, minor: 3, patch: 0 }
            && self < Self { major: 3, minor: 4, patch: 0 }
    }

    /// Before 3.3 `display-message` cannot be told which client to speak to.
    pub fn can_address_clients(self) -> bool {
        self >= Self { major: 3, minor: 3, patch: 0 }
    }

    /// From 3.6 panes go on while a message is shown, if `-C` is given; before, they stand still.
    pub fn can_show_messages_beside(self) -> bool {
        self >= Self { major: 3, minor: 6, patch: 0 }
    }

    /// 3.4 alone prints a backslash before every `$` that looks like a variable.
    pub fn escapes_dollars(self) -> bool {
        self == Self { major: 3, minor: 4, patch: 0 }
    }

    /// Before 3.4 a paste that names no buffer takes the newest of all; from then on, the newest
    /// that nobody gave a name.
    pub fn pastes_named_buffers(self) -> bool {
        self < Self { major: 3, minor: 4, patch: 0 }
    }

    /// From 3.3 the notice of a dead pane can be turned off with `remain-on-exit-format`.
    pub fn has_remain_on_exit_format(self) -> bool {
        self >= Self { major: 3, minor: 3, patch: 0 }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.patch {
            0 => Ok(()),
            n => write!(f, "{}", char::from(b'a' + n - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered() {
        let order = ["2.9a", "3.1c", "3.2", "3.2a", "3.3", "3.3a", "3.4", "3.6b", "3.7", "3.10"];
        for pair in order.windows(2) {
            assert!(Version::parse(pair[0]) < Version::parse(pair[1]), "{pair:?}");
        }
        assert!(!Version::parse("3.2").is_supported());
        assert!(Version::parse("tmux 3.2a\n").is_supported());
    }

    #[test]
    fn unnumbered_builds_are_the_newest() {
        assert!(Version::parse("master") > Version::parse("3.99"));
        assert_eq!(Version::parse("next-3.8"), Version::parse("3.8"));
        assert!(Version::parse("openbsd-7.6").is_supported());
    }

    #[test]
    fn shown_as_tmux_shows_it() {
        assert_eq!(Version::parse("tmux 3.2a").to_string(), "3.2a");
        assert_eq!(OLDEST.to_string(), "3.2a");
    }
}
