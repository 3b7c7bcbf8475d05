//! DEC special graphics: letters that stand for line-drawing characters while a charset is active.

/// The designated charsets, and which of them is in use.
#[derive(Default, Clone, Copy)]
pub(super) struct Charset {
    /// Whether G0 and G1 are DEC special graphics.
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

    /// SO selects G1, SI selects G0.
    pub(super) fn shift(&mut self, shifted: bool) {
        self.shifted = shifted;
    }

    /// Whether DEC special graphics are in use.
    pub(super) fn is_graphics(&self) -> bool {
        if self.shifted { self.graphics.1 } else { self.graphics.0 }
    }
}

/// The character that a letter stands for in DEC special graphics; other characters are unchanged.
pub fn special_graphic(letter: char) -> char {
    const FIRST: char = '_';
    const GRAPHICS: &str = "\u{a0}◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
    match letter {
        FIRST..='~' => GRAPHICS.chars().nth(letter as usize - FIRST as usize).unwrap_or(letter),
        _ => letter,
    }
}
