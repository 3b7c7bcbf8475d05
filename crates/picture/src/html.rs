//! A picture as an HTML document: text that can be selected, with what is drawn laid over it.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cells::{Cell, Style, Underline};
use super::markup::{FAMILY, color, escape, paths};
use super::palette::Inks;
use super::shapes::shapes;
use super::{CELL_HEIGHT, CELL_WIDTH, Cursor, CursorShape, FONT_SIZE, Picture};

/// The picture as an HTML document that needs nothing else. Nothing in it can run or load.
pub(super) fn html(picture: &Picture) -> String {
    let mut looks: Vec<String> = Vec::new();
    let mut drawn = BTreeSet::new();
    let mut body = String::new();
    for (y, line) in picture.lines().enumerate() {
        let cursor = picture.cursor.filter(|cursor| cursor.row() == y);
        let look = |(x, cell, inks): &(usize, &Cell, Inks)| look(picture, cursor, *x, cell, *inks);
        for same in line.chunk_by(|a, b| look(a) == look(b)) {
            let css = same.first().map(look).unwrap_or_default();
            let text = contents(same, &mut drawn);
            if css.is_empty() {
                body.push_str(&text);
                continue;
            }
            let class = looks.iter().position(|known| *known == css).unwrap_or_else(|| {
                looks.push(css);
                looks.len() - 1
            });
            let _ = write!(body, "<span class=s{class}>{text}</span>");
        }
        body.push('\n');
    }
    let mut style = format!(
        "body{{margin:0;background:{bg}}}\
         pre{{margin:0;color:{fg};font:{FONT_SIZE}px/{CELL_HEIGHT}px {FAMILY};\
         direction:ltr;unicode-bidi:bidi-override;font-variant-ligatures:none}}\
         i{{display:inline-block;font-style:inherit;height:{CELL_HEIGHT}px;overflow:hidden;\
         vertical-align:top;white-space:pre}}.n{{width:1ch}}.w{{width:2ch}}\
         .d{{background:currentColor;-webkit-text-fill-color:transparent;\
         -webkit-mask-size:1ch 100%;mask-size:1ch 100%}}",
        bg = color(picture.palette.bg),
        fg = color(picture.palette.fg),
    );
    for (at, css) in looks.iter().enumerate() {
        let _ = write!(style, ".s{at}{{{css}}}");
    }
    for c in drawn {
        let image = image(c);
        let name = u32::from(c);
        let _ = write!(style, ".u{name:x}{{-webkit-mask-image:{image};mask-image:{image}}}");
    }
    format!(
        "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>Terminal</title>\n<style>{style}</style>\n</head>\n<body>\n<pre>{body}</pre>\n\
         </body>\n</html>\n"
    )
}

/// How a cell differs from plain text.
fn look(picture: &Picture, cursor: Option<Cursor>, x: usize, cell: &Cell, inks: Inks) -> String {
    let Style { bold, italic, hidden, .. } = cell.style;
    let mut css = String::new();
    if inks.fg != picture.palette.fg {
        let _ = write!(css, "color:{};", color(inks.fg));
    }
    if inks.bg != picture.palette.bg {
        let _ = write!(css, "background:{};", color(inks.bg));
    }
    if bold {
        css.push_str("font-weight:bold;");
    }
    if italic {
        css.push_str("font-style:italic;");
    }
    if !hidden {
        lines(&mut css, &cell.style, inks);
    }
    match cursor.filter(|cursor| cursor.column() == x).map(|cursor| cursor.shape) {
        Some(CursorShape::Underline) => css.push_str("box-shadow:inset 0 -2px;"),
        Some(CursorShape::Bar) => css.push_str("box-shadow:inset 2px 0;"),
        Some(CursorShape::Block) | None => {}
    }
    css
}

fn lines(css: &mut String, style: &Style, inks: Inks) {
    let under = match style.underline {
        Underline::None => None,
        Underline::Single => Some("solid"),
        Underline::Double => Some("double"),
        Underline::Curly => Some("wavy"),
        Underline::Dotted => Some("dotted"),
        Underline::Dashed => Some("dashed"),
    };
    let there = [
        (under.is_some(), "underline"),
        (style.strike, "line-through"),
        (style.overline, "overline"),
    ];
    let kinds: Vec<&str> =
        there.into_iter().filter(|(there, _)| *there).map(|(_, kind)| kind).collect();
    if kinds.is_empty() {
        return;
    }
    let shape = under.unwrap_or("solid");
    let _ = write!(css, "text-decoration:{} {shape} {};", kinds.join(" "), color(inks.line));
}

/// The text of cells. What a font might give another width has a box of its own.
fn contents(cells: &[(usize, &Cell, Inks)], drawn: &mut BTreeSet<char>) -> String {
    let mut text = String::new();
    for same in cells.chunk_by(|(_, a, _), (_, b, _)| a.c == b.c && is_drawn(a) && is_drawn(b)) {
        let Some((_, cell, _)) = same.first() else { continue };
        if is_drawn(cell) {
            drawn.insert(cell.c);
            let (name, columns) = (u32::from(cell.c), same.len());
            let all = String::from(cell.c).repeat(columns);
            let _ = write!(text, "<i class=\"d u{name:x}\" style=width:{columns}ch>{all}</i>");
            continue;
        }
        let shown = escape(&cell.text());
        match cell.c {
            // Every font for terminals has these.
            ' '..='\u{52f}' if cell.marks.is_empty() || cell.style.hidden => text.push_str(&shown),
            _ if cell.width == 2 => {
                let _ = write!(text, "<i class=w>{shown}</i>");
            }
            _ => {
                let _ = write!(text, "<i class=n>{shown}</i>");
            }
        }
    }
    text
}

fn is_drawn(cell: &Cell) -> bool {
    !cell.style.hidden && cell.width == 1 && shapes(cell.c).is_some()
}

/// A drawn character as an image in a style sheet.
fn image(c: char) -> String {
    let shapes = shapes(c).unwrap_or_default();
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {CELL_WIDTH} {CELL_HEIGHT}' \
         preserveAspectRatio='none'>{}</svg>",
        paths(&shapes)
    );
    let escaped = svg.replace('<', "%3C").replace('>', "%3E").replace('#', "%23");
    format!("url(\"data:image/svg+xml,{escaped}\")")
}
