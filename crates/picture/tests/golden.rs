//! Pictures look as they did when they were last looked at. `make bless` paints them anew.

#![expect(clippy::panic, reason = "helpers fail like tests")]

use std::path::{Path, PathBuf};

use picture::{Cursor, CursorShape, Picture, Screen, Theme};

/// Every attribute and kind of colour.
const LOOKS: &str = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2mdim\u{1b}[0m \u{1b}[3mitalic\u{1b}[0m \
    \u{1b}[1;3mboth\u{1b}[0m \u{1b}[9mstrike\u{1b}[0m \u{1b}[53mover\u{1b}[0m\n\
    \u{1b}[4mone\u{1b}[0m \u{1b}[4:2mtwo\u{1b}[0m \u{1b}[4:3mcurly\u{1b}[0m \u{1b}[4:4mdots\u{1b}[0m \
    \u{1b}[4:5mdashes\u{1b}[0m \u{1b}[4:3;58;5;196mred curl\u{1b}[0m\n\
    \u{1b}[7mreverse\u{1b}[0m [\u{1b}[8mhidden\u{1b}[0m] \u{1b}[5mblink\u{1b}[0m \
    \u{1b}[1;32;7mgreen\u{1b}[0m \u{1b}[2;31mdim red\u{1b}[0m\n";

/// Lines of every weight, blocks, braille and what is like them.
const DRAWN: &str = "┌─┬┐ ┏━┳┓ ╔═╦╗ ╒═╤╕ ╓─╥╖ ╭─┬╮ ┍━┯┑\n\
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

/// Many scripts, wide characters and accents.
const SCRIPTS: &str = "日本語テスト、漢字とかな。|\n한국어 텍스트 中文简体 繁體中文|\n\
    שלום עולם السلام عليكم สวัสดี|\nе\u{301} a\u{308} A\u{30a} E\u{301} q\u{323} x\u{336} u\u{308}\u{301} é Å ñ|\n\
    🙂🚀 ✅ ❤\u{fe0f} ⚠ ★ ✓ → ∀∃ ≤ √∞ ½ €|\nＡＢＣ ｱｲｳ 𝒜𝔅𝕏 \u{e0a0}\u{20000} Ελλην Кирил|\n\
    \u{1b}[1m太字 bold\u{1b}[0m \u{1b}[3m斜体 italic\u{1b}[0m \u{1b}[4m下線\u{1b}[0m \u{1b}[7m反転\u{1b}[0m|\n\
    a\tb\tc\t|\nABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789\nabcdefghijklmnopqrstuvwxyz Il1|O0\n\
    !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// The sixteen colours on each other, the 256 and a gradient.
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

fn screen(text: &str, columns: u32, rows: u32) -> Screen<'_> {
    let (text, fg, bg) = (text.as_bytes(), "default", "default");
    Screen { text, columns, rows, cursor: None, tabs: "", wide_emoji: true, fg, bg }
}

fn paint(text: &str, theme: Theme, cursor: Option<Cursor>) -> Vec<u8> {
    Picture::new(&Screen { cursor, ..screen(text, 40, 12) }, theme).png().unwrap()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name).with_extension("png")
}

/// The width of a picture, and its pixels as red, green and blue.
fn pixels(file: &[u8]) -> (u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, pixels)
}

/// How many pixels may look different: less than half a letter has.
const FEW: usize = 2;

/// How many pixels differ by more than a step at the edge of a letter, which another machine may
/// round otherwise.
fn different(a: &[u8], b: &[u8]) -> usize {
    let differ = |(a, b): &(&[u8], &[u8])| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 50);
    a.chunks(3).zip(b.chunks(3)).filter(differ).count()
}

/// Compares a picture with the one that was looked at, or keeps it.
fn must_look_like(name: &str, painted: &[u8]) {
    let file = golden(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, painted).unwrap();
    }
    let kept = std::fs::read(&file).unwrap_or_else(|_| panic!("no {name}: run `make bless`"));
    let ((width, kept), (painted_width, painted)) = (pixels(&kept), pixels(painted));
    assert_eq!((width, kept.len()), (painted_width, painted.len()), "{name} has another size");
    let differ = different(&kept, &painted);
    assert!(
        differ <= FEW,
        "{name} looks different in {differ} pixels: look at it after `make bless`"
    );
}

#[test]
fn half_a_letter_is_seen() {
    for (text, other) in [("o", "c"), ("E", "F"), ("m", "n"), ("q", "q\u{323}"), ("e", "é")] {
        let [one, two] = [text, other].map(|text| pixels(&paint(text, Theme::Dark, None)).1);
        let differ = different(&one, &two);
        assert!(differ > FEW, "{text} and {other} differ in {differ} pixels");
    }
}

#[test]
fn every_attribute_looks_as_it_did() {
    let (x, y) = (9, 2);
    for (name, theme) in [("looks-dark", Theme::Dark), ("looks-light", Theme::Light)] {
        let looks = format!("{LOOKS}\u{1b}[44mblue to the end\u{1b}[K         \u{1b}[0m");
        let cursor = Cursor { x, y, shape: CursorShape::Block };
        must_look_like(name, &paint(&looks, theme, Some(cursor)));
    }
}

#[test]
fn every_colour_looks_as_it_did() {
    for (name, theme) in [("colors-dark", Theme::Dark), ("colors-light", Theme::Light)] {
        must_look_like(name, &paint(&colors(), theme, None));
    }
}

#[test]
fn what_is_drawn_looks_as_it_did() {
    let cursor = Cursor { x: 30, y: 11, shape: CursorShape::Bar };
    must_look_like("drawn", &paint(DRAWN, Theme::Dark, Some(cursor)));
}

#[test]
fn every_script_looks_as_it_did() {
    let cursor = Cursor { x: 2, y: 0, shape: CursorShape::Block };
    must_look_like("scripts", &paint(SCRIPTS, Theme::Dark, Some(cursor)));
}

/// Numbers without an order, the same every time.
fn numbers() -> impl FnMut(u32) -> u32 {
    let mut seed = 7_u32;
    move |most| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed % most
    }
}

/// 50 rows of 200 cells, each as it is given.
fn crowd(mut cell: impl FnMut() -> String) -> String {
    let rows: Vec<String> = (0..50).map(|_| (0..200).map(|_| cell()).collect()).collect();
    rows.join("\n")
}

#[test]
fn no_picture_is_large_however_crowded_and_coloured() {
    let mut n = numbers();
    let mut color = 31;
    let words = crowd(|| {
        if n(6) == 0 {
            color = 30 + n(8) + n(2) * 60;
            return " ".into();
        }
        format!("\u{1b}[{color}m{}", char::from_u32(97 + n(26)).unwrap())
    });
    let any = |n: &mut dyn FnMut(u32) -> u32| char::from_u32(33 + n(94)).unwrap();
    let many =
        crowd(|| format!("\u{1b}[38;5;{};48;5;{}m{}", 16 + n(240), 16 + n(5) * 40, any(&mut n)));
    let rgb = |n: &mut dyn FnMut(u32) -> u32| format!("2;{};{};{}", n(256), n(256), n(256));
    let blocks = crowd(|| format!("\u{1b}[38;{};48;{}m▀", rgb(&mut n), rgb(&mut n)));
    let pairs = crowd(|| format!("\u{1b}[38;{};48;{}m{}", rgb(&mut n), rgb(&mut n), any(&mut n)));
    let wide = crowd(|| {
        let c = char::from_u32(0x4e00 + n(20_000)).unwrap();
        format!("\u{1b}[1;3;4:3;9;58;{};38;{};48;{}m{c}", rgb(&mut n), rgb(&mut n), rgb(&mut n))
    });
    for (name, text, most) in [
        ("words", words, 150_000),
        ("many", many, 200_000),
        ("blocks", blocks, 60_000),
        ("pairs", pairs, 200_000),
        ("wide", wide, 200_000),
    ] {
        let file = Picture::new(&screen(&text, 200, 50), Theme::Dark).png().unwrap();
        assert!(file.len() <= most, "{name}: {} bytes", file.len());
        let (width, pixels) = pixels(&file);
        assert_eq!((width, pixels.len()), (1600, 1600 * 800 * 3), "{name}");
    }
}
