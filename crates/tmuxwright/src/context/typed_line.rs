//! The line that stands typed in a pane and has not been entered yet.
//!
//! What reaches a shell is judged line by line, so text that comes in pieces has to be put together
//! first. Plain characters are; after anything else nobody but the program knows what stands there.
//! Wherever programs differ, the less certain is taken to be so.

use tmux_control::keys::Key;

use crate::contract::ShellLine;

/// A line longer than this is not followed any further.
const LONGEST: usize = 1 << 20;

/// The control characters that move, erase or search in every line editor known, and neither enter
/// a line nor change what the next key means: C-a, C-b, C-e, C-f, C-g, C-h, C-k, C-l, C-n, C-p, C-r,
/// C-s, C-t, C-u, C-w, C-y and backspace.
const EDITING: &[u8] = &[
    0x01, 0x02, 0x05, 0x06, 0x07, 0x08, 0x0b, 0x0c, 0x0e, 0x10, 0x12, 0x13, 0x14, 0x15, 0x17, 0x19,
    0x7f,
];

/// Named keys of the same kind.
const EDITING_KEYS: &[&str] = &[
    "BSpace", "Up", "Down", "Left", "Right", "Home", "End", "PPage", "NPage", "IC", "DC", "F1",
    "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12",
];

/// What a key does to a line, as far as that can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keystroke {
    /// Adds a character of printable ASCII.
    Char(char),
    /// Enters the line.
    Enter,
    /// Enters the line in most programs.
    Submit,
    /// Ends a pasted line; whoever drops the end of a paste goes on in the same line.
    PasteEnd,
    /// C-c: discards the line.
    Abort,
    /// C-d, C-z: nothing where nothing is typed, anything elsewhere.
    End,
    /// Changes the line in a way that only its program knows.
    Edit,
    /// Tab: looks for what may follow, and the next C-c may end just that.
    Complete,
    /// May change or enter the line, or say how the next key is taken.
    Wild,
    /// No key: a signal, which may have discarded the line.
    Signal,
}

impl Keystroke {
    /// What typing a text does.
    pub(crate) fn of_text(text: &str) -> impl Iterator<Item = Self> + Clone {
        text.chars().map(|c| u8::try_from(c).map_or(Self::Edit, Self::of_byte))
    }

    /// What pasting a text does.
    pub(crate) fn of_paste(text: &str, bracketed: bool) -> impl Iterator<Item = Self> + Clone {
        let kept = if bracketed { text.trim_end_matches(['\n', '\r']) } else { text };
        let ends = kept.len() < text.len();
        Self::of_text(kept).chain(ends.then_some(Self::PasteEnd))
    }

    /// What a key does.
    pub(crate) fn of_key(key: &Key) -> Self {
        let name = match key {
            Key::Byte(byte) => return Self::of_byte(*byte),
            Key::Named(name) => name.as_str(),
        };
        match name {
            "Enter" => return Self::Enter,
            "Space" => return Self::Char(' '),
            // How these are sent depends on what the program has asked for.
            "KPEnter" | "C-m" | "C-j" => return Self::Submit,
            "Tab" | "BTab" => return Self::Complete,
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
            (Some(c), None) if !control => u8::try_from(c).map_or(Self::Edit, Self::of_byte),
            _ => Self::Wild,
        }
    }

    /// What a byte does. Where text is not UTF-8, a shell takes those beyond ASCII for Alt with a
    /// letter.
    fn of_byte(byte: u8) -> Self {
        match byte {
            b' '..=b'~' => Self::Char(char::from(byte)),
            b'\r' | b'\n' => Self::Enter,
            0x03 => Self::Abort,
            0x04 | 0x1a => Self::End,
            b'\t' => Self::Complete,
            0x80.. => Self::Edit,
            _ if EDITING.contains(&byte) => Self::Edit,
            _ => Self::Wild,
        }
    }
}

/// What stands typed in a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TypedLine {
    standing: Standing,
    /// The lines before it that end in a backslash, put together.
    before: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    /// One of these.
    Known(Vec<String>),
    /// Nothing, since C-c was pressed just now; a shell may lose what comes at once.
    Cleared,
    /// Unknown until C-c has cleared it.
    Edited,
    /// Unknown, and so is what C-c would do.
    Lost,
}

impl Default for TypedLine {
    fn default() -> Self {
        Self { standing: Standing::Known(vec![String::new()]), before: String::new() }
    }
}

impl TypedLine {
    /// The line after these strokes, unless `judge` refuses one that they may enter.
    pub(crate) fn after<E>(
        mut self,
        strokes: impl Iterator<Item = Keystroke>,
        judge: impl Fn(ShellLine<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        for stroke in strokes {
            match stroke {
                Keystroke::Char(c) => self.add(c),
                Keystroke::Enter => self.enter(&judge)?,
                Keystroke::PasteEnd => {
                    let stands = self.standing.clone();
                    self.enter(&judge)?;
                    if let (Standing::Known(now), Standing::Known(was)) =
                        (&mut self.standing, stands)
                    {
                        now.extend(was.into_iter().filter(|text| !text.is_empty()));
                    }
                }
                Keystroke::Submit => {
                    self.enter(&judge)?;
                    self.standing = Standing::Edited;
                }
                Keystroke::Abort if self.standing == Standing::Lost => {}
                Keystroke::Abort => {
                    self = Self { standing: Standing::Cleared, before: String::new() };
                }
                Keystroke::Edit => self.disturb(),
                Keystroke::Complete => self.standing = Standing::Lost,
                Keystroke::End | Keystroke::Signal if self.is_empty() => {}
                Keystroke::Signal => self.disturb(),
                Keystroke::End | Keystroke::Wild => {
                    self.enter(&judge)?;
                    self.standing = Standing::Lost;
                }
            }
        }
        Ok(self)
    }

    /// Whether a shell may lose what comes at once.
    pub(crate) fn is_cleared(&self) -> bool {
        self.standing == Standing::Cleared
    }

    fn is_empty(&self) -> bool {
        self.is_cleared() || *self == Self::default()
    }

    /// The line if typing stops somewhere on the way to this one.
    pub(crate) fn on_the_way(&self) -> Self {
        let standing = match self.standing {
            Standing::Lost => Standing::Lost,
            _ => Standing::Edited,
        };
        Self { standing, before: String::new() }
    }

    fn add(&mut self, c: char) {
        if self.is_cleared() {
            self.standing = Standing::Edited;
        }
        if let Standing::Known(texts) = &mut self.standing {
            texts.iter_mut().for_each(|text| text.push(c));
            if texts.iter().any(|text| text.len() > LONGEST) {
                self.standing = Standing::Lost;
            }
        }
    }

    fn disturb(&mut self) {
        if self.standing != Standing::Lost {
            self.standing = Standing::Edited;
        }
    }

    fn enter<E>(&mut self, judge: impl Fn(ShellLine<'_>) -> Result<(), E>) -> Result<(), E> {
        let texts = match &self.standing {
            Standing::Known(texts) => texts,
            Standing::Cleared => return Ok(()),
            Standing::Edited => return judge(ShellLine::Edited),
            Standing::Lost => return judge(ShellLine::Lost),
        };
        let mut before = String::new();
        for text in texts {
            let goes_on = judge_line(&self.before, text, &judge)?;
            before = goes_on.unwrap_or(before);
        }
        let standing = match before.len() {
            0..=LONGEST => Self::default().standing,
            _ => Standing::Lost,
        };
        *self = Self { standing, before };
        Ok(())
    }
}

/// Judges each line of a command, and where lines end in a backslash all of them as one too.
pub(crate) fn judge_all<E>(
    command: &str,
    judge: impl Fn(ShellLine<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut before = String::new();
    for line in command.split(['\n', '\r']) {
        before = judge_line(&before, line, &judge)?.unwrap_or_default();
    }
    Ok(())
}

/// Judges a line by itself and behind those before it. If it goes on in the next one, returns what
/// that one comes behind.
fn judge_line<E>(
    before: &str,
    line: &str,
    judge: impl Fn(ShellLine<'_>) -> Result<(), E>,
) -> Result<Option<String>, E> {
    judge(ShellLine::Known(line))?;
    let mut whole = format!("{before}{line}");
    if !before.is_empty() {
        judge(ShellLine::Known(&whole))?;
    }
    let backslashes = whole.len() - whole.trim_end_matches('\\').len();
    Ok((backslashes % 2 == 1).then(|| {
        whole.pop();
        whole
    }))
}

#[cfg(test)]
mod tests;
