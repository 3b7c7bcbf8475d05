//! Line drawing as old terminals do it: letters that stand for lines while a mode is on.

/// Which characters the letters stand for.
#[derive(Default, Clone, Copy)]
pub(super) struct Charset {
    /// Whether G0 and G1 are DEC's special graphics.
    graphics: (bool, bool),
    /// Whether G1 is in use, after SO.
    shifted: bool,
}

impl Charset {
    /// `ESC ( …` sets G0, `ESC ) …` sets G1.
    pub(super) fn designate(&mut self, slot: u8, name: u8) {
        match slot {
            b'(' => self.graphics.0 = name == b'0',
            b')' => self.graphics.1 = name == b'0',
            _ => {}
        }
    }

    pub(super) fn shift(&mut self, shifted: bool) {
        self.shifted = shifted;
    }

    /// Whether letters are drawn as lines now.
    pub(super) fn draws(&self) -> bool {
        if self.shifted { self.graphics.1 } else { self.graphics.0 }
    }
}

/// The character that a letter of the special graphics stands for.
pub fn drawn(letter: char) -> char {
    const FROM: char = '_';
    const DRAWN: &str = "\u{a0}◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
    match letter {
        FROM..='~' => DRAWN.chars().nth(letter as usize - FROM as usize).unwrap_or(letter),
        _ => letter,
    }
}
