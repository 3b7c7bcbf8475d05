//! Removes from a JSON value the characters a reader cannot see: the names and strings in it were
//! written by programs in a terminal.

use serde_json::{Map, Value};
use terminal::text::{clean, is_printable_ascii};

/// Cleans every string in a value, and every name; colours stay in strings only if asked for.
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

/// Names that are the same once they are clean stay apart: none may hide another.
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
    fn names_in_a_value_are_cleaned_and_none_is_lost() {
        let mut value =
            json!({"A": "1", "A\u{200b}": ["\u{1b}[1mx"], "B\u{7}": {"\u{202e}c": "d"}});
        clean_value(&mut value, false);
        assert_eq!(value, json!({"A": "1", "A_": ["x"], "B": {"c": "d"}}));
    }
}
