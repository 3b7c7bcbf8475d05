//! Random bytes of the operating system, as hexadecimal text: for tokens, keys of marks and names of
//! buffers.

use std::fmt::Write;
use std::io;

/// Returns `bytes` random bytes as lower-case hexadecimal text, two digits for each.
pub(crate) fn hex(bytes: usize) -> io::Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)?;
    Ok(random.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_has_two_digits_per_byte() {
        let text = hex(12).unwrap();
        assert!(text != hex(12).unwrap() && text.len() == 24, "{text}");
        assert!(text.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase()), "{text}");
    }
}
