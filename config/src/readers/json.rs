//! `SPRING_APPLICATION_JSON`: one object, flattened to dotted names. Nulls are left out, as Boot leaves them out.

use super::yaml_scalar::java_double;
use super::{MAX_PROPERTIES, SyntaxError};
use crate::property::{Origin, Property};
use serde_json::Value;
use serde_json::error::Category;

/// Flattens the text of an object. `prefix` is put in front of every name; empty means none.
pub(crate) fn read_json(text: &str, prefix: &str, origin: &Origin) -> Result<Vec<Property>, SyntaxError> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| SyntaxError::new(e.line(), json_message(&e)))?;
    if !value.is_object() {
        return Err(SyntaxError::new(1, "must be an object, such as {\"server\":{\"port\":8761}}"));
    }
    let mut properties = Vec::new();
    flatten(&value, prefix.to_owned(), origin, &mut properties);
    if properties.len() > MAX_PROPERTIES {
        return Err(SyntaxError::new(1, format!("more than {MAX_PROPERTIES} values")));
    }
    Ok(properties)
}

/// What the parser says, which never quotes the text: it may hold a password.
fn json_message(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        Category::Eof => "it ends too early",
        Category::Syntax | Category::Data | Category::Io => "what stands there is no JSON",
    };
    format!("column {}: {what}", error.column())
}

/// Recursion is bounded by the parser, which refuses more than 128 levels.
fn flatten(value: &Value, name: String, origin: &Origin, into: &mut Vec<Property>) {
    let text = match value {
        Value::Null => return,
        Value::Object(members) => {
            for (member, value) in members {
                flatten(value, super::yaml::join_name(&name, member), origin, into);
            }
            return;
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                flatten(item, format!("{name}[{at}]"), origin, into);
            }
            return;
        }
        Value::String(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_f64() => number.as_f64().map(java_double).unwrap_or_default(),
        Value::Number(number) => number.to_string(),
    };
    into.push(Property { name, value: text, origin: origin.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_arrays_are_flattened() {
        let text = r#"{"m":{"x":"json","n":null,"arr":[1,{"a":2}],"t":true,"d":1.10},"a.b":"c"}"#;
        let read = read_json(text, "", &Origin::Json).unwrap();
        let mut pairs: Vec<_> = read.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        pairs.sort_unstable();
        let expected = [
            ("a.b", "c"),
            ("m.arr[0]", "1"),
            ("m.arr[1].a", "2"),
            ("m.d", "1.1"),
            ("m.t", "true"),
            ("m.x", "json"),
        ];
        assert_eq!(pairs, expected);
    }

    #[test]
    fn what_is_no_object_is_refused_without_quoting_it() {
        for text in ["{bad secret", "[1]", "", "7"] {
            let error = read_json(text, "", &Origin::Json).unwrap_err();
            assert!(!error.message.contains("secret"), "{}", error.message);
        }
        let deep = "{\"a\":".repeat(200) + "1" + &"}".repeat(200);
        assert!(read_json(&deep, "", &Origin::Json).is_err());
    }
}
