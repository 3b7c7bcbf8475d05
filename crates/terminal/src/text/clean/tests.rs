//! Tests of cleaning: tables, all of Unicode, and random text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::Regex;

use super::*;

#[test]
fn escape_sequences_are_removed() {
    let table = [
        ("a\u{1b}[1;31mred\u{1b}[0mb", "aredb"),
        ("a\u{1b}[?25l\u{1b}[>4;1m\u{1b}[1 qb", "ab"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}]52;c;c2VjcmV0\u{7}x", "x"),
        ("\u{1b}P1$r0m\u{1b}\\x\u{1b}_apc\u{1b}\\y\u{1b}^pm\u{1b}\\z\u{1b}Xsos\u{1b}\\", "xyz"),
        ("\u{1b}ktitle\u{1b}\\x", "x"),
        ("\u{1b}]0;a\u{18}x\u{1b}]0;a\u{1a}y\u{1b}]0;a\u{9c}z", "xyz"),
        ("\u{1b}]0;a\u{1b}[1mx", "x"),
        ("\u{1b}(Bx\u{1b}=y\u{1b}$(Cz\u{1b}#8\u{1b}%G", "xyz"),
        ("a\u{1b}[", "a"),
        ("a\u{1b}", "a"),
        ("a\u{1b}[12é", "aé"),
        ("a\u{1b}é", "aé"),
        ("a\u{1b}(é", "aé"),
        ("a\u{1b}[1\u{1b}[2mb", "ab"),
        ("\u{9b}31mx\u{9d}0;title\u{9c}y\u{90}q\u{9c}z\u{85}\u{80}", "xyz"),
        ("\u{7f}\u{8}\r\u{7}\u{0}x", "x"),
        ("one\n\ttwo", "one\n\ttwo"),
    ];
    for (input, expected) in table {
        assert_eq!(clean(input, false), expected, "{input:?}");
    }
}

#[test]
fn unterminated_string_hides_no_text() {
    assert_eq!(clean("a\u{1b}]0;b\nc\u{7}d", false), "a0;b\ncd");
    assert_eq!(clean("a\u{1b}Pnever ends", false), "anever ends");
    assert_eq!(clean("a\u{9f}never ends", false), "anever ends");
}

#[test]
fn only_sgr_sequences_stay_with_colors() {
    assert_eq!(
        clean("\u{1b}[38;5;9mx\u{1b}[2J\u{1b}[4:3my\u{1b}[0m\u{9b}1m\u{1b}[>4m", true),
        "\u{1b}[38;5;9mx\u{1b}[4:3my\u{1b}[0m"
    );
}

#[test]
fn hidden_characters_are_removed() {
    assert_eq!(
        clean("pay\u{202e}load \u{200b}a\u{e0041}b\u{feff}\u{2066}\u{2028}", false),
        "payload ab"
    );
    assert_eq!(clean("i\u{fe0f}\u{200d}", false), "i");
}

#[test]
fn series_of_joiners_or_selectors_is_removed() {
    let (zwj, zwnj) = ('\u{200d}', '\u{200c}');
    assert_eq!(clean(&format!("é{zwj}{zwnj}{zwj}{zwnj}x"), false), format!("é{zwj}x"));
    assert_eq!(clean("🙂\u{fe0f}\u{fe0e}\u{fe0f}\u{fe05}\u{e0150}", false), "🙂\u{fe0f}");
    assert_eq!(clean(&format!("❤\u{fe0f}{zwj}{zwj}\u{fe0f}🔥"), false), "❤\u{fe0f}\u{200d}🔥");
}

#[test]
fn emoji_prompts_and_joined_scripts_stay_whole() {
    for text in [
        "👨\u{200d}👩\u{200d}👧",
        "❤\u{fe0f}",
        "❤\u{fe0f}\u{200d}🔥",
        "می\u{200c}خواهم",
        "क्\u{200d}ष",
        "漢字🙂é e\u{301} \u{a0}",
        "\u{e0b0}\u{e0b2}\u{f0001} ⣿⠀─│",
    ] {
        assert_eq!(clean(text, false), text);
        assert_eq!(inline(text), text);
    }
}

/// Compares every character with the properties that Unicode assigns to it.
#[test]
fn ignorable_characters_of_unicode_are_removed() {
    let ignorable =
        Regex::new(r"^[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]$")
            .unwrap();
    let mut buffer = [0; 4];
    for c in '\0'..=char::MAX {
        let hidden = ignorable.is_match(c.encode_utf8(&mut buffer));
        let needed = is_style_selector(c) || matches!(c, JOINER | NON_JOINER | '\n' | '\t');
        let removed = !is_kept(c, Some('é'));
        assert_eq!(removed, (hidden && !needed) || ('\u{fff9}'..='\u{fffb}').contains(&c), "{c:?}");
    }
}

#[test]
fn inline_text_stays_on_one_line() {
    assert_eq!(inline("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    let row = format!("{} · own · {}", inline("dir\u{1b}]0;"), inline("x\u{7}y\u{202e}"));
    assert_eq!(row, "dir0; · own · xy");
}

/// Whether cleaning would keep every character of a text.
fn is_fully_clean(text: &str) -> bool {
    let mut previous = None;
    text.chars().all(|c| {
        let kept = is_kept(c, previous);
        previous = Some(c);
        kept
    })
}

/// Fragments of hostile text, and plain text.
fn piece() -> impl Strategy<Value = String> {
    let hostile = select(vec![
        "\u{1b}",
        "\u{1b}[",
        "\u{1b}]52;c;",
        "\u{1b}P",
        "\u{1b}_",
        "\u{1b}\\",
        "\u{1b}(",
        "\u{7}",
        "\u{18}",
        "\u{9b}",
        "\u{9d}",
        "\u{9c}",
        "1;2",
        "31m",
        "\n",
        "\r",
        "\u{202e}",
        "\u{200b}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{e0101}",
        "\u{ffff}",
        "é",
        "👩",
        "x",
    ]);
    prop_oneof![hostile.prop_map(str::to_owned), ".{0,3}", any::<char>().prop_map(String::from)]
}

proptest! {
    #[test]
    fn any_fragments_are_cleaned(pieces in vec(piece(), 0..40)) {
        let text = pieces.concat();
        let cleaned = clean(&text, false);
        prop_assert!(is_fully_clean(&cleaned), "{text:?} → {cleaned:?}");
        prop_assert_eq!(clean(&cleaned, false), cleaned.clone());
        let row = inline(&text);
        prop_assert!(is_fully_clean(&row) && !row.contains(['\n', '\t']), "{:?} → {:?}", text, row);
    }

    #[test]
    fn only_sgr_sequences_are_left_with_colors(pieces in vec(piece(), 0..40)) {
        let text = pieces.concat();
        let colored = clean(&text, true);
        let colors = Regex::new("\u{1b}\\[[0-9;:]*m").unwrap();
        let plain = colors.replace_all(&colored, "");
        prop_assert!(!plain.contains('\u{1b}'), "{text:?} → {colored:?}");
        prop_assert_eq!(clean(&colored, true), colored.clone());
        prop_assert!(is_fully_clean(&clean(&colored, false)));
    }

    #[test]
    fn any_bytes_are_cleaned(bytes in vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(is_fully_clean(&clean(&text, false)));
    }

    #[test]
    fn visible_text_is_unchanged(text in r"[\n\t -~¡-¬®-ˊ一-鿿\u{e0a0}-\u{e0d4}🌀-🙏]{0,80}") {
        prop_assert_eq!(clean(&text, false), text);
    }
}
