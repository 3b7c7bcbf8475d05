//! Functions on text: cleaning, and cutting by columns or length.

mod clean;
mod columns;
mod cut;
mod styled_blanks;

pub use clean::{clean, inline, is_printable_ascii};
pub use columns::{expand_tabs, first_columns};
pub use cut::keep_tail;
pub use styled_blanks::trim_styled_blanks;
