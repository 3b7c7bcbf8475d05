//! The SVG format: text in runs of equal style, shapes as reusable paths.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::cells::{Cell, Style, Underline};
use super::markup::{FONT_FAMILY, css_color, escape, paths};
use super::palette::{CellColors, Rgb};
use super::shapes::shapes;
use super::{
    BASELINE, CELL_HEIGHT, CELL_WIDTH, CellRow, CursorShape, FONT_SIZE, Picture, STRIKETHROUGH,
    UNDERLINE,
};

/// Neighbouring cells of a row that become one `text` element; `x` and `y` are in pixels.
struct Run<'a> {
    x: usize,
    y: usize,
    columns: usize,
    text: String,
    style: &'a Style,
    colors: CellColors,
}

/// The picture as an SVG document.
pub(super) fn document(picture: &Picture) -> String {
    let (width, height) = picture.pixels();
    let shape_chars: BTreeSet<char> =
        picture.cells().map(|(_, _, cell, _)| cell.c).filter(|c| shapes(*c).is_some()).collect();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT_FAMILY}\" font-size=\"{FONT_SIZE}\">\n\
         <style>text{{white-space:pre;direction:ltr;unicode-bidi:bidi-override}}</style>\n<defs>"
    );
    for c in shape_chars {
        let shapes = shapes(c).unwrap_or_default();
        let _ = write!(svg, "<g id=\"u{:x}\">{}</g>", u32::from(c), paths(&shapes));
    }
    svg.push_str("</defs>\n");
    rect(&mut svg, 0, 0, width, height, picture.palette.bg);
    for (y, row) in picture.cell_rows().enumerate() {
        write_backgrounds(&mut svg, &row, y * CELL_HEIGHT, picture.palette.bg);
        for run in runs(&row, y * CELL_HEIGHT) {
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
    let fill = css_color(fill);
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>"
    );
}

/// Writes the backgrounds of a row of cells where they differ from the picture's.
fn write_backgrounds(svg: &mut String, row: &CellRow<'_>, y: usize, background: Rgb) {
    for same in row.chunk_by(|(_, _, a), (_, _, b)| a.bg == b.bg) {
        if let [(x, _, colors), ..] = same
            && colors.bg != background
        {
            let columns: usize = same.iter().map(|(_, cell, _)| usize::from(cell.width)).sum();
            rect(svg, x * CELL_WIDTH, y, columns * CELL_WIDTH, CELL_HEIGHT, colors.bg);
        }
    }
}

/// Splits a row into runs: neighbouring ASCII characters of one style, or a single other character,
/// so that columns stay aligned in any font.
fn runs<'a>(row: &CellRow<'a>, y: usize) -> Vec<Run<'a>> {
    let joins = |a: &Cell, b: &Cell| {
        let plain = |cell: &Cell| cell.c.is_ascii() && cell.marks.is_empty();
        a.style == b.style && plain(a) && plain(b)
    };
    let same = row.chunk_by(|(_, a, colors), (_, b, next)| colors == next && joins(a, b));
    let run = |cells: &[(usize, &'a Cell, CellColors)]| {
        let (x, cell, colors) = cells.first()?;
        let run = Run {
            x: x * CELL_WIDTH,
            y,
            columns: cells.iter().map(|(_, cell, _)| usize::from(cell.width)).sum(),
            text: cells.iter().map(|(_, cell, _)| cell.text()).collect(),
            style: &cell.style,
            colors: *colors,
        };
        cells.iter().any(|(_, cell, _)| !cell.is_blank()).then_some(run)
    };
    same.filter_map(run).collect()
}

fn write_run(svg: &mut String, run: &Run<'_>) {
    let Run { x, y, columns, text, style, colors } = run;
    let fill = css_color(colors.fg);
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if shapes(c).is_some() => {
            let id = u32::from(c);
            let _ = writeln!(svg, "<use href=\"#u{id:x}\" x=\"{x}\" y=\"{y}\" fill=\"{fill}\"/>");
        }
        _ if text.trim().is_empty() => {}
        _ => {
            let indent = text.len() - text.trim_start_matches(' ').len();
            let trimmed = text.trim_matches(' ');
            let columns = columns - (text.len() - trimmed.len());
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
            let _ = writeln!(svg, ">{}</text>", escape(trimmed));
        }
    }
    write_lines(svg, run, columns * CELL_WIDTH);
}

/// Writes the lines under, through and over a run.
fn write_lines(svg: &mut String, run: &Run<'_>, width: usize) {
    let Run { x, y, style, colors, .. } = run;
    let line = y + UNDERLINE;
    let stroke = css_color(colors.underline);
    let mut dashed = |dashes: &str| {
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {line}.5h{width}\" stroke=\"{stroke}\" stroke-dasharray=\"{dashes}\"/>"
        );
    };
    match style.underline {
        Underline::None => {}
        Underline::Single => rect(svg, *x, line, width, 1, colors.underline),
        Underline::Double => {
            rect(svg, *x, line - 1, width, 1, colors.underline);
            rect(svg, *x, line + 1, width, 1, colors.underline);
        }
        Underline::Dotted => dashed("1 2"),
        Underline::Dashed => dashed("5 3"),
        Underline::Curly => {
            let waves = "q2 3 4 0t4 0".repeat(width / CELL_WIDTH);
            let _ =
                writeln!(svg, "<path d=\"M{x} {line}{waves}\" stroke=\"{stroke}\" fill=\"none\"/>");
        }
    }
    if style.strikethrough {
        rect(svg, *x, y + STRIKETHROUGH, width, 1, colors.fg);
    }
    if style.overline {
        rect(svg, *x, *y, width, 1, colors.fg);
    }
}
