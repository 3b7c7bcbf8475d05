//! Rules for the tmux options that calls may set: an allow list with the kind of value of each.
//!
//! Many options are a way round other rules: tmux runs the values of some as commands, `command-alias`
//! replaces the commands that this server sends, `destroy-unattached` ends sessions, `history-file`
//! overwrites the file it names. New versions add more. So an option that is not in the table needs the
//! tier `destructive` and its name in `policy.options`.

use tmux_control::checked_format::{FormatUse, check_format};

use super::Ceiling;
use crate::contract::{Code, OptionReach, ToolError, format_refused, not_reserved};

/// Longest value of an option that holds single characters.
const MAX_CHARACTERS: usize = 256;

/// The kind of value that an option takes. tmux checks the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    /// A flag, a choice, a colour or a size: letters, digits, `-` and `%`, or `#` and six digits.
    Word,
    /// A whole number up to this one.
    Number(u64),
    /// Attributes and colours, and formats that only read.
    Style,
    /// Text and formats that only read.
    Format,
    /// A few characters, which tmux does not interpret.
    Characters,
}

impl OptionValue {
    /// The kind in words for people.
    pub fn description(self) -> String {
        match self {
            Self::Word => "word".to_owned(),
            Self::Number(max) => format!("number up to {max}"),
            Self::Style => "style".to_owned(),
            Self::Format => "format".to_owned(),
            Self::Characters => "characters".to_owned(),
        }
    }

    fn check(self, value: &str) -> Result<(), ToolError> {
        let hex = |text: &str| {
            text.strip_prefix('#').is_some_and(|digits| {
                digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        };
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '%');
        let valid = match self {
            Self::Word => value.len() <= 64 && (hex(value) || value.chars().all(word)),
            Self::Number(max) => value.parse::<u64>().is_ok_and(|number| number <= max),
            Self::Characters => value.len() <= MAX_CHARACTERS,
            Self::Style => return check_stored(&without_hex_colours(value)),
            Self::Format => return check_stored(value),
        };
        if valid {
            return Ok(());
        }
        Err(ToolError::invalid_argument(format!(
            "`value`: `{value}` is not a {}",
            self.description()
        ))
        .hint("show_option shows the present value"))
    }
}

fn check_stored(value: &str) -> Result<(), ToolError> {
    let shown = check_format(value, FormatUse::Stored);
    let shown = shown.map_err(|error| format_refused("value", error))?;
    shown.user_options.iter().try_for_each(|name| not_reserved(name))
}

/// The value with `#rrggbb` replaced: in a style that is a colour, not a format.
fn without_hex_colours(value: &str) -> String {
    let mut parts = value.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_at_checked(6) {
            Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                out.push_str(rest);
            }
            _ => {
                out.push('#');
                out.push_str(part);
            }
        }
    }
    out
}

/// An option that calls may set.
#[derive(Debug, Clone, Copy)]
pub struct OptionRule {
    /// Its name; `@` stands for all user options.
    pub name: &'static str,
    /// The kind of its value.
    pub value: OptionValue,
    /// Where it may be set below the tier `destructive`.
    pub reach: OptionReach,
}

const fn any(name: &'static str, value: OptionValue) -> OptionRule {
    OptionRule { name, value, reach: OptionReach::Anywhere }
}

/// An option that closes, renames, resizes or trims what exists.
const fn own(name: &'static str, value: OptionValue) -> OptionRule {
    OptionRule { name, value, reach: OptionReach::OwnObjects }
}

const fn number(name: &'static str, max: u64) -> OptionRule {
    any(name, OptionValue::Number(max))
}

use OptionValue::{Characters, Format, Style, Word};

/// The options that calls may set.
pub const SETTABLE_OPTIONS: &[OptionRule] = &[
    any("@", Format),
    any("activity-action", Word),
    own("aggressive-resize", Word),
    own("allow-rename", Word),
    own("allow-set-title", Word),
    own("alternate-screen", Word),
    number("assume-paste-time", 10_000),
    own("automatic-rename", Word),
    own("automatic-rename-format", Format),
    number("base-index", 10_000),
    any("bell-action", Word),
    any("clock-mode-colour", Word),
    any("clock-mode-style", Word),
    any("copy-mode-current-line-number-style", Style),
    any("copy-mode-current-match-style", Style),
    any("copy-mode-line-number-style", Style),
    any("copy-mode-line-numbers", Word),
    any("copy-mode-mark-style", Style),
    any("copy-mode-match-style", Style),
    any("copy-mode-position-format", Format),
    any("copy-mode-position-style", Style),
    any("copy-mode-selection-style", Style),
    any("cursor-colour", Word),
    any("cursor-style", Word),
    own("default-size", Word),
    own("detach-on-destroy", Word),
    any("display-panes-active-colour", Word),
    any("display-panes-colour", Word),
    number("display-panes-time", 60_000),
    number("display-time", 60_000),
    number("escape-time", 10_000),
    any("fill-character", Characters),
    any("focus-events", Word),
    any("focus-follows-mouse", Word),
    own("history-limit", OptionValue::Number(1_000_000)),
    number("initial-repeat-time", 10_000),
    any("main-pane-height", Word),
    any("main-pane-width", Word),
    any("menu-border-lines", Word),
    any("menu-border-style", Style),
    any("menu-selected-style", Style),
    any("menu-style", Style),
    any("message-command-style", Style),
    any("message-format", Format),
    any("message-line", Word),
    any("message-style", Style),
    any("mode-keys", Word),
    any("mode-style", Style),
    any("monitor-activity", Word),
    any("monitor-bell", Word),
    number("monitor-silence", 1_000_000),
    any("mouse", Word),
    any("other-pane-height", Word),
    any("other-pane-width", Word),
    any("pane-active-border-style", Style),
    number("pane-base-index", 10_000),
    any("pane-border-format", Format),
    any("pane-border-indicators", Word),
    any("pane-border-lines", Word),
    any("pane-border-status", Word),
    any("pane-border-style", Style),
    any("pane-colours", Word),
    any("pane-scrollbars", Word),
    any("pane-scrollbars-position", Word),
    any("pane-scrollbars-style", Style),
    any("pane-status-current-style", Style),
    any("pane-status-style", Style),
    any("popup-border-lines", Word),
    any("popup-border-style", Style),
    any("popup-style", Style),
    number("prefix-timeout", 60_000),
    any("prompt-command-cursor-style", Word),
    any("prompt-cursor-colour", Word),
    any("prompt-cursor-style", Word),
    own("remain-on-exit", Word),
    any("remain-on-exit-format", Format),
    own("renumber-windows", Word),
    number("repeat-time", 10_000),
    any("scroll-on-clear", Word),
    any("session-status-current-style", Style),
    any("session-status-style", Style),
    own("set-titles", Word),
    own("set-titles-string", Format),
    any("silence-action", Word),
    any("status", Word),
    any("status-bg", Word),
    any("status-fg", Word),
    any("status-format", Format),
    number("status-interval", 86_400),
    any("status-justify", Word),
    any("status-keys", Word),
    any("status-left", Format),
    number("status-left-length", 1_000),
    any("status-left-style", Style),
    any("status-position", Word),
    any("status-right", Format),
    number("status-right-length", 1_000),
    any("status-right-style", Style),
    any("status-style", Style),
    number("tiled-layout-max-columns", 1_000),
    any("tree-mode-preview-format", Format),
    any("tree-mode-preview-style", Style),
    any("visual-activity", Word),
    any("visual-bell", Word),
    any("visual-silence", Word),
    any("window-active-style", Style),
    any("window-pane-current-status-format", Format),
    any("window-pane-status-format", Format),
    own("window-size", Word),
    any("window-status-activity-style", Style),
    any("window-status-bell-style", Style),
    any("window-status-current-format", Format),
    any("window-status-current-style", Style),
    any("window-status-format", Format),
    any("window-status-last-style", Style),
    any("window-status-separator", Format),
    any("window-status-style", Style),
    any("window-style", Style),
    any("word-separators", Characters),
    any("wrap-search", Word),
    any("xterm-keys", Word),
];

/// Options beyond the table that the person allows (`policy.options`).
#[derive(Debug, Clone, Default)]
pub struct OptionRules(Vec<String>);

impl OptionRules {
    /// Allows these options at the tier `destructive`.
    pub fn set<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let read = |name: &str| {
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            match !name.is_empty() && name.chars().all(is_name) {
                true => Ok(name.to_owned()),
                false => Err(format!("`{name}` is not the name of a tmux option")),
            }
        };
        self.0 = names.map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Where an option may be set to a value; `None` unsets it. `name` has no index.
    pub(super) fn check(
        &self,
        ceiling: Ceiling,
        name: &str,
        value: Option<&str>,
    ) -> Result<OptionReach, ToolError> {
        not_reserved(name)?;
        let listed = match name.strip_prefix('@') {
            // tmux expands names as formats, with `strftime`.
            Some(rest) if !rest.chars().all(is_plain) => {
                return Err(ToolError::invalid_argument(format!(
                    "`{name}` has characters that are not allowed in an option's name"
                ))
                .hint("use letters, digits and `_ . : / -`"));
            }
            Some(_) => "@",
            None => name,
        };
        if let Some(rule) = SETTABLE_OPTIONS.iter().find(|rule| rule.name == listed) {
            value.map_or(Ok(()), |value| rule.value.check(value))?;
            return Ok(rule.reach);
        }
        if ceiling == Ceiling::Destructive && self.0.iter().any(|allowed| allowed == name) {
            return Ok(OptionReach::AsCommand);
        }
        let message = format!(
            "`{name}` is not one of the options that a call may set: docs/allow-lists.md lists them"
        );
        Err(ToolError::new(Code::Denied, message).hint(
            "ask a person to set it; or a person can start tmuxwright with --tier destructive and \
             the option in `policy.options` in the config file",
        ))
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:/-".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str) -> Result<OptionReach, ToolError> {
        OptionRules::default().check(Ceiling::Destructive, name, Some(value))
    }

    #[test]
    fn table_is_sorted_and_unique() {
        assert!(SETTABLE_OPTIONS.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn values_must_be_of_the_kind() {
        for (name, good, bad) in [
            ("mouse", "on", "on off"),
            ("status-bg", "#ff0000", "#(id)"),
            ("main-pane-width", "50%", "#{pane_id}"),
            ("status-interval", "5", "-1"),
            ("history-limit", "5000", "2147483647"),
            ("status-left", "[#S] %H:%M", "#(id)"),
            ("status-style", "fg=#ff0000,bg=colour7", "fg=#(id)"),
            ("mode-style", "#{?pane_active,fg=#00ff00,fg=red}", "#{E:@x}"),
            ("@mine", "any text (id) 50%", "##(id)"),
            ("@mine", "#{@other}", "#{@mcp_owner}"),
            ("word-separators", "#(id) -", &"x".repeat(300)),
        ] {
            assert!(check(name, good).is_ok(), "{name} {good}");
            assert!(check(name, bad).is_err(), "{name} {bad}");
        }
    }

    #[test]
    fn unlisted_options_need_the_tier_and_the_key() {
        let mut rules = OptionRules::default();
        let denied = |rules: &OptionRules, ceiling| {
            rules.check(ceiling, "default-command", Some("x")).is_err()
        };
        assert!(denied(&rules, Ceiling::Destructive));
        rules.set(["default-command"].into_iter()).unwrap();
        assert!(denied(&rules, Ceiling::Mutating));
        let reach = rules.check(Ceiling::Destructive, "default-command", Some("x")).unwrap();
        assert_eq!(reach, OptionReach::AsCommand);
        assert!(rules.set(["Default Command"].into_iter()).is_err());
        assert!(check("@mcp_owner", "x").is_err() && check("@a%p", "x").is_err());
    }
}
