//! Polygons for box-drawing, block, braille, sextant and Powerline characters.
//!
//! They are not taken from a font, so that lines and blocks of neighbouring cells meet without gaps.

mod lines;

use super::{CELL_HEIGHT, CELL_WIDTH};

const WIDTH: f32 = CELL_WIDTH as f32;
const HEIGHT: f32 = CELL_HEIGHT as f32;

/// A point in a cell, in pixels from its top left corner.
pub(super) type Point = (f32, f32);

/// A filled polygon.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) points: Vec<Point>,
    /// Opacity, from 0 to 1.
    pub(super) opacity: f32,
}

impl Shape {
    fn new(points: Vec<Point>) -> Self {
        Self { points, opacity: 1.0 }
    }

    fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self::new(vec![(left, top), (right, top), (right, bottom), (left, bottom)])
    }

    fn circle(x: f32, y: f32, radius: f32) -> Self {
        const CORNERS: u8 = 12;
        let corner = |n: u8| {
            let (sin, cos) = (f32::from(n) / f32::from(CORNERS) * std::f32::consts::TAU).sin_cos();
            (x + radius * cos, y + radius * sin)
        };
        Self::new((0..CORNERS).map(corner).collect())
    }
}

/// The shapes of a character; `None` if a font has to render it.
pub(super) fn shapes(c: char) -> Option<Vec<Shape>> {
    let shapes = match c {
        '\u{2500}'..='\u{257f}' => lines::shapes(c),
        '\u{2580}'..='\u{259f}' => block(u32::from(c) - 0x2580),
        '\u{2800}'..='\u{28ff}' => braille(u32::from(c) - 0x2800),
        '\u{e0b0}'..='\u{e0b7}' => powerline(c),
        '\u{1fb00}'..='\u{1fb3b}' => sextant(u32::from(c) - 0x1fb00),
        _ => return None,
    };
    Some(shapes)
}

/// A rectangle in eighths of the cell's width and height, rounded to whole pixels.
fn eighths(left: u8, top: u8, right: u8, bottom: u8) -> Shape {
    let part = |eighths: u8, whole: f32| (f32::from(eighths) * whole / 8.0).round();
    Shape::rect(part(left, WIDTH), part(top, HEIGHT), part(right, WIDTH), part(bottom, HEIGHT))
}

/// The block elements, from U+2580 on.
fn block(n: u32) -> Vec<Shape> {
    // Filled quadrants: upper left, upper right, lower left, lower right.
    const QUADRANTS: [[bool; 4]; 10] = {
        const X: bool = true;
        const O: bool = false;
        [
            [O, O, X, O],
            [O, O, O, X],
            [X, O, O, O],
            [X, O, X, X],
            [X, O, O, X],
            [X, X, X, O],
            [X, X, O, X],
            [O, X, O, O],
            [O, X, X, O],
            [O, X, X, X],
        ]
    };
    let eighth = |n: u32| u8::try_from(n).unwrap_or(8).min(8);
    match n {
        0 => vec![eighths(0, 0, 8, 4)],
        1..=8 => vec![eighths(0, 8 - eighth(n), 8, 8)],
        9..=15 => vec![eighths(0, 0, eighth(16 - n), 8)],
        16 => vec![eighths(4, 0, 8, 8)],
        17..=19 => vec![Shape { opacity: (n - 16) as f32 / 4.0, ..eighths(0, 0, 8, 8) }],
        20 => vec![eighths(0, 0, 8, 1)],
        21 => vec![eighths(7, 0, 8, 8)],
        _ => {
            let quadrants = QUADRANTS.get(n as usize - 22).unwrap_or(&[false; 4]);
            let corners = [(0, 0), (4, 0), (0, 4), (4, 4)];
            let filled = corners.iter().zip(quadrants).filter(|(_, filled)| **filled);
            filled.map(|((x, y), _)| eighths(*x, *y, x + 4, y + 4)).collect()
        }
    }
}

/// A braille pattern: a dot for each bit.
fn braille(bits: u32) -> Vec<Shape> {
    const LEFT: f32 = 2.0;
    const RIGHT: f32 = 6.0;
    const ROWS: [f32; 4] = [2.0, 6.0, 10.0, 14.0];
    let [a, b, c, d] = ROWS;
    let dots = [
        (LEFT, a),
        (LEFT, b),
        (LEFT, c),
        (RIGHT, a),
        (RIGHT, b),
        (RIGHT, c),
        (LEFT, d),
        (RIGHT, d),
    ];
    let raised = dots.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
    raised.map(|(_, (x, y))| Shape::circle(*x, *y, 1.5)).collect()
}

/// A sextant: two columns of three blocks. The left and right half are block elements, so Unicode
/// leaves them out here.
fn sextant(n: u32) -> Vec<Shape> {
    let bits = n + 1 + u32::from(n >= 20) + u32::from(n >= 40);
    let split = (WIDTH / 2.0).round();
    let third = HEIGHT / 3.0;
    let sixth = |bit: u8| {
        let (left, right) = if bit.is_multiple_of(2) { (0.0, split) } else { (split, WIDTH) };
        let top = f32::from(bit / 2) * third;
        Shape::rect(left, top.round(), right, (top + third).round())
    };
    (0..6).filter(|bit| bits >> bit & 1 == 1).map(sixth).collect()
}

/// A Powerline separator: an arrow or a half circle, filled or as a line.
fn powerline(c: char) -> Vec<Shape> {
    const THICKNESS: f32 = 1.3;
    let middle = HEIGHT / 2.0;
    let points = match c {
        '\u{e0b0}' | '\u{e0b2}' => vec![(0.0, 0.0), (WIDTH, middle), (0.0, HEIGHT)],
        '\u{e0b1}' | '\u{e0b3}' => vec![
            (0.0, 0.0),
            (THICKNESS, 0.0),
            (WIDTH, middle),
            (THICKNESS, HEIGHT),
            (0.0, HEIGHT),
            (WIDTH - THICKNESS, middle),
        ],
        '\u{e0b4}' | '\u{e0b6}' => half_ellipse(WIDTH, middle),
        _ => {
            let mut points = half_ellipse(WIDTH, middle);
            let mut inner = half_ellipse(WIDTH - THICKNESS, middle);
            inner.reverse();
            points.extend(inner);
            points
        }
    };
    let points_left = u32::from(c) % 4 >= 2;
    let mirrored = |(x, y): Point| if points_left { (WIDTH - x, y) } else { (x, y) };
    vec![Shape::new(points.into_iter().map(mirrored).collect())]
}

/// The right half of an ellipse, from its top to its bottom.
fn half_ellipse(width: f32, height: f32) -> Vec<Point> {
    const STEPS: u8 = 24;
    let at = |n: u8| {
        let (sin, cos) = (f32::from(n) / f32::from(STEPS) * std::f32::consts::PI).sin_cos();
        (width * sin.max(0.0), height - height * cos)
    };
    (0..=STEPS).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_chars() -> impl Iterator<Item = char> {
        [0x2500..=0x259f, 0x2801..=0x28ff, 0xe0b0..=0xe0b7, 0x1fb00..=0x1fb3b]
            .into_iter()
            .flatten()
            .filter_map(char::from_u32)
    }

    fn area(shapes: &[Shape]) -> f32 {
        let of = |shape: &Shape| {
            let next = shape.points.iter().cycle().skip(1);
            let twice: f32 =
                shape.points.iter().zip(next).map(|((x, y), (s, t))| x * t - s * y).sum();
            twice.abs() / 2.0 * shape.opacity
        };
        shapes.iter().map(of).sum()
    }

    #[test]
    fn shapes_stay_in_their_cell() {
        for c in shape_chars() {
            let shapes = shapes(c).unwrap();
            assert!(area(&shapes) > 1.0, "{c}");
            for (x, y) in shapes.iter().flat_map(|shape| &shape.points) {
                assert!((0.0..=WIDTH).contains(x) && (0.0..=HEIGHT).contains(y), "{c} {x},{y}");
            }
        }
        assert_eq!(shapes('A'), None);
    }

    #[test]
    fn blocks_fill_their_share_of_the_cell() {
        let cell = WIDTH * HEIGHT;
        for (c, part) in [
            ('█', 1.0),
            ('▀', 0.5),
            ('▄', 0.5),
            ('▌', 0.5),
            ('▐', 0.5),
            ('░', 0.25),
            ('▒', 0.5),
            ('▓', 0.75),
            ('▂', 0.25),
            ('▎', 0.25),
            ('▙', 0.75),
            ('▚', 0.5),
            ('\u{1fb00}', 1.0 / 6.0),
            ('\u{1fb3b}', 5.0 / 6.0),
        ] {
            let share = area(&shapes(c).unwrap()) / cell;
            assert!((share - part).abs() < 0.1, "{c}: {share}");
        }
    }
}
