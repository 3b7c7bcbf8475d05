//! tmux versions, and every difference between them that matters to this workspace.

use std::fmt;

/// The oldest version this crate supports.
pub const OLDEST_SUPPORTED: Version = Version { major: 3, minor: 2, patch: 1 };

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

    /// Whether this crate supports this version.
    pub fn is_supported(self) -> bool {
        self >= OLDEST_SUPPORTED
    }

    /// From 3.7 `paste-buffer` rewrites control characters unless `-S` is given. Older versions
    /// rewrite nothing and do not know `-S`.
    pub fn paste_rewrites_controls(self) -> bool {
        self >= Self { major: 3, minor: 7, patch: 0 }
    }

    /// Before 3.7 a server can crash while a control client attaches (see `control::attach_lock`),
    /// so clients should attach seldom.
    pub(crate) fn can_crash_on_attach(self) -> bool {
        self < Self { major: 3, minor: 7, patch: 0 }
    }

    /// 3.4 only: the server crashes, and all its sessions end, when a session with a zoomed window
    /// is killed.
    pub fn dies_of_zoomed_sessions(self) -> bool {
        self == Self { major: 3, minor: 4, patch: 0 }
    }

    /// Before 3.3 a new window has the size of the tmux client that made it; the requested size is
    /// ignored.
    pub fn ignores_new_size(self) -> bool {
        self < Self { major: 3, minor: 3, patch: 0 }
    }

    /// Before 3.3 the server crashes, and all its sessions end, when the program of a pane that
    /// remains exits while its output is still being sent to a control client.
    pub fn dies_of_unread_output(self) -> bool {
        self < Self { major: 3, minor: 3, patch: 0 }
    }

    /// From 3.5 there are mirrored variants of the layouts with a main pane.
    pub(crate) fn has_mirrored_layouts(self) -> bool {
        self >= Self { major: 3, minor: 5, patch: 0 }
    }

    /// From 3.4 `capture-pane` pads rows with blanks to the length they once had, unless `-T` is
    /// given. Older versions do not pad and do not know `-T`.
    pub(crate) fn captures_unused_cells(self) -> bool {
        self >= Self { major: 3, minor: 4, patch: 0 }
    }

    /// From 3.4 every character followed by U+FE0F (emoji presentation) takes two columns.
    pub fn widens_emoji(self) -> bool {
        self >= Self { major: 3, minor: 4, patch: 0 }
    }

    /// 3.3 only: `capture-pane` omits cells that were erased and not written since, and with them
    /// the background colour they were erased with.
    pub fn captures_no_erased_cells(self) -> bool {
        self >= Self { major: 3, minor: 3, patch: 0 }
            && self < Self { major: 3, minor: 4, patch: 0 }
    }

    /// From 3.3 `display-message` can address one client.
    pub fn can_address_clients(self) -> bool {
        self >= Self { major: 3, minor: 3, patch: 0 }
    }

    /// From 3.6 panes are updated while a message is shown, if `-C` is given. Older versions freeze
    /// them.
    pub fn can_show_messages_beside(self) -> bool {
        self >= Self { major: 3, minor: 6, patch: 0 }
    }

    /// 3.4 only: tmux prints a backslash before every `$` that could begin a variable.
    pub fn escapes_dollars(self) -> bool {
        self == Self { major: 3, minor: 4, patch: 0 }
    }

    /// Before 3.4 a paste that names no buffer takes the newest of all buffers. From 3.4 it takes
    /// the newest whose name tmux made up.
    pub fn pastes_named_buffers(self) -> bool {
        self < Self { major: 3, minor: 4, patch: 0 }
    }

    /// From 3.3 `remain-on-exit-format` can turn off the notice in a dead pane.
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
    fn versions_print_as_tmux_prints_them() {
        assert_eq!(Version::parse("tmux 3.2a").to_string(), "3.2a");
        assert_eq!(OLDEST_SUPPORTED.to_string(), "3.2a");
    }
}
