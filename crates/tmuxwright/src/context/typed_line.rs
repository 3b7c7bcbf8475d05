//! The typed line: the text in a pane that is typed and not yet submitted.
//!
//! The command filter checks whole lines, so text that is typed in pieces is assembled here first. Only
//! printable ASCII can be followed; after any other key the text is known to the program alone. Where
//! programs differ, the line counts as unknown.

use tmux_control::keys::TmuxKey;

use crate::contract::ShellLine;

/// A longer line counts as unknown.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Control characters that only move, erase or search in all known line editors: they neither submit
/// the line nor change the meaning of the next key. C-a, C-b, C-e, C-f, C-g, C-h, C-k, C-l, C-n, C-p, C-r,
/// C-s, C-t, C-u, C-w, C-y and backspace.
const EDITING_BYTES: &[u8] = &[
    0x01, 0x02, 0x05, 0x06, 0x07, 0x08, 0x0b, 0x0c, 0x0e, 0x10, 0x12, 0x13, 0x14, 0x15, 0x17, 0x19,
    0x7f,
];

/// Named keys that only move, erase or search.
const EDITING_KEYS: &[&str] =
    &["BSpace", "Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage", "IC", "DC"];

/// The effect of a key on the typed line, as far as it is the same in all programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keystroke {
    /// Appends a printable ASCII character.
    Char(char),
    /// Submits the line.
    Enter,
    /// Submits the line in most programs.
    Submit,
    /// Submits a pasted line, unless the program drops the line end of a paste and continues the line.
    PasteEnd,
    /// C-c: clears the line.
    Abort,
    /// C-d, C-z: no effect on an empty line, unknown effect on others.
    End,
    /// Edits the line in a way that only the program knows.
    Edit,
    /// May edit, expand or submit the line, start a program, or change the meaning of the next key: Tab,
    /// Escape, Alt, C-x, function keys, everything beyond ASCII.
    Unpredictable,
    /// The same key for a program that neither is a shell nor leads to one.
    ProgramKey,
    /// Not a key: a signal to the program, which may have cleared the line.
    Signal,
}

impl Keystroke {
    /// The keystrokes of typing a text.
    pub(crate) fn of_text(text: &str) -> impl Iterator<Item = Self> + Clone {
        text.chars().map(|c| u8::try_from(c).map_or(Self::Unpredictable, Self::of_byte))
    }

    /// The keystrokes of pasting a text.
    pub(crate) fn of_paste(text: &str, bracketed: bool) -> impl Iterator<Item = Self> + Clone {
        let kept = if bracketed { text.trim_end_matches(['\n', '\r']) } else { text };
        let ends = kept.len() < text.len();
        Self::of_text(kept).chain(ends.then_some(Self::PasteEnd))
    }

    /// The effect of a key.
    pub(crate) fn of_key(key: &TmuxKey) -> Self {
        let name = match key {
            TmuxKey::Byte(byte) => return Self::of_byte(*byte),
            TmuxKey::Named(name) => name.as_str(),
        };
        match name {
            "Enter" => return Self::Enter,
            "Space" => return Self::Char(' '),
            // The bytes of these keys depend on the keyboard protocol that the program enabled.
            "KPEnter" | "C-m" | "C-j" => return Self::Submit,
            name if EDITING_KEYS.contains(&name) => return Self::Edit,
            _ => {}
        }
        let (control, base) = match name.strip_prefix("C-") {
            Some(base) => (true, base),
            None => (false, name),
        };
        let mut chars = base.chars();
        match (chars.next(), chars.next()) {
            (Some(c @ 'a'..='z'), None) if control => Self::of_byte(c as u8 & 0x1f),
            (Some(c), None) if !control => {
                u8::try_from(c).map_or(Self::Unpredictable, Self::of_byte)
            }
            _ => Self::Unpredictable,
        }
    }

    /// The effect of a byte. Outside UTF-8, shells read a byte beyond ASCII as Alt with another key: the
    /// second byte of `Å` makes bash expand `$(…)`.
    fn of_byte(byte: u8) -> Self {
        match byte {
            b' '..=b'~' => Self::Char(char::from(byte)),
            b'\r' | b'\n' => Self::Enter,
            0x03 => Self::Abort,
            0x04 | 0x1a => Self::End,
            _ if EDITING_BYTES.contains(&byte) => Self::Edit,
            _ => Self::Unpredictable,
        }
    }
}

/// The typed line of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedLine {
    text: LineText,
    /// Preceding lines that ended in a backslash, joined.
    continued: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum LineText {
    /// One of these texts.
    Known(Vec<String>),
    /// Empty, because C-c was sent last. A shell may lose characters that follow at once.
    Cleared,
    /// Unknown until C-c clears the line.
    Edited,
    /// Unknown, and C-c may not clear the line.
    Lost,
}

impl Default for TypedLine {
    fn default() -> Self {
        Self { text: LineText::Known(vec![String::new()]), continued: String::new() }
    }
}

impl TypedLine {
    /// The line after these keystrokes. Fails if `check` refuses a line that they may submit.
    pub(crate) fn after<E>(
        mut self,
        strokes: impl Iterator<Item = Keystroke>,
        check: impl Fn(ShellLine<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        for stroke in strokes {
            match stroke {
                Keystroke::Char(c) => self.add(c),
                Keystroke::Enter => self.submit(&check)?,
                Keystroke::PasteEnd => {
                    let pasted = self.text.clone();
                    self.submit(&check)?;
                    if let (LineText::Known(now), LineText::Known(was)) = (&mut self.text, pasted) {
                        now.extend(was.into_iter().filter(|text| !text.is_empty()));
                    }
                }
                Keystroke::Submit => {
                    self.submit(&check)?;
                    self.text = LineText::Edited;
                }
                Keystroke::Abort if self.text == LineText::Lost => {}
                Keystroke::Abort => {
                    self = Self { text: LineText::Cleared, continued: String::new() };
                }
                Keystroke::Edit => self.mark_edited(),
                Keystroke::ProgramKey => self.text = LineText::Lost,
                Keystroke::End | Keystroke::Signal if self.is_empty() => {}
                Keystroke::Signal => self.mark_edited(),
                Keystroke::End | Keystroke::Unpredictable => {
                    self.submit(&check)?;
                    self.text = LineText::Lost;
                }
            }
        }
        Ok(self)
    }

    /// Whether C-c was sent last, so that a shell may lose characters that follow at once.
    pub(crate) fn is_cleared(&self) -> bool {
        self.text == LineText::Cleared
    }

    fn is_empty(&self) -> bool {
        self.is_cleared() || *self == Self::default()
    }

    /// The line if typing stops before this one is complete.
    pub(crate) fn interrupted(&self) -> Self {
        let text = match self.text {
            LineText::Lost => LineText::Lost,
            _ => LineText::Edited,
        };
        Self { text, continued: String::new() }
    }

    fn add(&mut self, c: char) {
        if self.is_cleared() {
            self.text = LineText::Edited;
        }
        if let LineText::Known(texts) = &mut self.text {
            texts.iter_mut().for_each(|text| text.push(c));
            if texts.iter().any(|text| text.len() > MAX_LINE_BYTES) {
                self.text = LineText::Lost;
            }
        }
    }

    fn mark_edited(&mut self) {
        if self.text != LineText::Lost {
            self.text = LineText::Edited;
        }
    }

    fn submit<E>(&mut self, check: impl Fn(ShellLine<'_>) -> Result<(), E>) -> Result<(), E> {
        let texts = match &self.text {
            LineText::Known(texts) => texts,
            LineText::Cleared => return Ok(()),
            LineText::Edited => return check(ShellLine::Edited),
            LineText::Lost => return check(ShellLine::Lost),
        };
        let mut continued = String::new();
        for text in texts {
            let continues = check_line(&self.continued, text, &check)?;
            continued = continues.unwrap_or(continued);
        }
        let text = match continued.len() {
            0..=MAX_LINE_BYTES => Self::default().text,
            _ => LineText::Lost,
        };
        *self = Self { text, continued };
        Ok(())
    }
}

/// Checks each line of a command. Lines joined by a final backslash are also checked as one.
pub(crate) fn check_all<E>(
    command: &str,
    check: impl Fn(ShellLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut continued = String::new();
    for line in command.split(['\n', '\r']) {
        continued = check_line(&continued, line, &check)?.unwrap_or_default();
    }
    Ok(())
}

/// Checks a line by itself, and joined to the lines that it continues. If it ends in a backslash,
/// returns the joined text for the next line.
fn check_line<E>(
    continued: &str,
    line: &str,
    check: impl Fn(ShellLine<'_>) -> Result<(), E>,
) -> Result<Option<String>, E> {
    check(ShellLine::Known(line))?;
    let mut whole = format!("{continued}{line}");
    if !continued.is_empty() {
        check(ShellLine::Known(&whole))?;
    }
    let backslashes = whole.len() - whole.trim_end_matches('\\').len();
    Ok((backslashes % 2 == 1).then(|| {
        whole.pop();
        whole
    }))
}

#[cfg(test)]
mod tests;
