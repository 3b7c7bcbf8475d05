//! The argument `filter` of list tools: `field=value` or `field~regex`, several joined by commas.

use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::contract::{ToolError, nearest, schema};

/// Keeps the rows that match every condition of the filter. Every field of a row can be filtered by.
pub(crate) fn apply<T: Serialize + JsonSchema>(
    rows: Vec<T>,
    filter: Option<&str>,
) -> Result<Vec<T>, ToolError> {
    let Some(filter) = filter.filter(|text| !text.trim().is_empty()) else {
        return Ok(rows);
    };
    let schema = schema::output::<T>();
    let properties = schema.get("properties").and_then(Value::as_object);
    let fields: Vec<&str> =
        properties.into_iter().flat_map(|fields| fields.keys().map(String::as_str)).collect();
    let conditions = parse(filter, &fields)?;
    let mut kept = Vec::new();
    for row in rows {
        let value = serde_json::to_value(&row)
            .map_err(|error| ToolError::internal(format!("a row has no JSON form: {error}")))?;
        if conditions.iter().all(|condition| condition.matches(&value)) {
            kept.push(row);
        }
    }
    Ok(kept)
}

/// One condition of a filter.
struct FieldFilter {
    field: String,
    test: FieldTest,
}

enum FieldTest {
    Equals(String),
    Matches(Regex),
}

impl FieldFilter {
    fn matches(&self, row: &Value) -> bool {
        let text = match row.get(&self.field) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        match &self.test {
            FieldTest::Equals(wanted) => text == *wanted,
            FieldTest::Matches(regex) => regex.is_match(&text),
        }
    }
}

/// Splits at a comma only if `field=` or `field~` follows, so that a regex may contain commas.
fn parse(filter: &str, fields: &[&str]) -> Result<Vec<FieldFilter>, ToolError> {
    let mut parts: Vec<String> = Vec::new();
    for piece in filter.split(',') {
        let starts = operator(piece).is_some_and(|(field, ..)| is_word(field));
        match parts.last_mut() {
            Some(last) if !starts => {
                last.push(',');
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts.iter().map(|part| parse_part(part, fields)).collect()
}

fn parse_part(part: &str, fields: &[&str]) -> Result<FieldFilter, ToolError> {
    let Some((field, operator, value)) = operator(part) else {
        return Err(ToolError::invalid_argument(format!(
            "filter `{part}` has neither `=` nor `~`"
        ))
        .hint("write field=value or field~regex, several joined by commas"));
    };
    if !fields.contains(&field) {
        let error = ToolError::invalid_argument(format!("filter: there is no field `{field}`"));
        let all = fields.join(", ");
        return Err(match nearest(field, fields.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`? the fields are: {all}")),
            None => error.hint(format!("the fields are: {all}")),
        });
    }
    let test = match operator {
        '=' => FieldTest::Equals(value.to_owned()),
        _ => FieldTest::Matches(Regex::new(value).map_err(|error| {
            ToolError::invalid_argument(format!("filter `{part}`: {error}"))
                .hint("correct the regular expression, or use field=value")
        })?),
    };
    Ok(FieldFilter { field: field.to_owned(), test })
}

fn operator(part: &str) -> Option<(&str, char, &str)> {
    let at = part.find(['=', '~'])?;
    let (field, rest) = part.split_at(at);
    Some((field.trim(), rest.chars().next()?, rest.get(1..)?))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, JsonSchema)]
    struct Row {
        name: &'static str,
        windows: u32,
        own: bool,
    }

    fn names(filter: &str) -> Result<Vec<&'static str>, String> {
        let rows = vec![
            Row { name: "dev", windows: 2, own: true },
            Row { name: "dev-long", windows: 1, own: false },
            Row { name: "a,b=c", windows: 1, own: false },
        ];
        apply(rows, Some(filter))
            .map(|rows| rows.iter().map(|row| row.name).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn values_match_exactly_and_patterns_match_anywhere() {
        assert_eq!(names("name=dev").unwrap(), ["dev"]);
        assert_eq!(names("name~^dev").unwrap(), ["dev", "dev-long"]);
        assert_eq!(names("name~^dev,windows=1").unwrap(), ["dev-long"]);
        assert_eq!(names("own=true").unwrap(), ["dev"]);
        assert_eq!(names("").unwrap().len(), 3);
    }

    #[test]
    fn patterns_may_contain_commas() {
        assert!(names("name=a,b=c").unwrap_err().contains("no field `b`"));
        assert_eq!(names("name~^[a-z],.").unwrap(), ["a,b=c"]);
    }

    #[test]
    fn errors_name_the_field_or_pattern() {
        assert!(names("nam=dev").unwrap_err().contains("`name`"));
        assert!(names("name").unwrap_err().contains("neither"));
        assert!(names("name~(").unwrap_err().contains("regular expression"));
    }
}
