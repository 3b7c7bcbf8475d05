//! Compares PNG pictures with reviewed ones in `golden/`. `make bless` renders those anew.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers fail like tests")]

use std::path::{Path, PathBuf};

use picture::{CursorShape, Picture, ScreenCapture, ScreenCursor, Theme};

/// All SGR attributes.
const ATTRIBUTES: &str = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2mdim\u{1b}[0m \u{1b}[3mitalic\u{1b}[0m \
    \u{1b}[1;3mboth\u{1b}[0m \u{1b}[9mstrike\u{1b}[0m \u{1b}[53mover\u{1b}[0m\n\
    \u{1b}[4mone\u{1b}[0m \u{1b}[4:2mtwo\u{1b}[0m \u{1b}[4:3mcurly\u{1b}[0m \u{1b}[4:4mdots\u{1b}[0m \
    \u{1b}[4:5mdashes\u{1b}[0m \u{1b}[4:3;58;5;196mred curl\u{1b}[0m\n\
    \u{1b}[7mreverse\u{1b}[0m [\u{1b}[8mhidden\u{1b}[0m] \u{1b}[5mblink\u{1b}[0m \
    \u{1b}[1;32;7mgreen\u{1b}[0m \u{1b}[2;31mdim red\u{1b}[0m\n";

/// Box-drawing lines of all weights, blocks, shades, sextants, braille and Powerline separators.
const SHAPES: &str = "┌─┬┐ ┏━┳┓ ╔═╦╗ ╒═╤╕ ╓─╥╖ ╭─┬╮ ┍━┯┑\n\
    │ ││ ┃ ┃┃ ║ ║║ │ ││ ║ ║║ │ ││ │ ││\n\
    ├─┼┤ ┣━╋┫ ╠═╬╣ ╞═╪╡ ╟─╫╢ ├─┼┤ ┝━┿┥\n\
    └─┴┘ ┗━┻┛ ╚═╩╝ ╘═╧╛ ╙─╨╜ ╰─┴╯ ┕━┷┙\n\
    ┄┅┈┉╌╍ ╱╲╳ ╴╵╶╷╸╹╺╻╼╽╾╿\n\
    ▀▁▂▃▄▅▆▇█▉▊▋▌▍▎▏▐ ░▒▓ ▔▕▖▗▘▙▚▛▜▝▞▟\n\
    ████▓▓▓▓▒▒▒▒░░░░ ▀▄▀▄▐▌▐▌\n\
    ████▓▓▓▓▒▒▒▒░░░░ \u{1fb00}\u{1fb0b}\u{1fb1c}\u{1fb2d}\u{1fb3b} ⣀⡠⠔⠊⠉⠑⠢⢄⣀⣿\n\
    \u{1b}[44;97m main \u{1b}[42;34m\u{e0b0}\u{1b}[30m ok \u{e0b1} x \u{1b}[0;32m\u{e0b0}\u{1b}[0m \
    \u{1b}[31m\u{e0b2}\u{1b}[41;97m y \u{e0b3} z \u{1b}[0;35m \u{e0b6}\u{1b}[45;97m o \u{1b}[0;35m\u{e0b4}\n\
    \u{1b}[0m\u{e}lqqqwqqk\u{f}\n\u{e}x a x`fx\u{f}\n\u{e}mqqqvqqj\u{f}";

/// Many scripts, wide characters, emoji and combining marks.
const SCRIPTS: &str = "日本語テスト、漢字とかな。|\n한국어 텍스트 中文简体 繁體中文|\n\
    שלום עולם السلام عليكم สวัสดี|\nе\u{301} a\u{308} A\u{30a} E\u{301} q\u{323} x\u{336} u\u{308}\u{301} é Å ñ|\n\
    🙂🚀 ✅ ❤\u{fe0f} ⚠ ★ ✓ → ∀∃ ≤ √∞ ½ €|\nＡＢＣ ｱｲｳ 𝒜𝔅𝕏 \u{e0a0}\u{20000} Ελλην Кирил|\n\
    \u{1b}[1m太字 bold\u{1b}[0m \u{1b}[3m斜体 italic\u{1b}[0m \u{1b}[4m下線\u{1b}[0m \u{1b}[7m反転\u{1b}[0m|\n\
    a\tb\tc\t|\nABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789\nabcdefghijklmnopqrstuvwxyz Il1|O0\n\
    !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// The 16 basic colours as text and background, some of the 256, and an RGB gradient.
fn colors() -> String {
    let mut text = String::new();
    for (fg, bg) in [(30, 49), (90, 49), (39, 40), (39, 100), (97, 40), (30, 100), (37, 40)] {
        for n in 0..8 {
            let part = |base: u8| if base % 10 == 9 { base } else { base + n };
            let (fg, bg) =
                if fg % 10 == 0 && bg % 10 == 9 { (part(fg), bg) } else { (fg, part(bg)) };
            text.push_str(&format!("\u{1b}[{fg};{bg}m {n}Ag \u{1b}[0m"));
        }
        text.push('\n');
    }
    for row in 0..3 {
        (0..40).for_each(|n| text.push_str(&format!("\u{1b}[48;5;{}m ", 16 + row * 72 + n)));
        text.push_str("\u{1b}[0m\n");
    }
    (0..40).for_each(|n| text.push_str(&format!("\u{1b}[48;2;{};{};90m▌", 255 - n * 6, n * 6)));
    text.push_str("\u{1b}[0m");
    text
}

fn capture(text: &str, columns: u32, rows: u32) -> ScreenCapture<'_> {
    let (text, fg, bg) = (text.as_bytes(), "default", "default");
    ScreenCapture { text, columns, rows, cursor: None, tabs: "", wide_emoji: true, fg, bg }
}

fn render(text: &str, theme: Theme, cursor: Option<ScreenCursor>) -> Vec<u8> {
    Picture::new(&ScreenCapture { cursor, ..capture(text, 40, 12) }, theme).png().unwrap()
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png")
}

/// Decodes a PNG file to its width and RGB pixels.
fn decode(file: &[u8]) -> (u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, pixels)
}

/// Tolerated number of different pixels; half a letter has more.
const MAX_DIFFERENT_PIXELS: usize = 2;

/// Counts the pixels that differ by more than one step of coverage, which another machine may round
/// differently.
fn different_pixels(a: &[u8], b: &[u8]) -> usize {
    let differ = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 50);
    a.chunks(3).zip(b.chunks(3)).filter(differ).count()
}

/// Compares a picture with the reviewed one, or replaces that if `BLESS` is set.
fn assert_matches_golden(name: &str, rendered: &[u8]) {
    let file = golden_path(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, rendered).unwrap();
    }
    let golden = std::fs::read(&file).unwrap_or_else(|_| panic!("no {name}: run `make bless`"));
    let ((width, golden), (rendered_width, rendered)) = (decode(&golden), decode(rendered));
    assert_eq!((width, golden.len()), (rendered_width, rendered.len()), "{name} has another size");
    let different = different_pixels(&golden, &rendered);
    assert!(
        different <= MAX_DIFFERENT_PIXELS,
        "{name} differs in {different} pixels: review it after `make bless`"
    );
}

#[test]
fn half_a_letter_exceeds_the_tolerance() {
    for (text, other) in [("o", "c"), ("E", "F"), ("m", "n"), ("q", "q\u{323}"), ("e", "é")] {
        let [one, two] = [text, other].map(|text| decode(&render(text, Theme::Dark, None)).1);
        let different = different_pixels(&one, &two);
        assert!(different > MAX_DIFFERENT_PIXELS, "{text} and {other}: {different} pixels");
    }
}

#[test]
fn attributes_match_the_golden_picture() {
    let (x, y) = (9, 2);
    for (name, theme) in [("attributes-dark", Theme::Dark), ("attributes-light", Theme::Light)] {
        let text = format!("{ATTRIBUTES}\u{1b}[44mblue to the end\u{1b}[K         \u{1b}[0m");
        let cursor = ScreenCursor { x, y, shape: CursorShape::Block };
        assert_matches_golden(name, &render(&text, theme, Some(cursor)));
    }
}

#[test]
fn colors_match_the_golden_picture() {
    for (name, theme) in [("colors-dark", Theme::Dark), ("colors-light", Theme::Light)] {
        assert_matches_golden(name, &render(&colors(), theme, None));
    }
}

#[test]
fn shapes_match_the_golden_picture() {
    let cursor = ScreenCursor { x: 30, y: 11, shape: CursorShape::Bar };
    assert_matches_golden("shapes", &render(SHAPES, Theme::Dark, Some(cursor)));
}

#[test]
fn scripts_match_the_golden_picture() {
    let cursor = ScreenCursor { x: 2, y: 0, shape: CursorShape::Block };
    assert_matches_golden("scripts", &render(SCRIPTS, Theme::Dark, Some(cursor)));
}

/// A pseudo-random generator of numbers below its argument, with a fixed seed.
fn random() -> impl FnMut(u32) -> u32 {
    let mut seed = 7_u32;
    move |end| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed % end
    }
}

/// The text of 50 rows of 200 cells.
fn full_screen(mut cell: impl FnMut() -> String) -> String {
    let rows: Vec<String> = (0..50).map(|_| (0..200).map(|_| cell()).collect()).collect();
    rows.join("\n")
}

#[test]
fn crowded_screens_stay_below_the_size_limit() {
    let mut n = random();
    let mut color = 31;
    let words = full_screen(|| {
        if n(6) == 0 {
            color = 30 + n(8) + n(2) * 60;
            return " ".into();
        }
        format!("\u{1b}[{color}m{}", char::from_u32(97 + n(26)).unwrap())
    });
    let any = |n: &mut dyn FnMut(u32) -> u32| char::from_u32(33 + n(94)).unwrap();
    let many = full_screen(|| {
        format!("\u{1b}[38;5;{};48;5;{}m{}", 16 + n(240), 16 + n(5) * 40, any(&mut n))
    });
    let rgb = |n: &mut dyn FnMut(u32) -> u32| format!("2;{};{};{}", n(256), n(256), n(256));
    let blocks = full_screen(|| format!("\u{1b}[38;{};48;{}m▀", rgb(&mut n), rgb(&mut n)));
    let pairs =
        full_screen(|| format!("\u{1b}[38;{};48;{}m{}", rgb(&mut n), rgb(&mut n), any(&mut n)));
    let wide = full_screen(|| {
        let c = char::from_u32(0x4e00 + n(20_000)).unwrap();
        format!("\u{1b}[1;3;4:3;9;58;{};38;{};48;{}m{c}", rgb(&mut n), rgb(&mut n), rgb(&mut n))
    });
    for (name, text, max_size) in [
        ("words", words, 150_000),
        ("many", many, 200_000),
        ("blocks", blocks, 60_000),
        ("pairs", pairs, 200_000),
        ("wide", wide, 200_000),
    ] {
        let file = Picture::new(&capture(&text, 200, 50), Theme::Dark).png().unwrap();
        assert!(file.len() <= max_size, "{name}: {} bytes", file.len());
        let (width, pixels) = decode(&file);
        assert_eq!((width, pixels.len()), (1600, 1600 * 800 * 3), "{name}");
    }
}
