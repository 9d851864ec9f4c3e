//! Changes of files: of their bytes, and of the values of a JSON document.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// A change of bytes.
#[derive(Clone, Debug)]
pub(crate) enum Bytes {
    /// Flips one bit.
    Flip(Index, u8),
    /// Removes everything from a place on.
    Cut(Index),
    /// Changes a byte.
    Put(Index, u8),
    /// Inserts bytes.
    Insert(Index, Vec<u8>),
    /// Removes bytes.
    Remove(Index, Index),
    /// Changes a digit.
    Digit(Index, u8),
}

/// Strategy for any change of bytes.
pub(crate) fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        4 => (any::<Index>(), 0..8u8).prop_map(|(at, bit)| Bytes::Flip(at, bit)),
        1 => any::<Index>().prop_map(Bytes::Cut),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Bytes::Put(at, byte)),
        1 => (any::<Index>(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, added)| Bytes::Insert(at, added)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Bytes::Remove(from, to)),
        4 => (any::<Index>(), b'0'..=b'9').prop_map(|(at, digit)| Bytes::Digit(at, digit)),
    ]
}

impl Bytes {
    /// Returns the bytes after the change, which may be the same.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        match self {
            Bytes::Flip(at, bit) => changed[at.index(bytes.len())] ^= 1 << bit,
            Bytes::Cut(at) => changed.truncate(at.index(bytes.len())),
            Bytes::Put(at, byte) => changed[at.index(bytes.len())] = *byte,
            Bytes::Insert(at, added) => {
                let at = at.index(bytes.len());
                changed.splice(at..at, added.iter().copied());
            }
            Bytes::Remove(from, to) => {
                let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
                changed.drain(from.min(to)..from.max(to));
            }
            Bytes::Digit(at, digit) => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    changed[*at.get(&digits)] = *digit;
                }
            }
        }
        changed
    }
}

/// A change of a JSON document.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// Changes a number, string or boolean.
    Set(Index, Value),
    /// Increases a number.
    Add(Index, i64),
    /// Removes an element of a list.
    Remove(Index),
    /// Duplicates an element of a list.
    Repeat(Index),
}

/// Strategy for any change of a document.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let value = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0..70u64).prop_map(Value::from),
        "[0-9,/<> DLWx.]{0,20}".prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        Just(Value::Array(Vec::new())),
    ];
    prop_oneof![
        2 => (any::<Index>(), value).prop_map(|(at, value)| Json::Set(at, value)),
        4 => (any::<Index>(), -3..=3i64).prop_map(|(at, more)| Json::Add(at, more)),
        1 => any::<Index>().prop_map(Json::Remove),
        1 => any::<Index>().prop_map(Json::Repeat),
    ]
}

impl Json {
    pub(crate) fn apply(&self, document: &mut Value) {
        let (mut leaves, mut numbers, mut lists) = (Vec::new(), Vec::new(), Vec::new());
        find(document, &mut String::new(), &mut |at, value| match value {
            Value::Array(list) if !list.is_empty() => lists.push((at.to_owned(), list.len())),
            Value::Number(_) => {
                numbers.push(at.to_owned());
                leaves.push(at.to_owned());
            }
            Value::Object(_) | Value::Array(_) => {}
            _ => leaves.push(at.to_owned()),
        });
        let place = |paths: &[String], at: &Index| (!paths.is_empty()).then(|| at.get(paths).clone());
        let entry = |at: &Index| (!lists.is_empty()).then(|| at.get(&lists).clone());
        let list = |document: &mut Value, path: &str, change: &dyn Fn(&mut Vec<Value>)| {
            if let Some(Value::Array(list)) = document.pointer_mut(path) {
                change(list);
            }
        };
        match self {
            Json::Set(at, value) => {
                if let Some(place) = place(&leaves, at).and_then(|path| document.pointer_mut(&path)) {
                    *place = value.clone();
                }
            }
            Json::Add(at, more) => {
                if let Some(number) = place(&numbers, at).and_then(|path| document.pointer_mut(&path)) {
                    *number = number.as_i64().map_or(Value::Null, |number| number.wrapping_add(*more).into());
                }
            }
            Json::Remove(at) => {
                if let Some((path, length)) = entry(at) {
                    list(document, &path, &|list| drop(list.remove(at.index(length))));
                }
            }
            Json::Repeat(at) => {
                if let Some((path, length)) = entry(at) {
                    list(document, &path, &|list| list.push(list[at.index(length)].clone()));
                }
            }
        }
    }
}

/// Visits every value in a document, with its path.
fn find(value: &Value, path: &mut String, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, value);
    let inner: Vec<(String, &Value)> = match value {
        Value::Array(list) => list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value)).collect(),
        _ => Vec::new(),
    };
    for (name, value) in inner {
        let length = path.len();
        path.push('/');
        path.push_str(&name);
        find(value, path, visit);
        path.truncate(length);
    }
}
