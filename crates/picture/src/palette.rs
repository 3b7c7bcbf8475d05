//! Themes: the RGB colours behind SGR colours, and the choice of those that a cell is painted with.

use std::sync::LazyLock;

use super::cells::{Color, Style};

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// Colour scheme of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Light text on a dark background.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
}

/// Minimum contrast ratio of text in a theme colour to its background. A program that selects white
/// text does not know that the theme's background is white.
const MIN_CONTRAST: f32 = 3.0;

/// Linear light, from 0 to 1, of each value of a colour channel.
static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|value| (value as f32 / 255.0).powf(2.2)));

/// Share of the text colour in dim text; the rest is background.
const DIM_SHARE: f32 = 0.6;

/// The theme colours of a picture: default text, default background and the 16 basic colours.
#[derive(Debug, Clone)]
pub(super) struct Palette {
    pub(super) fg: Rgb,
    pub(super) bg: Rgb,
    basic: [Rgb; 16],
}

/// The colours of a cell: text, background and underline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CellColors {
    pub(super) fg: Rgb,
    pub(super) bg: Rgb,
    pub(super) underline: Rgb,
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
    /// The colours of a theme, with the pane's default text and background colours if tmux names
    /// some: `red`, `colour8`, `#102030`, but not `default`.
    pub(super) fn new(theme: Theme, fg: &str, bg: &str) -> Self {
        let theme = match theme {
            Theme::Dark => DARK,
            Theme::Light => LIGHT,
        };
        let named = |name: &str, default: Rgb| {
            parse_color(name).map_or(default, |color| theme.rgb(color, default))
        };
        Self { fg: named(fg, theme.fg), bg: named(bg, theme.bg), ..theme }
    }

    /// The colours of a cell with this style.
    pub(super) fn cell_colors(&self, style: &Style) -> CellColors {
        let mut bg = self.rgb(style.bg, self.bg);
        let mut fg = self.rgb(style.fg, self.fg);
        if style.reverse {
            (fg, bg) = (bg, fg);
        }
        let of_theme = |color: Color| !matches!(color, Color::Rgb(_) | Color::Index(16..));
        // Text in the colour of its background is meant to be invisible.
        let invisible = style.fg == style.bg && style.fg != Color::Default;
        if !invisible && of_theme(if style.reverse { style.bg } else { style.fg }) {
            fg = legible(fg, bg);
        }
        if style.dim {
            fg = mix(bg, fg, DIM_SHARE);
        }
        CellColors { fg, bg, underline: self.rgb(style.underline_color, fg) }
    }

    /// The colours of a cell under a block cursor.
    pub(super) fn under_cursor(&self, cell: CellColors) -> CellColors {
        let bg = if cell.bg == self.fg { self.bg } else { self.fg };
        let fg = if cell.bg == bg { cell.fg } else { cell.bg };
        CellColors { fg, bg, underline: fg }
    }

    fn rgb(&self, color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Default => default,
            Color::Rgb(rgb) => rgb,
            Color::Index(n) => match self.basic.get(usize::from(n)) {
                Some(basic) => *basic,
                None => extended_color(n),
            },
        }
    }
}

const fn hex(rgb: u32) -> Rgb {
    let [_, r, g, b] = rgb.to_be_bytes();
    [r, g, b]
}

/// The palette entries from 16 on: a 6x6x6 colour cube and a grey ramp.
fn extended_color(n: u8) -> Rgb {
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    match n.checked_sub(232) {
        Some(grey) => [8 + 10 * grey; 3],
        None => {
            let n = n.saturating_sub(16);
            [level(n / 36), level(n / 6 % 6), level(n % 6)]
        }
    }
}

/// Parses a colour name of tmux; `None` for `default` and unknown names.
fn parse_color(name: &str) -> Option<Color> {
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

/// Interpolates between two colours: a share of 0 is `from`, 1 is `to`.
pub(super) fn mix(from: Rgb, to: Rgb, share: f32) -> Rgb {
    let between = |(from, to): (u8, u8)| {
        let (from, to) = (f32::from(from), f32::from(to));
        (from + (to - from) * share).round() as u8
    };
    let ([r, g, b], [s, h, c]) = (from, to);
    [between((r, s)), between((g, h)), between((b, c))]
}

/// The text colour, moved towards black or white until its contrast to the background suffices.
fn legible(fg: Rgb, bg: Rgb) -> Rgb {
    let ends = [[0; 3], [255; 3]];
    let [black, white] = ends.map(|end| contrast(end, bg));
    let end = if black > white { [0; 3] } else { [255; 3] };
    (0..=10_u8)
        .map(|step| mix(fg, end, f32::from(step) / 10.0))
        .find(|fg| contrast(*fg, bg) >= MIN_CONTRAST)
        .unwrap_or(end)
}

/// Contrast ratio of two colours, from 1 to 21.
fn contrast(a: Rgb, b: Rgb) -> f32 {
    let brightness = |color: Rgb| {
        let [r, g, b] = color.map(|value| LINEAR.get(usize::from(value)).copied().unwrap_or(0.0));
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
    fn theme_colors_are_legible_on_each_other() {
        for theme in [Theme::Dark, Theme::Light] {
            let palette = Palette::new(theme, "default", "default");
            for bg in (0..16).map(Color::Index).chain([Color::Default]) {
                for fg in (0..16).map(Color::Index).chain([Color::Default]) {
                    for reverse in [false, true] {
                        let cell = palette.cell_colors(&Style { reverse, ..style(fg, bg) });
                        let legible = contrast(cell.fg, cell.bg) >= MIN_CONTRAST - 0.01;
                        let invisible = fg == bg && fg != Color::Default;
                        assert!(legible != invisible, "{theme:?}: {fg:?} on {bg:?}");
                    }
                }
                let text = palette.cell_colors(&style(Color::Default, Color::Default));
                assert!(contrast(text.fg, text.bg) > 10.0);
            }
        }
    }

    #[test]
    fn rgb_and_extended_colors_are_painted_exactly() {
        let palette = Palette::new(Theme::Light, "default", "default");
        let cell = palette.cell_colors(&style(Color::Rgb([250, 250, 250]), Color::Index(231)));
        assert_eq!((cell.fg, cell.bg), ([250; 3], [255; 3]));
        let table =
            [(16, [0; 3]), (21, [0, 0, 255]), (196, [255, 0, 0]), (232, [8; 3]), (255, [238; 3])];
        for (n, rgb) in table {
            assert_eq!(extended_color(n), rgb, "{n}");
        }
    }

    #[test]
    fn default_colors_of_the_pane_are_used() {
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
            assert_eq!(parse_color(name), color, "{name}");
        }
        let palette = Palette::new(Theme::Dark, "default", "#ffffff");
        let cell = palette.cell_colors(&Style::default());
        assert_eq!(cell.bg, [255; 3]);
        assert!(contrast(cell.fg, cell.bg) >= MIN_CONTRAST);
    }
}
