//! Fingerprints of texts that may be secret: length and digest prefix, by which a log shows that two
//! texts are equal without showing them.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Length of the logged digest prefix, in hexadecimal digits.
const DIGEST_PREFIX_DIGITS: usize = 12;

/// Shorter texts get no digest: it could be reversed by trying all texts of that length.
const MIN_DIGESTED_BYTES: usize = 4;

/// Length and digest prefix of a value: of a string as it is, of anything else as JSON.
pub(crate) fn fingerprint(value: &Value) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() < MIN_DIGESTED_BYTES {
        return json!({"len": text.len()});
    }
    let digest = digest(text.as_bytes());
    json!({"len": text.len(), "sha256_prefix": digest.get(..DIGEST_PREFIX_DIGITS)})
}

/// The SHA-256 digest of some bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_has_length_and_digest_prefix() {
        // printf hunter2 | sha256sum
        let expected = json!({"len": 7, "sha256_prefix": "f52fbd32b2b3"});
        assert_eq!(fingerprint(&json!("hunter2")), expected);
        assert_eq!(fingerprint(&json!("abc")), json!({"len": 3}));
        assert_eq!(fingerprint(&json!(["a", "b"]))["len"], 9);
    }
}
