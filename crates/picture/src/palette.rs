//! Which colours a theme has, and which of them a cell is painted with.

use std::sync::LazyLock;

use super::cells::{Color, Style};

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// Light on dark, or dark on light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Light text on a dark ground.
    #[default]
    Dark,
    /// Dark text on a light ground.
    Light,
}

/// How much text in a theme's own colours has to differ from what is behind it. A program that
/// asks for white text does not know that the ground is white.
const LEAST_CONTRAST: f32 = 3.0;

/// The light that each value of a channel stands for, from 0 to 1.
static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|part| (part as f32 / 255.0).powf(2.2)));

/// What is left of the text's colour where it is dim.
const DIM: f32 = 0.6;

/// The colours of a picture.
#[derive(Debug, Clone)]
pub(super) struct Palette {
    pub(super) fg: Rgb,
    pub(super) bg: Rgb,
    basic: [Rgb; 16],
}

/// The colours of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Inks {
    pub(super) fg: Rgb,
    pub(super) bg: Rgb,
    pub(super) line: Rgb,
}

const DARK: Palette = Palette {
    fg: hex(0xd7_dae0),
    bg: hex(0x17_191e),
    basic: [
        hex(0x2b_2f37),
        hex(0xe5_484d),
        hex(0x46_a758),
        hex(0xd0_a215),
        hex(0x3b_82f6),
        hex(0xb0_68d9),
        hex(0x24_a8b5),
        hex(0xc9_cdd4),
        hex(0x7d_8590),
        hex(0xff_7b72),
        hex(0x6f_dd8b),
        hex(0xf7_d154),
        hex(0x79_b8ff),
        hex(0xdb_9cf5),
        hex(0x5f_e0e6),
        hex(0xff_ffff),
    ],
};

const LIGHT: Palette = Palette {
    fg: hex(0x1f_2328),
    bg: hex(0xff_ffff),
    basic: [
        hex(0x1f_2328),
        hex(0xcf_222e),
        hex(0x1a_7f37),
        hex(0x9a_6700),
        hex(0x09_69da),
        hex(0x92_40c4),
        hex(0x0f_7c85),
        hex(0xd5_d9de),
        hex(0x6e_7781),
        hex(0xf0_4a50),
        hex(0x2d_a44e),
        hex(0xc6_8a00),
        hex(0x3d_92f5),
        hex(0xb5_6be0),
        hex(0x25_a2ad),
        hex(0xf6_f8fa),
    ],
};

impl Palette {
    /// A theme's colours, with the pane's own in the place of its text's and its ground's. tmux
    /// gives them as names: `default`, `red`, `colour8`, `#102030`.
    pub(super) fn new(theme: Theme, fg: &str, bg: &str) -> Self {
        let theme = match theme {
            Theme::Dark => DARK,
            Theme::Light => LIGHT,
        };
        let own =
            |name: &str, other: Rgb| named(name).map_or(other, |color| theme.color(color, other));
        Self { fg: own(fg, theme.fg), bg: own(bg, theme.bg), ..theme }
    }

    /// What a cell is painted with.
    pub(super) fn inks(&self, style: &Style) -> Inks {
        let mut bg = self.color(style.bg, self.bg);
        let mut fg = self.color(style.fg, self.fg);
        if style.reverse {
            (fg, bg) = (bg, fg);
        }
        let of_theme = |color: Color| !matches!(color, Color::Rgb(_) | Color::Index(16..));
        // Text in the colour of its ground is meant to be unseen.
        let unseen = style.fg == style.bg && style.fg != Color::Default;
        if !unseen && of_theme(if style.reverse { style.bg } else { style.fg }) {
            fg = legible(fg, bg);
        }
        if style.dim {
            fg = mix(bg, fg, DIM);
        }
        Inks { fg, bg, line: self.color(style.line, fg) }
    }

    /// The colours of a cell that the cursor is on.
    pub(super) fn cursor(&self, inks: Inks) -> Inks {
        let bg = if inks.bg == self.fg { self.bg } else { self.fg };
        let fg = if inks.bg == bg { inks.fg } else { inks.bg };
        Inks { fg, bg, line: fg }
    }

    fn color(&self, color: Color, other: Rgb) -> Rgb {
        match color {
            Color::Default => other,
            Color::Rgb(rgb) => rgb,
            Color::Index(n) => match self.basic.get(usize::from(n)) {
                Some(basic) => *basic,
                None => fixed(n),
            },
        }
    }
}

const fn hex(rgb: u32) -> Rgb {
    let [_, r, g, b] = rgb.to_be_bytes();
    [r, g, b]
}

/// The colours from 16 on: a cube of six levels, and greys.
fn fixed(n: u8) -> Rgb {
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match n.checked_sub(232) {
        Some(grey) => [8 + 10 * grey; 3],
        None => {
            let n = n.saturating_sub(16);
            [level(n / 36), level(n / 6 % 6), level(n % 6)]
        }
    }
}

/// The colour that tmux calls so.
fn named(name: &str) -> Option<Color> {
    const NAMES: [&str; 8] =
        ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    if let Some(digits) = name.strip_prefix('#') {
        let rgb = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6)?;
        return Some(Color::Rgb(hex(rgb)));
    }
    if let Some(number) = name.strip_prefix("colour") {
        return number.parse().ok().map(Color::Index);
    }
    let (name, bright) = match name.strip_prefix("bright") {
        Some(rest) => (rest, 8),
        None => (name, 0),
    };
    let at = NAMES.iter().position(|known| *known == name)?;
    u8::try_from(at).ok().map(|at| Color::Index(at + bright))
}

/// Between two colours: all of `from` at 0, all of `to` at 1.
pub(super) fn mix(from: Rgb, to: Rgb, share: f32) -> Rgb {
    let between = |(from, to): (u8, u8)| {
        let (from, to) = (f32::from(from), f32::from(to));
        (from + (to - from) * share).round() as u8
    };
    let ([r, g, b], [s, h, c]) = (from, to);
    [between((r, s)), between((g, h)), between((b, c))]
}

/// A colour that can be read on another.
fn legible(fg: Rgb, bg: Rgb) -> Rgb {
    let ends = [[0; 3], [255; 3]];
    let [black, white] = ends.map(|end| contrast(end, bg));
    let end = if black > white { [0; 3] } else { [255; 3] };
    (0..=10_u8)
        .map(|step| mix(fg, end, f32::from(step) / 10.0))
        .find(|fg| contrast(*fg, bg) >= LEAST_CONTRAST)
        .unwrap_or(end)
}

/// The ratio of two colours' brightness, from 1 to 21.
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let brightness = |color: Rgb| {
        let [r, g, b] = color.map(|part| LINEAR.get(usize::from(part)).copied().unwrap_or(0.0));
        0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    };
    let (a, b) = (brightness(a), brightness(b));
    if a > b { a / b } else { b / a }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(fg: Color, bg: Color) -> Style {
        Style { fg, bg, ..Style::default() }
    }

    #[test]
    fn whatever_a_theme_paints_can_be_read() {
        for theme in [Theme::Dark, Theme::Light] {
            let palette = Palette::new(theme, "default", "default");
            for bg in (0..16).map(Color::Index).chain([Color::Default]) {
                for fg in (0..16).map(Color::Index).chain([Color::Default]) {
                    for reverse in [false, true] {
                        let inks = palette.inks(&Style { reverse, ..style(fg, bg) });
                        let kept = contrast(inks.fg, inks.bg) >= LEAST_CONTRAST - 0.01;
                        let unseen = fg == bg && fg != Color::Default;
                        assert!(kept != unseen, "{theme:?}: {fg:?} on {bg:?}");
                    }
                }
                let text = palette.inks(&style(Color::Default, Color::Default));
                assert!(contrast(text.fg, text.bg) > 10.0);
            }
        }
    }

    #[test]
    fn a_programs_own_colours_are_left_as_they_are() {
        let palette = Palette::new(Theme::Light, "default", "default");
        let inks = palette.inks(&style(Color::Rgb([250, 250, 250]), Color::Index(231)));
        assert_eq!((inks.fg, inks.bg), ([250; 3], [255; 3]));
        let table =
            [(16, [0; 3]), (21, [0, 0, 255]), (196, [255, 0, 0]), (232, [8; 3]), (255, [238; 3])];
        for (n, rgb) in table {
            assert_eq!(fixed(n), rgb, "{n}");
        }
    }

    #[test]
    fn a_pane_can_have_colours_of_its_own() {
        for (name, color) in [
            ("red", Some(Color::Index(1))),
            ("brightwhite", Some(Color::Index(15))),
            ("colour200", Some(Color::Index(200))),
            ("#0a141e", Some(Color::Rgb([10, 20, 30]))),
            ("default", None),
            ("terminal", None),
            ("#12", None),
            ("colour300", None),
            ("", None),
        ] {
            assert_eq!(named(name), color, "{name}");
        }
        let palette = Palette::new(Theme::Dark, "default", "#ffffff");
        let inks = palette.inks(&Style::default());
        assert_eq!(inks.bg, [255; 3]);
        assert!(contrast(inks.fg, inks.bg) >= LEAST_CONTRAST);
    }
}
