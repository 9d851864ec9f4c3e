//! Compares documents of the server with its own description of them.

use serde_json::{Value, json};

use super::Server;

/// Returns an error that describes the fault if a document does not fit its schema. Implements the part of JSON Schema
/// that the description uses.
pub fn fits(value: &Value, schema: &Value, all: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/components/schemas/").expect("a schema of the description");
        return fits(value, &all[name], all, at);
    }
    let ensure = |fits: bool, fault: &str| if fits { Ok(()) } else { Err(format!("{at}: {value} {fault}")) };
    let of_types = schema["type"].as_array().map(|types| {
        let of = |kind: &Value| {
            let mut schema = schema.clone();
            schema["type"] = kind.clone();
            schema
        };
        types.iter().map(of).collect()
    });
    for (choices, most) in [(schema["anyOf"].as_array(), usize::MAX), (schema["oneOf"].as_array(), 1)]
        .into_iter()
        .chain([(of_types.as_ref(), usize::MAX)])
    {
        if let Some(choices) = choices {
            let fitting = choices.iter().filter(|choice| fits(value, choice, all, at).is_ok()).count();
            return ensure((1..=most).contains(&fitting), &format!("fits {fitting} choices"));
        }
    }
    if let Some(allowed) = schema["enum"].as_array() {
        ensure(allowed.contains(value), &format!("is not one of {}", schema["enum"]))?;
    }
    let kind = schema["type"].as_str().expect("a type");
    let is_of_kind = match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type {other}"),
    };
    ensure(is_of_kind, &format!("is not of type {kind}"))?;
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(item, &schema["items"], all, &format!("{at}[{index}]"))?;
    }
    for required in schema["required"].as_array().into_iter().flatten() {
        ensure(value.get(required.as_str().unwrap()).is_some(), &format!("lacks {required}"))?;
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => fits(field, schema, all, &format!("{at}.{name}"))?,
            None => ensure(schema["additionalProperties"] != json!(false), &format!("has the field '{name}'"))?,
        }
    }
    Ok(())
}

/// Checks that a document fits a schema of the description.
#[track_caller]
pub fn assert_described(server: &Server, value: &Value, schema: &str) {
    let (_, description) = server.get("/api/openapi.json");
    let all = &description["components"]["schemas"];
    assert_eq!(fits(value, &all[schema], all, schema), Ok(()));
}
