//! Changes of files: of their bytes, and of the values of a JSON document.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// A change of bytes.
#[derive(Clone, Debug)]
pub(crate) enum Bytes {
    /// Flips one bit.
    Flip(Index, u8),
    /// Changes a byte.
    Put(Index, u8),
    /// Changes a digit.
    Digit(Index, u8),
    /// Removes everything from a place on.
    Cut(Index),
    /// Removes bytes, so that all bytes after them move.
    Remove(Index, usize),
    /// Inserts bytes, without a place at the end.
    Insert(Option<Index>, Vec<u8>),
    /// Copies bytes from one place to another.
    Splice(Index, Index, usize),
    /// Exchanges two bytes.
    Swap(Index, Index),
}

/// Strategy for any change of bytes.
pub(crate) fn bytes() -> impl Strategy<Value = Bytes> + Clone {
    let index = any::<Index>;
    let count = || prop_oneof![1..9usize, 1..200usize, 1..2000usize];
    prop_oneof![
        6 => (index(), 0..8u8).prop_map(|(at, bit)| Bytes::Flip(at, bit)),
        3 => (index(), any::<u8>()).prop_map(|(at, byte)| Bytes::Put(at, byte)),
        4 => (index(), b'0'..=b'9').prop_map(|(at, digit)| Bytes::Digit(at, digit)),
        1 => index().prop_map(Bytes::Cut),
        2 => (index(), count()).prop_map(|(at, count)| Bytes::Remove(at, count)),
        2 => (prop::option::of(index()), prop::collection::vec(any::<u8>(), 1..200))
            .prop_map(|(at, added)| Bytes::Insert(at, added)),
        2 => (index(), index(), count()).prop_map(|(from, to, count)| Bytes::Splice(from, to, count)),
        1 => (index(), index()).prop_map(|(a, b)| Bytes::Swap(a, b)),
    ]
}

/// Strategy for one or several changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Bytes>> {
    prop_oneof![prop::collection::vec(bytes(), 1..2), prop::collection::vec(bytes(), 1..12)]
}

/// Returns the bytes after the changes.
pub(crate) fn changed(bytes: &[u8], changes: &[Bytes]) -> Vec<u8> {
    changes.iter().fold(bytes.to_vec(), |bytes, change| change.apply(&bytes))
}

impl Bytes {
    /// Returns the bytes after the change, which may be the same.
    pub(crate) fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let (len, mut changed) = (bytes.len(), bytes.to_vec());
        if bytes.is_empty() {
            return changed;
        }
        match self {
            Bytes::Flip(at, bit) => changed[at.index(len)] ^= 1 << bit,
            Bytes::Put(at, byte) => changed[at.index(len)] = *byte,
            Bytes::Digit(at, digit) => {
                let digits: Vec<usize> = (0..len).filter(|&at| bytes[at].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    changed[*at.get(&digits)] = *digit;
                }
            }
            Bytes::Cut(at) => changed.truncate(at.index(len)),
            Bytes::Remove(at, count) => {
                let at = at.index(len);
                changed.drain(at..len.min(at + count));
            }
            Bytes::Insert(at, added) => {
                let at = at.map_or(len, |at| at.index(len));
                changed.splice(at..at, added.iter().copied());
            }
            Bytes::Splice(from, to, count) => {
                let (from, to) = (from.index(len), to.index(len));
                let count = *count.min(&(len - from.max(to)));
                changed.copy_within(from..from + count, to);
            }
            Bytes::Swap(a, b) => changed.swap(a.index(len), b.index(len)),
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
        let mut paths = Vec::new();
        find(document, String::new(), &mut paths);
        paths.retain(|path| match (self, document.pointer(path).expect("a path of a value")) {
            (Json::Set(..), value) => !value.is_object() && !value.is_array(),
            (Json::Add(..), value) => value.is_number(),
            (Json::Remove(_) | Json::Repeat(_), value) => value.as_array().is_some_and(|list| !list.is_empty()),
        });
        let (Json::Set(at, _) | Json::Add(at, _) | Json::Remove(at) | Json::Repeat(at)) = self;
        if paths.is_empty() {
            return;
        }
        match (self, document.pointer_mut(at.get(&paths[..]).as_str()).expect("a path of a value")) {
            (Json::Set(_, value), place) => *place = value.clone(),
            (Json::Add(_, more), place) => {
                *place = place.as_i64().map_or(Value::Null, |number| number.wrapping_add(*more).into());
            }
            (Json::Remove(at), Value::Array(list)) => drop(list.remove(at.index(list.len()))),
            (Json::Repeat(at), Value::Array(list)) => list.push(list[at.index(list.len())].clone()),
            (_, place) => unreachable!("{place} is a list"),
        }
    }
}

/// Lists the paths of all values in a document.
fn find(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(index, inner)| find(inner, format!("{path}/{index}"), paths));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| find(inner, format!("{path}/{name}"), paths));
        }
        _ => {}
    }
    paths.push(path);
}
