//! The few colours of a file, which stand for all of a picture's.

use super::Picture;
use super::font::FULL;
use super::palette::{Inks, Rgb, mix};

/// A colour by its place among those of the file.
pub(super) type Ink = u8;

/// How many colours a byte can name.
const BYTE: usize = 256;

/// How many kinds of colour are told apart when there are too many: four bits of each part.
const KINDS: usize = 1 << 12;

/// The colours that cells ask for, each with how many cells do.
pub(super) struct Asked {
    single: Vec<(Rgb, usize)>,
    /// What is behind text, and the text.
    pairs: Vec<((Rgb, Rgb), usize)>,
}

impl Asked {
    pub(super) fn by(picture: &Picture) -> Self {
        let mut single = vec![number(picture.palette.fg), number(picture.palette.bg)];
        let mut pairs = Vec::new();
        for (_, _, cell, inks) in picture.cells() {
            single.push(number(inks.bg));
            if !cell.is_blank() {
                single.push(number(inks.fg));
                single.extend((inks.line != inks.fg).then_some(number(inks.line)));
                pairs.push((number(inks.bg), number(inks.fg)));
            }
        }
        let single: Vec<_> =
            counted(single).into_iter().map(|(color, count)| (rgb(color), count)).collect();
        // Where there is no room for the colours of edges nobody asks for them.
        pairs.truncate(if single.len() < BYTE { pairs.len() } else { 0 });
        let pairs = counted(pairs).into_iter();
        let pairs = pairs.map(|((bg, fg), count)| ((rgb(bg), rgb(fg)), count)).collect();
        Self { single, pairs }
    }

    /// The colours at the edges of letters, the most frequent first.
    fn mixed(&self) -> Vec<Rgb> {
        let steps = |((bg, fg), count): &((Rgb, Rgb), usize)| {
            let (bg, fg, count) = (*bg, *fg, *count);
            (1..FULL).map(move |step| (mix(bg, fg, share(step)), count))
        };
        let mut mixed: Vec<(Rgb, usize)> = self.pairs.iter().flat_map(steps).collect();
        mixed.sort_unstable_by_key(|(color, count)| (std::cmp::Reverse(*count), *color));
        let mut list: Vec<Rgb> = Vec::new();
        for (color, _) in mixed {
            if list.len() < BYTE && !list.contains(&color) {
                list.push(color);
            }
        }
        list
    }
}

/// The colours of a file.
pub(super) struct Colors {
    list: Vec<Rgb>,
    /// The places of colours that are in the list, in order.
    exact: Vec<(u32, Ink)>,
    /// The places of all others, by their kind.
    kinds: Vec<Ink>,
    /// What comes of two colours where one covers a part of the other.
    edges: Vec<Option<Ink>>,
    /// How many steps there are from one colour to another.
    steps: u8,
    /// Whether there are only the theme's own two.
    two: bool,
}

impl Colors {
    /// At most so many colours: all that cells ask for and then those at the edges of letters, or
    /// what is nearest to them.
    pub(super) fn new(asked: &Asked, most: usize, steps: u8) -> Self {
        let mut list: Vec<Rgb> = asked.single.iter().map(|(color, _)| *color).collect();
        let mut kinds = Vec::new();
        if list.len() > most {
            (list, kinds) = fewer(&asked.single, most);
        } else if steps > 1 {
            let mixed = asked.mixed().into_iter();
            let new: Vec<Rgb> = mixed.filter(|color| !list.contains(color)).collect();
            list.extend(new);
            list.truncate(most);
        }
        let exact = exact(&list);
        let edges = vec![None; BYTE * BYTE * usize::from(FULL)];
        Self { list, exact, kinds, edges, steps, two: false }
    }

    /// Two colours for everything: no other picture is as small.
    pub(super) fn two(picture: &Picture) -> Self {
        let list = vec![picture.palette.bg, picture.palette.fg];
        let exact = exact(&list);
        Self { list, exact, kinds: Vec::new(), edges: Vec::new(), steps: 1, two: true }
    }

    pub(super) fn list(&self) -> &[Rgb] {
        &self.list
    }

    /// The place of a colour.
    pub(super) fn ink(&self, color: Rgb) -> Ink {
        match self.exact.binary_search_by_key(&number(color), |(color, _)| *color) {
            Ok(at) => self.exact.get(at).map_or(0, |(_, ink)| *ink),
            Err(_) => self.kinds.get(kind(color)).copied().unwrap_or(0),
        }
    }

    /// The place of a cell's ground.
    pub(super) fn ground(&self, inks: Inks) -> Ink {
        self.ink(inks.bg)
    }

    /// The places of a cell's ground, text and line. Letters can be told from what is behind them
    /// even where there is one colour for both.
    pub(super) fn of(&self, inks: Inks, letter: bool) -> [Ink; 3] {
        if self.two {
            let bg = self.ink(inks.bg);
            return [bg, u8::from(bg == 0), u8::from(bg == 0)];
        }
        let [bg, fg, line] = [inks.bg, inks.fg, inks.line].map(|color| self.ink(color));
        if letter && fg == bg && inks.fg != inks.bg {
            let fg = nearest(&self.list, inks.fg, Some(bg));
            return [bg, fg, if inks.line == inks.fg { fg } else { line }];
        }
        [bg, fg, line]
    }

    /// What comes of a colour where another covers a part of it, in steps up to [`FULL`].
    pub(super) fn edge(&mut self, under: Ink, over: Ink, cover: u8) -> Ink {
        let step = (2 * cover * self.steps + FULL) / (2 * FULL);
        if step == 0 || step == self.steps {
            return if step == 0 { under } else { over };
        }
        let at = (usize::from(cover) * BYTE + usize::from(under)) * BYTE + usize::from(over);
        if let Some(ink) = self.edges.get(at).copied().flatten() {
            return ink;
        }
        let [from, to] =
            [under, over].map(|ink| self.list.get(usize::from(ink)).copied().unwrap_or_default());
        let ink = nearest(&self.list, mix(from, to, f32::from(step) / f32::from(self.steps)), None);
        if let Some(edge) = self.edges.get_mut(at) {
            *edge = Some(ink);
        }
        ink
    }
}

/// The colour that is least different from another.
fn nearest(list: &[Rgb], color: Rgb, except: Option<Ink>) -> Ink {
    let mut best = (u32::MAX, 0);
    for (near, ink) in list.iter().zip(0..=Ink::MAX) {
        let far = distance(*near, color);
        if far < best.0 && Some(ink) != except {
            best = (far, ink);
        }
    }
    best.1
}

/// The places of colours, in order.
fn exact(list: &[Rgb]) -> Vec<(u32, Ink)> {
    let mut exact: Vec<(u32, Ink)> = list.iter().copied().map(number).zip(0..=Ink::MAX).collect();
    exact.sort_unstable();
    exact
}

/// A colour as a number, which sorts as the colour does but faster.
fn number([r, g, b]: Rgb) -> u32 {
    u32::from_be_bytes([0, r, g, b])
}

fn rgb(number: u32) -> Rgb {
    let [_, r, g, b] = number.to_be_bytes();
    [r, g, b]
}

fn share(cover: u8) -> f32 {
    f32::from(cover) / f32::from(FULL)
}

/// How different two colours are.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let ([r, g, b], [s, h, c]) = (a, b);
    let square = |a: u8, b: u8| u32::from(u16::from(a.abs_diff(b)).pow(2));
    square(r, s) + square(g, h) + square(b, c)
}

/// Everything once, with how often it was there.
fn counted<T: Ord + Copy>(mut all: Vec<T>) -> Vec<(T, usize)> {
    all.sort_unstable();
    let runs = all.chunk_by(|a, b| a == b);
    runs.filter_map(|run| Some((*run.first()?, run.len()))).collect()
}

fn kind(color: Rgb) -> usize {
    let [r, g, b] = color.map(|part| usize::from(part >> 4));
    (r << 8) | (g << 4) | b
}

/// Colours of one kind: the kind, what the parts of all of them sum up to, and how many they are.
#[derive(Clone, Copy, Default)]
struct Kind {
    at: usize,
    sums: [usize; 3],
    count: usize,
    /// The average, once all are added.
    color: Rgb,
}

impl Kind {
    fn add(&mut self, sums: [usize; 3], count: usize) {
        self.count += count;
        self.sums.iter_mut().zip(sums).for_each(|(sum, more)| *sum += more);
    }

    fn average(&self) -> Rgb {
        self.sums.map(|sum| u8::try_from(sum / self.count.max(1)).unwrap_or(u8::MAX))
    }

    fn part(&self, part: usize) -> u8 {
        self.color.get(part).copied().unwrap_or(0)
    }
}

/// A group of kinds, and how far apart they are in the part in which they differ most.
struct Group<'a> {
    kinds: &'a mut [Kind],
    part: usize,
    weight: usize,
}

impl<'a> Group<'a> {
    fn new(kinds: &'a mut [Kind]) -> Self {
        let spread = |part: usize| {
            let parts = kinds.iter().map(|kind| kind.part(part));
            let (least, most) = parts.fold((u8::MAX, 0), |(a, b), x| (a.min(x), b.max(x)));
            (usize::from(most.saturating_sub(least)), part)
        };
        let (spread, part) = [0, 1, 2].map(spread).into_iter().max().unwrap_or_default();
        let weight = spread * kinds.iter().map(|kind| kind.count).sum::<usize>();
        Self { kinds, part, weight }
    }

    fn color(&self) -> Rgb {
        let mut whole = Kind::default();
        self.kinds.iter().for_each(|kind| whole.add(kind.sums, kind.count));
        whole.average()
    }

    /// Two groups of about as many colours.
    fn cut(self) -> [Self; 2] {
        self.kinds.sort_unstable_by_key(|kind| kind.part(self.part));
        let all: usize = self.kinds.iter().map(|kind| kind.count).sum();
        let mut below = 0;
        let half = self.kinds.iter().take_while(|kind| {
            below += kind.count;
            below <= all / 2
        });
        let middle = half.count().max(1).min(self.kinds.len());
        let (low, high) = self.kinds.split_at_mut(middle);
        [Self::new(low), Self::new(high)]
    }
}

/// So many colours that stand for more, and of each kind which of them: by median cut.
fn fewer(colors: &[(Rgb, usize)], most: usize) -> (Vec<Rgb>, Vec<Ink>) {
    let mut kinds = vec![Kind::default(); KINDS];
    for (color, count) in colors {
        let at = kind(*color);
        if let Some(kind) = kinds.get_mut(at) {
            kind.at = at;
            kind.add(color.map(|part| usize::from(part) * count), *count);
        }
    }
    kinds.retain(|kind| kind.count > 0);
    kinds.iter_mut().for_each(|kind| kind.color = kind.average());
    let mut groups = vec![Group::new(&mut kinds)];
    while groups.len() < most {
        let widest = groups.iter().enumerate().max_by_key(|(_, group)| group.weight);
        let Some((at, _)) = widest.filter(|(_, group)| group.weight > 0) else { break };
        let halves = groups.swap_remove(at).cut();
        groups.extend(halves);
    }
    let list: Vec<Rgb> = groups.iter().map(Group::color).collect();
    let mut places = vec![0; KINDS];
    for kind in &kinds {
        if let Some(place) = places.get_mut(kind.at) {
            *place = nearest(&list, kind.color, None);
        }
    }
    (list, places)
}
