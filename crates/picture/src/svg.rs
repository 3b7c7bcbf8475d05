//! A picture as an SVG document.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cells::{Cell, Style, Underline};
use super::markup::{FAMILY, color, escape, paths};
use super::palette::{Inks, Rgb};
use super::shapes::shapes;
use super::{
    BASELINE, CELL_HEIGHT, CELL_WIDTH, CursorShape, FONT_SIZE, Picture, STRIKE, UNDERLINE,
};

/// Cells of a row that are written at once.
struct Run<'a> {
    x: usize,
    y: usize,
    columns: usize,
    text: String,
    style: &'a Style,
    inks: Inks,
}

/// The picture as an SVG document.
pub(super) fn svg(picture: &Picture) -> String {
    let (width, height) = picture.pixels();
    let drawn: BTreeSet<char> =
        picture.cells().map(|(_, _, cell, _)| cell.c).filter(|c| shapes(*c).is_some()).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\" font-size=\"{FONT_SIZE}\">\n\
         <style>text{{white-space:pre;direction:ltr;unicode-bidi:bidi-override}}</style>\n<defs>"
    );
    for c in drawn {
        let shapes = shapes(c).unwrap_or_default();
        let _ = write!(svg, "<g id=\"u{:x}\">{}</g>", u32::from(c), paths(&shapes));
    }
    svg.push_str("</defs>\n");
    rect(&mut svg, 0, 0, width, height, picture.palette.bg);
    for (y, line) in picture.lines().enumerate() {
        grounds(&mut svg, &line, y * CELL_HEIGHT, picture.palette.bg);
        for run in runs(&line, y * CELL_HEIGHT) {
            write_run(&mut svg, &run);
        }
    }
    if let Some(cursor) = picture.cursor {
        let (x, y) = (cursor.column() * CELL_WIDTH, cursor.row() * CELL_HEIGHT);
        match cursor.shape {
            CursorShape::Block => {}
            CursorShape::Underline => {
                rect(&mut svg, x, y + CELL_HEIGHT - 2, CELL_WIDTH, 2, picture.palette.fg);
            }
            CursorShape::Bar => rect(&mut svg, x, y, 2, CELL_HEIGHT, picture.palette.fg),
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn rect(svg: &mut String, x: usize, y: usize, width: usize, height: usize, fill: Rgb) {
    let fill = color(fill);
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
    );
}

/// What is behind the cells of a row, where it is not the picture's ground.
fn grounds(svg: &mut String, line: &[(usize, &Cell, Inks)], y: usize, ground: Rgb) {
    for same in line.chunk_by(|(_, _, a), (_, _, b)| a.bg == b.bg) {
        if let [(x, _, inks), ..] = same
            && inks.bg != ground
        {
            let columns: usize = same.iter().map(|(_, cell, _)| usize::from(cell.width)).sum();
            rect(svg, x * CELL_WIDTH, y, columns * CELL_WIDTH, CELL_HEIGHT, inks.bg);
        }
    }
}

/// Plain letters of one style are written at once, everything else cell by cell, so that all
/// columns stay in line whatever the font.
fn runs<'a>(line: &[(usize, &'a Cell, Inks)], y: usize) -> Vec<Run<'a>> {
    let together = |a: &Cell, b: &Cell| {
        let plain = |cell: &Cell| cell.c.is_ascii() && cell.marks.is_empty();
        a.style == b.style && plain(a) && plain(b)
    };
    let same = line.chunk_by(|(_, a, inks), (_, b, next)| inks == next && together(a, b));
    let run = |cells: &[(usize, &'a Cell, Inks)]| {
        let (x, cell, inks) = cells.first()?;
        let run = Run {
            x: x * CELL_WIDTH,
            y,
            columns: cells.iter().map(|(_, cell, _)| usize::from(cell.width)).sum(),
            text: cells.iter().map(|(_, cell, _)| cell.text()).collect(),
            style: &cell.style,
            inks: *inks,
        };
        cells.iter().any(|(_, cell, _)| !cell.is_blank()).then_some(run)
    };
    same.filter_map(run).collect()
}

fn write_run(svg: &mut String, run: &Run<'_>) {
    let Run { x, y, columns, text, style, inks } = run;
    let fill = color(inks.fg);
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if shapes(c).is_some() => {
            let id = u32::from(c);
            let _ = writeln!(svg, "<use href=\"#u{id:x}\" x=\"{x}\" y=\"{y}\" fill=\"{fill}\"/>");
        }
        _ if text.trim().is_empty() => {}
        _ => {
            let indent = text.len() - text.trim_start_matches(' ').len();
            let shown = text.trim_matches(' ');
            let columns = columns - (text.len() - shown.len());
            let _ = write!(
                svg,
                "<text x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" \
                 fill=\"{fill}\"",
                x + indent * CELL_WIDTH,
                y + BASELINE,
                columns * CELL_WIDTH
            );
            if style.bold {
                svg.push_str(" font-weight=\"bold\"");
            }
            if style.italic {
                svg.push_str(" font-style=\"italic\"");
            }
            let _ = writeln!(svg, ">{}</text>", escape(shown));
        }
    }
    lines(svg, run, columns * CELL_WIDTH);
}

/// The lines under, through and over a run.
fn lines(svg: &mut String, run: &Run<'_>, width: usize) {
    let Run { x, y, style, inks, .. } = run;
    let line = y + UNDERLINE;
    let stroke = color(inks.line);
    let mut dashed = |dashes: &str| {
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {line}.5h{width}\" stroke=\"{stroke}\" stroke-dasharray=\"{dashes}\"/>"
        );
    };
    match style.underline {
        Underline::None => {}
        Underline::Single => rect(svg, *x, line, width, 1, inks.line),
        Underline::Double => {
            rect(svg, *x, line - 1, width, 1, inks.line);
            rect(svg, *x, line + 1, width, 1, inks.line);
        }
        Underline::Dotted => dashed("1 2"),
        Underline::Dashed => dashed("5 3"),
        Underline::Curly => {
            let waves = "q2 3 4 0t4 0".repeat(width / CELL_WIDTH);
            let _ =
                writeln!(svg, "<path d=\"M{x} {line}{waves}\" stroke=\"{stroke}\" fill=\"none\"/>");
        }
    }
    if style.strike {
        rect(svg, *x, y + STRIKE, width, 1, inks.fg);
    }
    if style.overline {
        rect(svg, *x, *y, width, 1, inks.fg);
    }
}
