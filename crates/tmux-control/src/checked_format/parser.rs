//! The parser of checked formats. Its grammar is stricter than that of tmux, so that a format that it
//! accepts has one structure only: no `#` may stand alone, and arguments of modifiers are plain text.

use super::names::{FORMAT_VARIABLES, LETTERS, OPTIONS_OF_ONE_WORD};
use super::{FormatError, FormatScope, FormatUse, pattern};

/// Deepest nesting of replacements.
const MAX_DEPTH: usize = 10;
/// Most operands of `&&` and `||`.
const MAX_OPERANDS: usize = 8;

/// What a replacement does, if it does more than to transform a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Literal,
    /// `a` and `c`: one template is converted.
    Convert,
    Loop(u8),
    Search {
        regex: bool,
    },
    Match {
        regex: bool,
    },
    Compare,
    Logic,
    Not,
    Arithmetic,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) usage: FormatUse,
    depth: usize,
    /// The kinds of loops that enclose the current position.
    loops: Vec<u8>,
    scope: FormatScope,
}

pub(super) type Parsed<T> = Result<T, FormatError>;

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, usage: FormatUse) -> Self {
        Self { text, at: 0, usage, depth: 0, loops: Vec::new(), scope: FormatScope::default() }
    }

    pub(super) fn parse(mut self) -> Parsed<FormatScope> {
        self.template(&[])?;
        Ok(self.scope)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    pub(super) fn unclosed(&self) -> FormatError {
        FormatError::new("a `#{` has no `}`", "close it")
    }

    /// Text and replacements up to one of `ends`, which is consumed and returned. Also returns whether
    /// there was a replacement.
    fn template(&mut self, ends: &[char]) -> Parsed<(char, bool)> {
        let mut replaced = false;
        loop {
            match self.next() {
                None if ends.is_empty() => return Ok(('\0', replaced)),
                None => return Err(self.unclosed()),
                Some(end) if ends.contains(&end) => return Ok((end, replaced)),
                // In a nested text tmux would take it for the end of another part.
                Some(c @ (',' | '}')) if !ends.is_empty() => {
                    return Err(FormatError::new(
                        format!(
                            "`{c}` stands where `{}` is expected",
                            ends.iter().collect::<String>()
                        ),
                        format!("write `#{c}` for the character itself"),
                    ));
                }
                Some('#') => replaced |= self.hash()?,
                Some(_) => {}
            }
        }
    }

    /// The part behind a `#`. Returns whether it is replaced by a value.
    fn hash(&mut self) -> Parsed<bool> {
        match self.next() {
            Some('{') => self.replacement().map(|()| true),
            Some('[') => self.style().map(|()| false),
            Some(',' | '}') => Ok(false),
            Some('#') if self.usage == FormatUse::Once => Ok(false),
            Some('#') => Err(FormatError::new(
                "`##` leaves a `#` behind, which tmux could expand again",
                "leave the `#` out of the text",
            )),
            Some('(') => Err(FormatError::new(
                "`#(…)` would run a program",
                "remove it; run_command runs programs",
            )),
            Some(c) if c.is_ascii() && LETTERS.contains(&(c as u8)) => Ok(true),
            other => {
                let after = other.map(String::from).unwrap_or_default();
                Err(FormatError::new(
                    format!("`#{after}` has no meaning in a format"),
                    match self.usage {
                        FormatUse::Once => "write `##` for the character `#`",
                        FormatUse::Stored => "leave the `#` out of the text",
                    },
                ))
            }
        }
    }

    /// `#[…]`: attributes and colours, with replacements among them.
    fn style(&mut self) -> Parsed<()> {
        loop {
            match self.next() {
                Some(']') => return Ok(()),
                Some('#') if self.take("{") => self.replacement()?,
                Some('#') if self.hex_colour() => {}
                Some(c) if c.is_ascii_alphanumeric() || "=,._-| ".contains(c) => {}
                Some(c) => {
                    return Err(FormatError::new(
                        format!("`{c}` is not part of a style"),
                        "write a style such as `#[fg=red,bold]`",
                    ));
                }
                None => return Err(FormatError::new("a `#[` has no `]`", "close it")),
            }
        }
    }

    fn hex_colour(&mut self) -> bool {
        let is_hex = |six: &str| six.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = self.rest().get(..6).is_some_and(is_hex);
        if found {
            self.at += 6;
        }
        found
    }

    /// The part between `#{` and `}`, and the `}`.
    fn replacement(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormatError::new(
                format!("the format is nested more than {MAX_DEPTH} deep"),
                "use a simpler one",
            ));
        }
        if !self.variable()? {
            match self.peek() {
                Some('?') => self.condition()?,
                _ => self.modified()?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// A variable or an option up to `}`. Returns whether there is one; consumes nothing otherwise.
    fn variable(&mut self) -> Parsed<bool> {
        let Some(name) = self.word() else { return Ok(false) };
        self.check_name(name)?;
        self.at += name.len() + 1;
        Ok(true)
    }

    /// The text up to `}`, if it can be a name.
    fn word(&self) -> Option<&'a str> {
        let (name, _) = self.rest().split_once('}')?;
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-@[]".contains(c);
        (!name.is_empty() && name.chars().all(is_part)).then_some(name)
    }

    fn check_name(&mut self, name: &str) -> Parsed<()> {
        let (base, index) = match name.split_once('[') {
            Some((base, rest)) => (base, rest.strip_suffix(']').unwrap_or("x")),
            None => (name, "0"),
        };
        let plain = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        let indexed = index.len() < 5 && index.bytes().all(|byte| byte.is_ascii_digit());
        if indexed && base.strip_prefix('@').is_some_and(plain) {
            self.scope.user_options.push(base.to_owned());
            return Ok(());
        }
        let is_option = base.contains('-') || OPTIONS_OF_ONE_WORD.contains(&base);
        if indexed && plain(base) && is_option {
            return Ok(());
        }
        match FORMAT_VARIABLES.iter().find(|variable| variable.name == name) {
            Some(variable) => {
                self.scope.shows_others |= variable.shows_others;
                Ok(())
            }
            None => Err(FormatError {
                unknown_variable: Some(name.to_owned()),
                ..FormatError::new(
                    format!("`{name}` is not one of the variables that a format may show"),
                    "show_environment shows environment variables, show_buffer buffers",
                )
            }),
        }
    }

    /// `?condition,value,…,otherwise}`: from 3.6 there may be several conditions.
    fn condition(&mut self) -> Parsed<()> {
        self.next();
        for part in 0.. {
            let from = self.at;
            let (end, replaced) = self.template(&[',', '}'])?;
            let is_condition = part % 2 == 0 && (end == ',' || part == 0);
            if is_condition && !replaced {
                let name = self.text.get(from..self.at - 1).unwrap_or_default();
                self.check_name(name)?;
            }
            if end == '}' {
                break;
            }
        }
        Ok(())
    }

    /// Modifiers, `:` and what they apply to, up to `}`.
    fn modified(&mut self) -> Parsed<()> {
        let mut operation = None;
        loop {
            let found = self.modifier()?;
            if found.is_some() && operation.is_some() {
                return Err(FormatError::new(
                    "a replacement has two operations",
                    "nest one in the other: `#{?#{==:a,b},…}`",
                ));
            }
            operation = operation.or(found);
            match self.next() {
                Some(';') => {}
                Some(':') => return self.operands(operation),
                Some(c) => return Err(self.not_a_modifier(c)),
                None => return Err(self.unclosed()),
            }
        }
    }

    /// What the modifiers apply to, up to `}`.
    fn operands(&mut self, operation: Option<Operation>) -> Parsed<()> {
        match operation {
            None if self.peek() == Some('?') => return self.condition(),
            None => {
                if !self.variable()? && !self.template(&['}'])?.1 {
                    return Err(FormatError::new(
                        "a modifier is applied to neither a variable nor a replacement",
                        "write `#{=5:pane_title}`, or `#{l:…}` for text",
                    ));
                }
            }
            Some(Operation::Literal) => {
                self.until(&['}'])?;
                self.next();
            }
            Some(Operation::Convert | Operation::Not) => drop(self.template(&['}'])?),
            Some(Operation::Search { regex }) => {
                pattern::check(self.until(&['}'])?, regex)?;
                self.next();
            }
            Some(Operation::Match { regex }) => {
                pattern::check(self.until(&[','])?, regex)?;
                self.next();
                self.template(&['}'])?;
            }
            Some(Operation::Compare | Operation::Arithmetic) => {
                self.template(&[','])?;
                self.template(&['}'])?;
            }
            Some(Operation::Logic) => {
                let mut count = 1;
                while self.template(&[',', '}'])?.0 == ',' {
                    count += 1;
                }
                if !(2..=MAX_OPERANDS).contains(&count) {
                    return Err(FormatError::new(
                        format!("`&&` and `||` have {count} operands"),
                        format!("give 2 to {MAX_OPERANDS}"),
                    ));
                }
            }
            Some(Operation::Loop(kind)) => self.loop_body(kind)?,
        }
        Ok(())
    }

    fn loop_body(&mut self, kind: u8) -> Parsed<()> {
        if self.loops.contains(&kind) {
            return Err(FormatError::new(
                format!("the loop `{}` stands inside itself", kind as char),
                "loop over each kind of object once",
            ));
        }
        self.scope.shows_others = true;
        self.loops.push(kind);
        // A second part for the active object reads the tmux client, and 3.6 dies where there is none.
        match kind {
            b'W' | b'P' => {
                if self.template(&[',', '}'])?.0 == ',' {
                    self.template(&['}'])?;
                }
            }
            _ => drop(self.template(&['}'])?),
        }
        self.loops.pop();
        Ok(())
    }
}
