//! Box-drawing characters: lines from the middle of a cell to its edges.

use super::{HEIGHT, Point, Shape, WIDTH};
use crate::{CELL_HEIGHT, CELL_WIDTH};

/// The weights of the four arms of each character from U+2500 on, as hexadecimal digits: left,
/// right, up, down. 1 is light, 2 heavy, 3 double. Dashes, arcs and diagonals have 0.
const ARMS: [u16; 128] = [
    0x1100, 0x2200, 0x0011, 0x0022, 0, 0, 0, 0, 0, 0, 0, 0, 0x0101, 0x0201, 0x0102, 0x0202, //
    0x1001, 0x2001, 0x1002, 0x2002, 0x0110, 0x0210, 0x0120, 0x0220, //
    0x1010, 0x2010, 0x1020, 0x2020, 0x0111, 0x0211, 0x0121, 0x0112, //
    0x0122, 0x0221, 0x0212, 0x0222, 0x1011, 0x2011, 0x1021, 0x1012, //
    0x1022, 0x2021, 0x2012, 0x2022, 0x1101, 0x2101, 0x1201, 0x2201, //
    0x1102, 0x2102, 0x1202, 0x2202, 0x1110, 0x2110, 0x1210, 0x2210, //
    0x1120, 0x2120, 0x1220, 0x2220, 0x1111, 0x2111, 0x1211, 0x2211, //
    0x1121, 0x1112, 0x1122, 0x2121, 0x1221, 0x2112, 0x1212, 0x2221, //
    0x2212, 0x2122, 0x1222, 0x2222, 0, 0, 0, 0, //
    0x3300, 0x0033, 0x0301, 0x0103, 0x0303, 0x3001, 0x1003, 0x3003, //
    0x0310, 0x0130, 0x0330, 0x3010, 0x1030, 0x3030, 0x0311, 0x0133, //
    0x0333, 0x3011, 0x1033, 0x3033, 0x3301, 0x1103, 0x3303, 0x3310, //
    0x1130, 0x3330, 0x3311, 0x1133, 0x3333, 0, 0, 0, //
    0, 0, 0, 0, 0x1000, 0x0010, 0x0100, 0x0001, //
    0x2000, 0x0020, 0x0200, 0x0002, 0x1200, 0x0012, 0x2100, 0x0021,
];

const DOUBLE: u16 = 3;

/// Column and row of the pixel in the middle of a cell.
const CENTER: (usize, usize) = (CELL_WIDTH / 2, CELL_HEIGHT / 2 - 1);

pub(super) fn shapes(c: char) -> Vec<Shape> {
    let n = u32::from(c) - 0x2500;
    match n {
        0x04..=0x0b => dashes(n, if n < 0x08 { 3 } else { 4 }),
        0x4c..=0x4f => dashes(n, 2),
        0x6d..=0x70 => vec![arc(n)],
        0x71 => vec![diagonal(false)],
        0x72 => vec![diagonal(true)],
        0x73 => vec![diagonal(false), diagonal(true)],
        _ => {
            let arms = ARMS.get(n as usize).copied().unwrap_or(0);
            let arm = |digit: u16| arms >> (4 * digit) & 15;
            cross([arm(3), arm(2)], [arm(1), arm(0)])
        }
    }
}

/// Pixels of a line on each side of its middle pixel, by its weight.
fn half_thickness(weight: u16) -> usize {
    usize::from(weight > 1)
}

/// Start and end of the two arms along one axis, given the arms across.
///
/// The arms meet in the middle. An arm that ends at a line across extends to its far side, so that
/// corners are closed; a single arm that ends at a continuous double line stops at its near side.
fn spans(along: [u16; 2], across: [u16; 2], center: usize, end: usize) -> [(usize, usize); 2] {
    let [first, second] = along;
    let side = half_thickness(across[0].max(across[1]));
    let ends_at_double = across == [DOUBLE; 2] && (first == 0 || second == 0);
    if ends_at_double && first != DOUBLE && second != DOUBLE {
        return [(0, center), (center + 1, end)];
    }
    [(0, center + side + 1), (center - side, end)]
}

/// A character of up to four straight arms; the weight of a missing one is 0.
fn cross(horizontal: [u16; 2], vertical: [u16; 2]) -> Vec<Shape> {
    let mut pixels = CellPixels([[false; CELL_WIDTH]; CELL_HEIGHT]);
    let (x, y) = CENTER;
    let across = spans(horizontal, vertical, x, CELL_WIDTH);
    let down = spans(vertical, horizontal, y, CELL_HEIGHT);
    let mut bands = Vec::new();
    for (weight, span) in horizontal.into_iter().zip(across) {
        bands.push((
            weight,
            span,
            (y - half_thickness(weight), y + half_thickness(weight) + 1),
            true,
        ));
    }
    for (weight, span) in vertical.into_iter().zip(down) {
        bands.push((
            weight,
            (x - half_thickness(weight), x + half_thickness(weight) + 1),
            span,
            false,
        ));
    }
    bands.retain(|(weight, ..)| *weight > 0);
    for (weight, columns, rows, _) in &bands {
        if *weight == DOUBLE {
            pixels.fill(*columns, *rows, true);
        }
    }
    // Cut the gap between the two lines of each double arm; where arms meet, so do their gaps.
    for (weight, columns, rows, is_horizontal) in &bands {
        if *weight == DOUBLE && *is_horizontal {
            pixels.fill(inner(*columns, vertical, CELL_WIDTH), (y, y + 1), false);
        } else if *weight == DOUBLE {
            pixels.fill((x, x + 1), inner(*rows, horizontal, CELL_HEIGHT), false);
        }
    }
    for (weight, columns, rows, _) in &bands {
        if *weight != DOUBLE {
            pixels.fill(*columns, *rows, true);
        }
    }
    pixels.rects()
}

/// The gap in a double arm: its whole length except the line that closes it in the middle.
fn inner(span: (usize, usize), across: [u16; 2], end: usize) -> (usize, usize) {
    let closed = usize::from(across != [0; 2]);
    match span {
        (0, to) if to == end => span,
        (0, to) => (0, to - closed),
        (from, to) => (from + closed, to),
    }
}

/// A dashed line.
fn dashes(n: u32, count: u8) -> Vec<Shape> {
    let heavy = if n % 2 == 1 { 1.0 } else { 0.0 };
    let is_vertical = n % 4 >= 2;
    let (x, y) = (CENTER.0 as f32, CENTER.1 as f32);
    let length = if is_vertical { HEIGHT } else { WIDTH };
    let step = length / f32::from(count);
    let dash = |n: u8| {
        let from = f32::from(n) * step + step * 0.15;
        let to = from + step * 0.7;
        if is_vertical {
            Shape::rect(x - heavy, from, x + 1.0 + heavy, to)
        } else {
            Shape::rect(from, y - heavy, to, y + 1.0 + heavy)
        }
    };
    (0..count).map(dash).collect()
}

/// A rounded corner.
fn arc(n: u32) -> Shape {
    const STEPS: u8 = 8;
    let (x, y) = (CENTER.0 as f32, CENTER.1 as f32);
    let (left, up) = (matches!(n, 0x6e | 0x6f), matches!(n, 0x6f | 0x70));
    // Computed for the corner with arms to the right and down, and mirrored for the others.
    let radius = WIDTH - x - 0.5;
    let edge = |radius: f32, n: u8| -> Point {
        let (sin, cos) = (f32::from(n) / f32::from(STEPS) * std::f32::consts::FRAC_PI_2).sin_cos();
        (WIDTH - radius * sin, y + WIDTH - x - radius * cos)
    };
    let mut points: Vec<Point> = (0..=STEPS).map(|n| edge(radius + 0.5, n)).collect();
    points.extend([(x, HEIGHT), (x + 1.0, HEIGHT)]);
    points.extend((0..=STEPS).rev().map(|n| edge(radius - 0.5, n)));
    let bottom = 2.0 * y + 1.0;
    let mirrored = |(x, y): Point| {
        let x = if left { WIDTH - x } else { x };
        // The middle pixel is above the centre: an arm up is shorter than an arm down.
        (x, if up { (bottom - y).max(0.0) } else { y })
    };
    Shape::new(points.into_iter().map(mirrored).collect())
}

/// A line from corner to corner, which falls or rises from left to right.
fn diagonal(falls: bool) -> Shape {
    const DOWN: f32 = 1.3;
    const ACROSS: f32 = DOWN * WIDTH / HEIGHT;
    let points = [
        (WIDTH, 0.0),
        (WIDTH, DOWN),
        (ACROSS, HEIGHT),
        (0.0, HEIGHT),
        (0.0, HEIGHT - DOWN),
        (WIDTH - ACROSS, 0.0),
    ];
    let mirrored = |(x, y): Point| if falls { (WIDTH - x, y) } else { (x, y) };
    Shape::new(points.into_iter().map(mirrored).collect())
}

/// The pixels of a cell.
struct CellPixels([[bool; CELL_WIDTH]; CELL_HEIGHT]);

impl CellPixels {
    fn fill(&mut self, columns: (usize, usize), rows: (usize, usize), on: bool) {
        for row in self.0.iter_mut().take(rows.1).skip(rows.0) {
            for pixel in row.iter_mut().take(columns.1).skip(columns.0) {
                *pixel = on;
            }
        }
    }

    /// The pixels as rectangles that do not overlap.
    fn rects(&self) -> Vec<Shape> {
        let mut rects = Vec::new();
        let mut top = 0;
        for same in self.0.chunk_by(|a, b| a == b) {
            let bottom = top + same.len();
            let mut left = 0;
            for run in same.first().into_iter().flat_map(|row| row.chunk_by(|a, b| a == b)) {
                let right = left + run.len();
                if run.first() == Some(&true) {
                    rects.push(Shape::rect(left as f32, top as f32, right as f32, bottom as f32));
                }
                left = right;
            }
            top = bottom;
        }
        rects
    }
}
