//! Text from a terminal on its way to a model.

mod clean;
mod columns;
mod cut;

pub(crate) use clean::{clean, clean_value, inline};
pub(crate) use columns::first_columns;
pub(crate) use cut::keep_tail;
