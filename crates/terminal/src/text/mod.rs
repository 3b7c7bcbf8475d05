//! Text from a terminal on its way to a model.

mod clean;
mod columns;
mod cut;

pub use clean::{clean, inline, is_clean};
pub use columns::first_columns;
pub use cut::keep_tail;
