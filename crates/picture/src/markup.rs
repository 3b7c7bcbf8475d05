//! Helpers that SVG and HTML share: escaping, colours, fonts and paths.

use std::fmt::Write;

use super::palette::Rgb;
use super::shapes::Shape;

/// CSS font family; every desktop system has one of these fonts.
pub(super) const FONT_FAMILY: &str =
    "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

/// Escapes text for element content and quoted attributes, and drops control characters.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML forbids these two.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// A colour in CSS notation.
pub(super) fn css_color([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Shapes as SVG `path` elements.
pub(super) fn paths(shapes: &[Shape]) -> String {
    let mut paths = String::new();
    for same in shapes.chunk_by(|a, b| a.opacity == b.opacity) {
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
            Some(shape) if shape.opacity < 1.0 => {
                let _ = write!(paths, " fill-opacity='{}'", shape.opacity);
            }
            _ => {}
        }
        paths.push_str("/>");
    }
    paths
}
