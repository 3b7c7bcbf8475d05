//! The colour table of a PNG: up to 256 colours that represent all colours of a picture.
//!
//! Indexed files are several times smaller than RGB ones. If a picture has more colours than the
//! table may hold, median cut chooses the representatives.

use super::Picture;
use super::font::FULL_COVERAGE;
use super::palette::{CellColors, Rgb, mix};

/// Index of a colour in the table.
pub(super) type ColorIndex = u8;

/// Number of colours that a [`ColorIndex`] can name.
const MAX_COLORS: usize = 256;

/// Number of buckets that colours are sorted into for median cut: four bits per channel.
const BUCKETS: usize = 1 << 12;

/// The colours of a picture's cells, each with the number of cells that have it.
pub(super) struct ColorCounts {
    colors: Vec<(Rgb, usize)>,
    /// Background and text colour of cells with text; empty if `colors` fills the table already.
    pairs: Vec<((Rgb, Rgb), usize)>,
}

impl ColorCounts {
    pub(super) fn new(picture: &Picture) -> Self {
        let mut colors = vec![to_number(picture.palette.fg), to_number(picture.palette.bg)];
        let mut pairs = Vec::new();
        for (_, _, cell, CellColors { fg, bg, underline }) in picture.cells() {
            colors.push(to_number(bg));
            if !cell.is_blank() {
                colors.push(to_number(fg));
                colors.extend((underline != fg).then_some(to_number(underline)));
                pairs.push((to_number(bg), to_number(fg)));
            }
        }
        let colors = count_distinct(colors).into_iter();
        let colors: Vec<_> = colors.map(|(color, count)| (to_rgb(color), count)).collect();
        if colors.len() >= MAX_COLORS {
            pairs.clear();
        }
        let pairs = count_distinct(pairs).into_iter();
        let pairs = pairs.map(|((bg, fg), count)| ((to_rgb(bg), to_rgb(fg)), count)).collect();
        Self { colors, pairs }
    }

    /// The blends of text and background at the edges of letters, most frequent first.
    fn edge_colors(&self) -> Vec<Rgb> {
        let blends = |((bg, fg), count): &((Rgb, Rgb), usize)| {
            let (bg, fg, count) = (*bg, *fg, *count);
            let share = |coverage: u8| f32::from(coverage) / f32::from(FULL_COVERAGE);
            (1..FULL_COVERAGE).map(move |coverage| (mix(bg, fg, share(coverage)), count))
        };
        let mut blended: Vec<(Rgb, usize)> = self.pairs.iter().flat_map(blends).collect();
        blended.sort_unstable_by_key(|(color, count)| (std::cmp::Reverse(*count), *color));
        let mut distinct: Vec<Rgb> = Vec::new();
        for (color, _) in blended {
            if distinct.len() < MAX_COLORS && !distinct.contains(&color) {
                distinct.push(color);
            }
        }
        distinct
    }
}

/// The colours of a file, and the look-up of an index for any colour.
pub(super) struct ColorTable {
    colors: Vec<Rgb>,
    /// Colours of the table as numbers, sorted, with their indices.
    exact: Vec<(u32, ColorIndex)>,
    /// Indices for colours that are not in the table, by bucket. Empty if all colours are.
    nearest: Vec<ColorIndex>,
    /// Cache of [`Self::blend`] by coverage, colour below and colour above.
    blends: Vec<Option<ColorIndex>>,
    /// Number of steps between background and text colour at the edges of letters.
    steps: u8,
    /// Whether the table holds only the theme's background and text colour.
    two: bool,
}

impl ColorTable {
    /// A table of at most `max` colours: those of the cells and, if there is room, those at the
    /// edges of letters.
    pub(super) fn new(counts: &ColorCounts, max: usize, steps: u8) -> Self {
        let mut colors: Vec<Rgb> = counts.colors.iter().map(|(color, _)| *color).collect();
        let mut nearest = Vec::new();
        if colors.len() > max {
            (colors, nearest) = median_cut(&counts.colors, max);
        } else if steps > 1 {
            let edges = counts.edge_colors().into_iter();
            let new: Vec<Rgb> = edges.filter(|color| !colors.contains(color)).collect();
            colors.extend(new);
            colors.truncate(max);
        }
        let exact = sorted_with_indices(&colors);
        let blends = vec![None; MAX_COLORS * MAX_COLORS * usize::from(FULL_COVERAGE)];
        Self { colors, exact, nearest, blends, steps, two: false }
    }

    /// The theme's background and text colour. No other table gives so small a file.
    pub(super) fn two(picture: &Picture) -> Self {
        let colors = vec![picture.palette.bg, picture.palette.fg];
        let exact = sorted_with_indices(&colors);
        Self { colors, exact, nearest: Vec::new(), blends: Vec::new(), steps: 1, two: true }
    }

    pub(super) fn colors(&self) -> &[Rgb] {
        &self.colors
    }

    /// The index of a colour, or of the one that represents it.
    pub(super) fn index(&self, color: Rgb) -> ColorIndex {
        match self.exact.binary_search_by_key(&to_number(color), |(color, _)| *color) {
            Ok(at) => self.exact.get(at).map_or(0, |(_, index)| *index),
            Err(_) => self.nearest.get(bucket(color)).copied().unwrap_or(0),
        }
    }

    /// The indices of a cell's text and underline. With `distinct`, text gets another index than its
    /// background even where one index represents both colours, so that letters stay visible.
    pub(super) fn text_indices(&self, cell: CellColors, distinct: bool) -> [ColorIndex; 2] {
        let bg = self.index(cell.bg);
        if self.two {
            return [u8::from(bg == 0); 2];
        }
        let [fg, underline] = [cell.fg, cell.underline].map(|color| self.index(color));
        if distinct && fg == bg && cell.fg != cell.bg {
            let fg = nearest_index(&self.colors, cell.fg, Some(bg));
            return [fg, if cell.underline == cell.fg { fg } else { underline }];
        }
        [fg, underline]
    }

    /// The index of a pixel whose colour is covered partly by another, up to [`FULL_COVERAGE`].
    pub(super) fn blend(
        &mut self,
        below: ColorIndex,
        above: ColorIndex,
        coverage: u8,
    ) -> ColorIndex {
        let step = (2 * coverage * self.steps + FULL_COVERAGE) / (2 * FULL_COVERAGE);
        if step == 0 || step == self.steps {
            return if step == 0 { below } else { above };
        }
        let row = usize::from(coverage) * MAX_COLORS + usize::from(below);
        let at = row * MAX_COLORS + usize::from(above);
        if let Some(index) = self.blends.get(at).copied().flatten() {
            return index;
        }
        let color = |index| self.colors.get(usize::from(index)).copied().unwrap_or_default();
        let blended = mix(color(below), color(above), f32::from(step) / f32::from(self.steps));
        let index = nearest_index(&self.colors, blended, None);
        if let Some(blend) = self.blends.get_mut(at) {
            *blend = Some(index);
        }
        index
    }
}

/// The index of the colour with the least distance to another.
fn nearest_index(colors: &[Rgb], color: Rgb, except: Option<ColorIndex>) -> ColorIndex {
    let mut best = (u32::MAX, 0);
    for (candidate, index) in colors.iter().zip(0..=ColorIndex::MAX) {
        let distance = distance(*candidate, color);
        if distance < best.0 && Some(index) != except {
            best = (distance, index);
        }
    }
    best.1
}

fn sorted_with_indices(colors: &[Rgb]) -> Vec<(u32, ColorIndex)> {
    let numbers = colors.iter().copied().map(to_number);
    let mut sorted: Vec<(u32, ColorIndex)> = numbers.zip(0..=ColorIndex::MAX).collect();
    sorted.sort_unstable();
    sorted
}

/// A colour as a number: the same order, but faster to compare than three bytes.
fn to_number([r, g, b]: Rgb) -> u32 {
    u32::from_be_bytes([0, r, g, b])
}

fn to_rgb(number: u32) -> Rgb {
    let [_, r, g, b] = number.to_be_bytes();
    [r, g, b]
}

/// Squared Euclidean distance of two colours.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let ([r, g, b], [s, h, c]) = (a, b);
    let square = |a: u8, b: u8| u32::from(u16::from(a.abs_diff(b)).pow(2));
    square(r, s) + square(g, h) + square(b, c)
}

/// The distinct values, sorted, each with its number of occurrences.
fn count_distinct<T: Ord + Copy>(mut values: Vec<T>) -> Vec<(T, usize)> {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    runs.filter_map(|run| Some((*run.first()?, run.len()))).collect()
}

/// The bucket of a colour.
fn bucket(color: Rgb) -> usize {
    let [r, g, b] = color.map(|channel| usize::from(channel >> 4));
    (r << 8) | (g << 4) | b
}

/// The colours of one bucket, weighted by the number of cells.
#[derive(Clone, Copy, Default)]
struct Bucket {
    number: usize,
    /// Sums of the three channels.
    sums: [usize; 3],
    count: usize,
    /// Average colour; set once all colours are added.
    color: Rgb,
}

impl Bucket {
    fn add(&mut self, sums: [usize; 3], count: usize) {
        self.count += count;
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
    }

    fn average(&self) -> Rgb {
        self.sums.map(|sum| u8::try_from(sum / self.count.max(1)).unwrap_or(u8::MAX))
    }

    fn channel(&self, channel: usize) -> u8 {
        self.color.get(channel).copied().unwrap_or(0)
    }
}

/// A box of median cut: buckets that one colour represents so far.
struct ColorBox<'a> {
    buckets: &'a mut [Bucket],
    /// The channel in which the buckets differ most.
    channel: usize,
    /// The difference in that channel times the number of cells: the heaviest box is split next.
    weight: usize,
}

impl<'a> ColorBox<'a> {
    fn new(buckets: &'a mut [Bucket]) -> Self {
        let spread = |channel: usize| {
            let values = buckets.iter().map(|bucket| bucket.channel(channel));
            let (min, max) = values.fold((u8::MAX, 0), |(a, b), x| (a.min(x), b.max(x)));
            (usize::from(max.saturating_sub(min)), channel)
        };
        let (spread, channel) = [0, 1, 2].map(spread).into_iter().max().unwrap_or_default();
        let weight = spread * buckets.iter().map(|bucket| bucket.count).sum::<usize>();
        Self { buckets, channel, weight }
    }

    fn color(&self) -> Rgb {
        let mut whole = Bucket::default();
        self.buckets.iter().for_each(|bucket| whole.add(bucket.sums, bucket.count));
        whole.average()
    }

    /// Splits the box at the median of its widest channel.
    fn split(self) -> [Self; 2] {
        self.buckets.sort_unstable_by_key(|bucket| bucket.channel(self.channel));
        let total: usize = self.buckets.iter().map(|bucket| bucket.count).sum();
        let mut below = 0;
        let low = self.buckets.iter().take_while(|bucket| {
            below += bucket.count;
            below <= total / 2
        });
        let median = low.count().max(1).min(self.buckets.len());
        let (low, high) = self.buckets.split_at_mut(median);
        [Self::new(low), Self::new(high)]
    }
}

/// Chooses at most `max` colours to represent more; returns them with the nearest one's index for
/// each bucket.
fn median_cut(counts: &[(Rgb, usize)], max: usize) -> (Vec<Rgb>, Vec<ColorIndex>) {
    let mut buckets = vec![Bucket::default(); BUCKETS];
    for (color, count) in counts {
        let number = bucket(*color);
        if let Some(bucket) = buckets.get_mut(number) {
            bucket.number = number;
            bucket.add(color.map(|channel| usize::from(channel) * count), *count);
        }
    }
    buckets.retain(|bucket| bucket.count > 0);
    buckets.iter_mut().for_each(|bucket| bucket.color = bucket.average());
    let mut boxes = vec![ColorBox::new(&mut buckets)];
    while boxes.len() < max {
        let heaviest = boxes.iter().enumerate().max_by_key(|(_, color_box)| color_box.weight);
        let Some((at, _)) = heaviest.filter(|(_, color_box)| color_box.weight > 0) else { break };
        let halves = boxes.swap_remove(at).split();
        boxes.extend(halves);
    }
    let colors: Vec<Rgb> = boxes.iter().map(ColorBox::color).collect();
    let mut nearest = vec![0; BUCKETS];
    for bucket in &buckets {
        if let Some(index) = nearest.get_mut(bucket.number) {
            *index = nearest_index(&colors, bucket.color, None);
        }
    }
    (colors, nearest)
}
