//! Descriptions of the answers for other languages, made from their types: the schemas of the OpenAPI document, the
//! TypeScript declarations of the page and of the WebAssembly package, and the types of the Python package. A test
//! compares the committed files; with the variable `KALAH_WRITE` it writes them:
//!
//! ```text
//! KALAH_WRITE=1 cargo test -p kalah-api described
//! ```

use std::fmt::Write;
use std::path::Path;

use kalah_core::game::Rules;
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::answer::{
    ExplorerAnswer, LineAnswer, MoveAnswer, MoveEffects, PositionAnswer, PuzzleAnswer, SearchAnswer, ServerAnswer,
    SolveAnswer, TableEntry, TablesAnswer, Value as ValueAnswer,
};
use crate::{ErrorAnswer, GameAnswer, PositionsAnswer, ReadAnswer, WriteAnswer};

/// Where schemas are in the OpenAPI document.
const PLACE: &str = "#/components/schemas/";

/// Schemas by name. Names of types lose the end `Answer`.
type Schemas = Map<String, Value>;

/// Returns the schemas of some answers, and of those within them.
fn schemas(answers: &[fn(&mut SchemaGenerator)]) -> Schemas {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut generator =
        settings.with(|settings| settings.definitions_path = "/components/schemas".into()).into_generator();
    answers.iter().for_each(|add| add(&mut generator));
    let mut definitions = generator.take_definitions(true);
    definitions.values_mut().for_each(simplify);
    definitions.into_iter().map(|(name, schema)| (short(&name).to_owned(), schema)).collect()
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

fn short(name: &str) -> &str {
    name.strip_suffix("Answer").unwrap_or(name)
}

/// Simplifies a schema: a field that may be missing is never null, and an object has no other fields.
fn simplify(schema: &mut Value) {
    if let Value::Array(schemas) = schema {
        schemas.iter_mut().for_each(simplify);
    }
    let Value::Object(fields) = schema else { return };
    for unwanted in ["format", "minimum", "default"] {
        fields.remove(unwanted);
    }
    fields.iter_mut().filter(|(name, _)| *name != "properties").for_each(|(_, schema)| simplify(schema));
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "");
    }
    if let Some(Value::String(name)) = fields.get_mut("$ref") {
        *name = short(name).to_owned();
    }
    // Names of an enumeration, each of which may be described.
    if let Some(Value::Array(choices)) = fields.get("oneOf") {
        let names: Option<Vec<Value>> = choices.iter().map(|choice| choice.get("const").cloned()).collect();
        if let Some(names) = names {
            fields.remove("oneOf");
            fields.extend([("type".to_owned(), json!("string")), ("enum".to_owned(), names.into())]);
        }
    }
    if let Some(Value::Array(items)) = fields.remove("prefixItems") {
        fields.insert("items".to_owned(), items[0].clone());
    }
    let required = fields.get("required").cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        for (name, property) in properties {
            simplify(property);
            if !required.as_array().is_some_and(|required| required.contains(&json!(name))) {
                never_null(property);
            }
            if name == "rules" {
                let rules = json!({"$ref": format!("{PLACE}Rules")});
                match property["type"].as_str() {
                    Some("array") => property["items"] = rules,
                    _ => *property = rules,
                }
            }
        }
        fields.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Removes null from the types of a schema.
fn never_null(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [kind] = &types[..] {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(choices)) = fields.get_mut("anyOf") {
        choices.retain(|choice| choice["type"] != "null");
        if let [Value::Object(choice)] = &choices[..] {
            let choice = choice.clone();
            fields.remove("anyOf");
            fields.extend(choice);
        }
    }
}

/// Returns the document `old` with these schemas and the names of all rule sets. Everything else before the schemas, up
/// to the last one of requests, is written by hand.
fn openapi(old: &str, schemas: &Schemas) -> String {
    let (_, rest) = old.split_once("\"Rules\": {\"type\": \"string\", \"enum\": [").expect("the rule sets");
    let names = Rules::ALL.map(|rules| json!(rules.name()).to_string()).join(", ");
    let end = rest.find(']').expect("the end of their names");
    let old = &format!("{}{names}{}", &old[..old.len() - rest.len()], &rest[end..]);
    let requests = old.find("\n      \"Player\": ").expect("the last schema of requests") + 1;
    let end = requests + old[requests..].find('\n').expect("a line");
    let lines: Vec<String> =
        schemas.iter().map(|(name, schema)| format!("\n      {}: {schema}", json!(name))).collect();
    format!("{},{}\n    }}\n  }}\n}}\n", old[..end].trim_end_matches(','), lines.join(","))
}

/// Returns the TypeScript declarations of schemas, each line after `margin` and `export`.
fn declarations(schemas: &Schemas, margin: &str, export: &str) -> String {
    let mut text = format!("{margin}{export}type Rules = string;\n");
    for (name, schema) in schemas {
        text.push('\n');
        comment(&mut text, margin, schema);
        let Some(properties) = schema["properties"].as_object() else {
            let _ = writeln!(text, "{margin}{export}type {name} = {};", type_of(schema));
            continue;
        };
        let _ = writeln!(text, "{margin}{export}interface {name} {{");
        for (field, property) in properties {
            comment(&mut text, &format!("{margin}  "), property);
            let mark = if is_required(schema, field) { "" } else { "?" };
            let _ = writeln!(text, "{margin}  {field}{mark}: {};", type_of(property));
        }
        let _ = writeln!(text, "{margin}}}");
    }
    text
}

fn is_required(schema: &Value, field: &str) -> bool {
    schema["required"].as_array().is_some_and(|names| names.contains(&json!(field)))
}

/// Returns the Python types of schemas.
fn typed_dicts(schemas: &Schemas) -> String {
    let names = Rules::ALL.map(|rules| json!(rules.name()).to_string()).join(", ");
    let mut text =
        format!("Rules = Literal[{names}]\n\"\"\"Names of the rule sets. `kalah.Rules` reads any text.\"\"\"\n");
    for (name, schema) in schemas {
        let description = |schema: &Value, margin: &str| match schema["description"].as_str() {
            Some(description) => format!("\n{margin}\"\"\"{description}\"\"\""),
            None => String::new(),
        };
        let Some(properties) = schema["properties"].as_object() else {
            let _ = writeln!(text, "\n\n{name} = {}{}", python_type(schema), description(schema, ""));
            continue;
        };
        let typed = |field: &str, property: &Value| match is_required(schema, field) {
            true => python_type(property),
            false => format!("NotRequired[{}]", python_type(property)),
        };
        // A field with the name of a keyword needs the other syntax.
        if properties.contains_key("from") {
            let fields =
                properties.iter().map(|(field, property)| format!("\"{field}\": \"{}\"", typed(field, property)));
            let fields = fields.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "\n\n{name} = TypedDict(\"{name}\", {{{fields}}}){}", description(schema, ""));
            continue;
        }
        let _ = writeln!(text, "\n\nclass {name}(TypedDict):{}\n", description(schema, "    "));
        for (field, property) in properties {
            let _ = writeln!(text, "    {field}: {}{}", typed(field, property), description(property, "    "));
        }
    }
    text
}

/// Returns the type of a schema in Python.
fn python_type(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return name.trim_start_matches(PLACE).to_owned();
    }
    if let Some(names) = schema["enum"].as_array() {
        return format!("Literal[{}]", names.iter().map(Value::to_string).collect::<Vec<_>>().join(", "));
    }
    match schema["type"].as_str() {
        Some("array") => format!("list[{}]", python_type(&schema["items"])),
        Some("boolean") => "bool".to_owned(),
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("string") => "str".to_owned(),
        _ => panic!("a schema without a type in Python: {schema}"),
    }
}

/// Adds the description of a schema as a comment.
fn comment(text: &mut String, margin: &str, schema: &Value) {
    if let Some(description) = schema["description"].as_str() {
        let _ = writeln!(text, "{margin}/** {description} */");
    }
}

/// Returns the type of a schema in TypeScript.
fn type_of(schema: &Value) -> String {
    let choices =
        |choices: &Vec<Value>, text: fn(&Value) -> String| choices.iter().map(text).collect::<Vec<_>>().join(" | ");
    if let Some(name) = schema["$ref"].as_str() {
        return name.trim_start_matches(PLACE).to_owned();
    }
    if let Some(names) = schema["enum"].as_array() {
        return choices(names, Value::to_string);
    }
    if let Some(schemas) = schema["anyOf"].as_array() {
        return choices(schemas, type_of);
    }
    match schema["type"].as_str() {
        Some("integer") => "number".to_owned(),
        Some("array") if schema["maxItems"] == 2 => format!("[{0}, {0}]", type_of(&schema["items"])),
        Some("array") => format!("{}[]", type_of(&schema["items"])),
        Some(simple @ ("boolean" | "number" | "string")) => simple.to_owned(),
        _ => panic!("a schema without a type in TypeScript: {schema}"),
    }
}

/// Compares a committed file with what it should be, or writes it.
#[track_caller]
fn holds(path: &str, made: impl FnOnce(&str) -> String) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    let old = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    let new = made(&old);
    if std::env::var_os("KALAH_WRITE").is_some() {
        std::fs::write(&path, new).unwrap();
    } else {
        assert!(old == new, "{}: not that of the types; KALAH_WRITE=1 writes it", path.display());
    }
}

const OF_SERVER: [fn(&mut SchemaGenerator); 13] = [
    add::<ErrorAnswer>,
    add::<ExplorerAnswer>,
    add::<GameAnswer>,
    add::<LineAnswer>,
    add::<MoveAnswer>,
    add::<PositionAnswer>,
    add::<PositionsAnswer>,
    add::<PuzzleAnswer>,
    add::<ReadAnswer>,
    add::<SearchAnswer>,
    add::<ServerAnswer>,
    add::<TablesAnswer>,
    add::<WriteAnswer>,
];

const GENERATED: &str = "// Written from the answers' types by a test: crates/api/tests/description.\n";

const PYTHON: &str = r#"# Written from the answers' types by a test: crates/api/tests/description.
"""The documents that `to_dict` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

"#;

#[test]
fn answers_are_described_by_their_types() {
    let server = schemas(&OF_SERVER);
    holds("crates/serve/src/openapi.json", |old| openapi(old, &server));
    let page = schemas(&[&OF_SERVER[..], &[add::<MoveEffects>, add::<ValueAnswer>]].concat());
    holds("web/page/documents.d.ts", |_| {
        format!("{GENERATED}\ndeclare namespace Api {{\n{}}}\n", declarations(&page, "  ", ""))
    });
    let package = schemas(&[add::<MoveAnswer>, add::<PositionAnswer>, add::<SolveAnswer>]);
    holds("crates/python/python/kalah/answers.py", |_| format!("{PYTHON}{}", typed_dicts(&package)));
    let module = [add::<LineAnswer>, add::<MoveAnswer>, add::<PositionAnswer>, add::<SolveAnswer>, add::<TableEntry>];
    let module = schemas(&module);
    holds("crates/wasm/js/answers.d.mts", |_| format!("{GENERATED}\n{}", declarations(&module, "", "export ")));
}
