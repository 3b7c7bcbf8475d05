//! Arguments of modifiers with their limits.

use super::FormatError;
use super::parser::Parsed;

/// Highest number of digits behind the point.
const MAX_PRECISION: i64 = 10;
/// Most conversions in a time, whose text tmux puts into a buffer of fixed size.
const MAX_TIME_CONVERSIONS: usize = 10;
/// Longest time in bytes.
const MAX_TIME_BYTES: usize = 64;

/// A number between `min` and `max`.
pub(super) fn number(text: &str, min: i64, max: i64) -> Parsed<()> {
    match text.parse::<i64>() {
        Ok(number) if (min..=max).contains(&number) => Ok(()),
        _ => Err(FormatError::new(
            format!("`{text}` is not a number from {min} to {max}"),
            "give a number in this range",
        )),
    }
}

/// `op`, `f` and the number of digits of an arithmetic expression.
pub(super) fn arithmetic(arguments: &[&str]) -> Parsed<()> {
    const OPERATORS: &[&str] = &["+", "-", "*", "/", "m", "%", "==", "!=", "<", ">", "<=", ">="];
    let valid = match arguments {
        [operator] | [operator, "f"] => OPERATORS.contains(operator),
        [operator, "f", digits] => {
            number(digits, 0, MAX_PRECISION)?;
            OPERATORS.contains(operator)
        }
        _ => false,
    };
    match valid {
        true => Ok(()),
        false => Err(FormatError::new(
            format!("`{}` is not an arithmetic operation", arguments.join("|")),
            "write it like `#{e|+|:1,2}` or `#{e|/|f|2:1,3}`",
        )),
    }
}

/// A time: conversions of one letter and plain text.
pub(super) fn check_time(time: &str) -> Parsed<()> {
    let conversions = time.matches('%').count();
    let mut parts = time.split('%');
    parts.next();
    let single = parts.all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    if time.len() <= MAX_TIME_BYTES && conversions <= MAX_TIME_CONVERSIONS && single {
        return Ok(());
    }
    Err(FormatError::new(
        format!("`{time}` is not a time of at most {MAX_TIME_CONVERSIONS} conversions"),
        "write it like `%H#:%M`",
    ))
}
