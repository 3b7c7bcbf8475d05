//! What is written down of a text that may be a secret: its length, and a piece of its digest, by
//! which the same text can be known again.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// How much of the digest is written down, in hexadecimal digits.
const PREFIX: usize = 12;

/// What is shorter could be read from its digest by trying all there is.
const SHORTEST: usize = 4;

/// Length and digest of a value: of a text as it is, of anything else as JSON.
pub(crate) fn hidden(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() < SHORTEST {
        return json!({"len": text.len()});
    }
    let digest = digest(text.as_bytes());
    json!({"len": text.len(), "sha256_prefix": digest.get(..PREFIX)})
}

/// The SHA-256 of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_text_has_a_length_and_the_start_of_its_digest() {
        // printf hunter2 | sha256sum
        let expected = json!({"len": 7, "sha256_prefix": "f52fbd32b2b3"});
        assert_eq!(hidden(&json!("hunter2")), expected);
        assert_eq!(hidden(&json!("abc")), json!({"len": 3}));
        assert_eq!(hidden(&json!(["a", "b"]))["len"], 9);
    }
}
