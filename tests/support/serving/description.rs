//! Compares documents of the server with its own description of them.

use serde_json::{Map, Value, json};

use super::Server;

/// Returns an error that describes the fault if a document does not fit its schema. Implements the part of JSON Schema
/// that the description uses.
pub fn fits(value: &Value, schema: &Value, all: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/components/schemas/").expect("a schema of the description");
        return fits(value, &all[name], all, at);
    }
    for (kind, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
        if let Some(choices) = schema[kind].as_array() {
            let fitting = choices.iter().filter(|choice| fits(value, choice, all, at).is_ok()).count();
            return if (1..=most).contains(&fitting) {
                Ok(())
            } else {
                Err(format!("{at}: {value} fits {fitting} choices"))
            };
        }
    }
    if let Some(types) = schema["type"].as_array() {
        let of = |kind: &Value| {
            let mut schema = schema.clone();
            schema["type"] = kind.clone();
            fits(value, &schema, all, at)
        };
        return types.iter().map(of).find(Result::is_ok).unwrap_or_else(|| Err(format!("{at}: {value} is of no type")));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{at}: {value} is not one of {}", schema["enum"]));
    }
    let right = match schema["type"].as_str().expect("a type") {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => {
            let items = value.as_array().ok_or_else(|| format!("{at}: {value} is no array"))?;
            return items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| fits(item, &schema["items"], all, &format!("{at}[{i}]")));
        }
        "object" => {
            let fields = value.as_object().ok_or_else(|| format!("{at}: {value} is no object"))?;
            let empty = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&empty);
            for required in schema["required"].as_array().into_iter().flatten() {
                if !fields.contains_key(required.as_str().unwrap()) {
                    return Err(format!("{at}: {required} is missing"));
                }
            }
            for (name, value) in fields {
                match properties.get(name) {
                    Some(schema) => fits(value, schema, all, &format!("{at}.{name}"))?,
                    None if schema["additionalProperties"] == json!(false) => {
                        return Err(format!("{at}: '{name}' is not described"));
                    }
                    None => {}
                }
            }
            true
        }
        other => panic!("type {other}"),
    };
    if right { Ok(()) } else { Err(format!("{at}: {value} is not of type {}", schema["type"])) }
}

/// Checks that a document fits a schema of the description.
#[track_caller]
pub fn assert_described(server: &Server, value: &Value, schema: &str) {
    let (_, description) = server.get("/api/openapi.json");
    let all = &description["components"]["schemas"];
    assert_eq!(fits(value, &all[schema], all, schema), Ok(()));
}
