//! The HTML format: selectable text, with box-drawing and similar characters painted by CSS masks.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use super::cells::{Cell, Style, Underline};
use super::markup::{FONT_FAMILY, css_color, escape, paths};
use super::palette::CellColors;
use super::shapes::shapes;
use super::{CELL_HEIGHT, CELL_WIDTH, CursorShape, FONT_SIZE, Picture, ScreenCursor};

/// The picture as an HTML document. Its content security policy allows no scripts and no loading.
pub(super) fn document(picture: &Picture) -> String {
    // CSS rules with the number of their class.
    let mut classes: HashMap<String, usize> = HashMap::new();
    let mut shape_chars = BTreeSet::new();
    let mut body = String::new();
    for (y, row) in picture.cell_rows().enumerate() {
        let cursor = picture.cursor.filter(|cursor| cursor.row() == y);
        let css_of = |(x, cell, colors): &(usize, &Cell, CellColors)| {
            cell_css(picture, cursor, *x, cell, *colors)
        };
        for same in row.chunk_by(|a, b| css_of(a) == css_of(b)) {
            let css = same.first().map(css_of).unwrap_or_default();
            let text = contents(same, &mut shape_chars);
            if css.is_empty() {
                body.push_str(&text);
                continue;
            }
            let next = classes.len();
            let class = classes.entry(css).or_insert(next);
            let _ = write!(body, "<span class=s{class}>{text}</span>");
        }
        body.push('\n');
    }
    let mut style = format!(
        "body{{margin:0;background:{bg}}}\
         pre{{margin:0;color:{fg};font:{FONT_SIZE}px/{CELL_HEIGHT}px {FONT_FAMILY};\
         direction:ltr;unicode-bidi:bidi-override;font-variant-ligatures:none}}\
         i{{display:inline-block;font-style:inherit;height:{CELL_HEIGHT}px;overflow:hidden;\
         vertical-align:top;white-space:pre}}.n{{width:1ch}}.w{{width:2ch}}\
         .d{{background:currentColor;-webkit-text-fill-color:transparent;\
         -webkit-mask-size:1ch 100%;mask-size:1ch 100%}}",
        bg = css_color(picture.palette.bg),
        fg = css_color(picture.palette.fg),
    );
    let mut classes: Vec<(String, usize)> = classes.into_iter().collect();
    classes.sort_unstable_by_key(|(_, class)| *class);
    for (css, class) in classes {
        let _ = write!(style, ".s{class}{{{css}}}");
    }
    for c in shape_chars {
        let image = shape_image(c);
        let code = u32::from(c);
        let _ = write!(style, ".u{code:x}{{-webkit-mask-image:{image};mask-image:{image}}}");
    }
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>Terminal</title>\n<style>{style}</style>\n</head>\n<body>\n<pre>{body}</pre>\n\
         </body>\n</html>\n"
    )
}

/// The CSS of a cell; empty for plain text in the default colours.
fn cell_css(
    picture: &Picture,
    cursor: Option<ScreenCursor>,
    x: usize,
    cell: &Cell,
    colors: CellColors,
) -> String {
    let Style { bold, italic, hidden, .. } = cell.style;
    let mut css = String::new();
    if colors.fg != picture.palette.fg {
        let _ = write!(css, "color:{};", css_color(colors.fg));
    }
    if colors.bg != picture.palette.bg {
        let _ = write!(css, "background:{};", css_color(colors.bg));
    }
    if bold {
        css.push_str("font-weight:bold;");
    }
    if italic {
        css.push_str("font-style:italic;");
    }
    if !hidden {
        text_decoration(&mut css, &cell.style, colors);
    }
    match cursor.filter(|cursor| cursor.column() == x).map(|cursor| cursor.shape) {
        Some(CursorShape::Underline) => css.push_str("box-shadow:inset 0 -2px;"),
        Some(CursorShape::Bar) => css.push_str("box-shadow:inset 2px 0;"),
        Some(CursorShape::Block) | None => {}
    }
    css
}

fn text_decoration(css: &mut String, style: &Style, colors: CellColors) {
    let underline = match style.underline {
        Underline::None => None,
        Underline::Single => Some("solid"),
        Underline::Double => Some("double"),
        Underline::Curly => Some("wavy"),
        Underline::Dotted => Some("dotted"),
        Underline::Dashed => Some("dashed"),
    };
    let lines = [
        (underline.is_some(), "underline"),
        (style.strikethrough, "line-through"),
        (style.overline, "overline"),
    ];
    let lines: Vec<&str> =
        lines.into_iter().filter(|(is_set, _)| *is_set).map(|(_, line)| line).collect();
    if lines.is_empty() {
        return;
    }
    let shape = underline.unwrap_or("solid");
    let color = css_color(colors.underline);
    let _ = write!(css, "text-decoration:{} {shape} {color};", lines.join(" "));
}

/// The content of cells with the same CSS. Characters to which a font might give another width are
/// in a box of fixed width.
fn contents(cells: &[(usize, &Cell, CellColors)], shape_chars: &mut BTreeSet<char>) -> String {
    let mut text = String::new();
    for same in cells.chunk_by(|(_, a, _), (_, b, _)| a.c == b.c && is_shape(a) && is_shape(b)) {
        let Some((_, cell, _)) = same.first() else { continue };
        if is_shape(cell) {
            shape_chars.insert(cell.c);
            let (code, columns) = (u32::from(cell.c), same.len());
            let all = String::from(cell.c).repeat(columns);
            let _ = write!(text, "<i class=\"d u{code:x}\" style=width:{columns}ch>{all}</i>");
            continue;
        }
        let escaped = escape(&cell.text());
        match cell.c {
            // Every monospace font has these.
            ' '..='\u{52f}' if cell.marks.is_empty() || cell.style.hidden => {
                text.push_str(&escaped);
            }
            _ if cell.width == 2 => {
                let _ = write!(text, "<i class=w>{escaped}</i>");
            }
            _ => {
                let _ = write!(text, "<i class=n>{escaped}</i>");
            }
        }
    }
    text
}

fn is_shape(cell: &Cell) -> bool {
    !cell.style.hidden && cell.width == 1 && shapes(cell.c).is_some()
}

/// The shapes of a character as a CSS image.
fn shape_image(c: char) -> String {
    let shapes = shapes(c).unwrap_or_default();
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {CELL_WIDTH} {CELL_HEIGHT}' \
         preserveAspectRatio='none'>{}</svg>",
        paths(&shapes)
    );
    let escaped = svg.replace('<', "%3C").replace('>', "%3E").replace('#', "%23");
    format!("url(\"data:image/svg+xml,{escaped}\")")
}
