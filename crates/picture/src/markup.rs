//! What SVG and HTML have in common.

use std::fmt::Write;

use super::palette::Rgb;
use super::shapes::Shape;

/// The fonts to look for; every system has one of them.
pub(super) const FAMILY: &str = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

/// Text that is only text, whatever is in it.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What no document may hold.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A colour as both write it.
pub(super) fn color([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Shapes as the paths of a drawing.
pub(super) fn paths(shapes: &[Shape]) -> String {
    let mut paths = String::new();
    // Those that cover all of what is behind them are one path.
    for same in shapes.chunk_by(|a, b| a.cover == b.cover) {
        paths.push_str("<path d='");
        for shape in same {
            for (at, (x, y)) in shape.points.iter().enumerate() {
                let (x, y) = ((x * 100.0).round() / 100.0, (y * 100.0).round() / 100.0);
                let _ = write!(paths, "{}{x} {y}", if at == 0 { 'M' } else { 'L' });
            }
            paths.push('Z');
        }
        paths.push('\'');
        match same.first() {
            Some(shape) if shape.cover < 1.0 => {
                let _ = write!(paths, " fill-opacity='{}'", shape.cover);
            }
            _ => {}
        }
        paths.push_str("/>");
    }
    paths
}
