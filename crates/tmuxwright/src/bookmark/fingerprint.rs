//! Fingerprints of lines. They must be the same in every version of this program, because cursors
//! outlive it.

/// Bits of each kind of fingerprint.
pub(super) const LINE_BITS: u32 = 12;
pub(super) const ANCHOR_BITS: u32 = 24;
pub(super) const OPEN_BITS: u32 = 24;
pub(super) const SCREEN_BITS: u32 = 24;
const ROW_BITS: u32 = 32;

/// Hashes bytes: FNV-1a, then a finalizer so that every bit depends on all input.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The lowest bits of a line's hash.
fn bits(line: &str, count: u32) -> u64 {
    hash(line.as_bytes()) & ((1 << count) - 1)
}

/// Fingerprint of a line of the tail.
pub(super) fn line(line: &str) -> u16 {
    u16::try_from(bits(line, LINE_BITS)).unwrap_or_default()
}

/// Fingerprint of a row of the alternate screen: 0 if it is blank.
pub(super) fn row(row: &str) -> u32 {
    if row.is_empty() { 0 } else { u32::try_from(bits(row, ROW_BITS)).unwrap_or_default().max(1) }
}

/// Fingerprint of the alternate screen.
pub(super) fn screen(rows: &[String]) -> u32 {
    u32::try_from(bits(rows.join("\n").trim_end(), SCREEN_BITS)).unwrap_or_default()
}

/// Fingerprint of several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) lines: usize,
    pub(super) fingerprint: u32,
}

impl Anchor {
    pub(super) fn of(lines: &[String]) -> Self {
        let fingerprint = u32::try_from(bits(&lines.join("\n"), ANCHOR_BITS)).unwrap_or_default();
        Self { lines: lines.len(), fingerprint: if lines.is_empty() { 0 } else { fingerprint } }
    }
}

/// Fingerprint of a line that output may still extend: its length in characters and a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenLine {
    pub(super) length: usize,
    pub(super) fingerprint: u32,
}

impl OpenLine {
    pub(super) fn of(line: &str) -> Self {
        if line.is_empty() {
            return Self { length: 0, fingerprint: 0 };
        }
        let fingerprint = u32::try_from(bits(line, OPEN_BITS)).unwrap_or_default();
        Self { length: line.chars().count(), fingerprint }
    }

    /// Whether a line begins with this one.
    pub(super) fn begins(self, line: &str) -> bool {
        let end = line.char_indices().nth(self.length).map_or(line.len(), |(at, _)| at);
        Self::of(line.get(..end).unwrap_or_default()) == self
    }
}
