//! Loops over what goes wrong by chance: questions and answers, background jobs, a person at the
//! keyboard. `make test-loaded` runs them on a busy machine.

pub(crate) mod ask_and_answer;
pub(crate) mod background_job;
pub(crate) mod person_types;

/// Environment variable with the number of rounds of each loop.
const ROUNDS_VARIABLE: &str = "TEST_LOAD_ROUNDS";

/// The rounds of one loop: few, unless a number is set.
fn rounds() -> std::ops::Range<usize> {
    let set = std::env::var(ROUNDS_VARIABLE).ok();
    0..set.map_or(8, |number| number.parse().unwrap())
}
