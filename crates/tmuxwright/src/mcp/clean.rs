//! Removal of invisible characters from JSON values: programs in a terminal chose the names and
//! strings in them.

use serde_json::{Map, Value};
use terminal::text::{clean, is_printable_ascii};

/// Cleans every string and every field name in a value. `colors` keeps colour sequences in strings.
pub(super) fn clean_value(value: &mut Value, colors: bool) {
    match value {
        Value::String(text) if !is_printable_ascii(text) => *text = clean(text, colors),
        Value::Array(items) => items.iter_mut().for_each(|item| clean_value(item, colors)),
        Value::Object(map) => {
            map.values_mut().for_each(|inner| clean_value(inner, colors));
            if !map.keys().all(|name| is_printable_ascii(name)) {
                clean_names(map);
            }
        }
        _ => {}
    }
}

/// Cleans field names. Names that are equal after cleaning get a `_` appended, so that no field
/// replaces another.
fn clean_names(map: &mut Map<String, Value>) {
    for (name, value) in std::mem::take(map) {
        let mut name = clean(&name, false);
        while map.contains_key(&name) {
            name.push('_');
        }
        map.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn field_names_are_cleaned_and_stay_distinct() {
        let mut value =
            json!({"A": "1", "A\u{200b}": ["\u{1b}[1mx"], "B\u{7}": {"\u{202e}c": "d"}});
        clean_value(&mut value, false);
        assert_eq!(value, json!({"A": "1", "A_": ["x"], "B": {"c": "d"}}));
    }
}
