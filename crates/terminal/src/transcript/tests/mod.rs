//! Tests of transcripts in memory and in files, compared with plain vectors of lines.

mod excerpt;
mod grep;
mod read;

use proptest::collection::vec;
use proptest::prelude::*;

use super::store::BufferSizes;
use super::{Transcript, TranscriptView};

/// Sizes so small that a few lines fill several blocks and the file.
const TINY: BufferSizes = BufferSizes { memory: 64, write: 16, block: 24 };

fn filled<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Transcript {
    let mut transcript = Transcript::new();
    lines.into_iter().for_each(|line| transcript.push(line.as_ref()));
    transcript
}

/// The same lines in memory and in a file.
fn in_memory_and_file(lines: &[String]) -> [Transcript; 2] {
    let mut spilled = Transcript::with_sizes(TINY, tempfile::tempfile);
    lines.iter().for_each(|line| spilled.push(line));
    [filled(lines), spilled]
}

fn strings<const N: usize>(lines: [&str; N]) -> Vec<String> {
    lines.map(str::to_owned).to_vec()
}

fn any_lines() -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof![4 => "[a-cé漢🙂]{0,9}", 1 => "[a-c🙂]{20,70}"], 0..40)
}

fn pending_rows() -> impl Strategy<Value = Vec<String>> {
    vec("[a-c漢]{0,9}", 0..5)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Every number in a text.
fn numbers(text: &str) -> Vec<usize> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
