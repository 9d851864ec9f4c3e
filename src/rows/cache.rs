use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// Values by key, each made on first use and kept.
pub(super) struct Cache<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V> Cache<K, V> {
    /// The value of `key`, which `make` makes if it is not there.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lock().get(&key) {
            return Arc::clone(found);
        }
        // Made outside the lock, which a thread that helps with the making may need.
        let made = Arc::new(make());
        Arc::clone(lock().entry(key).or_insert(made))
    }
}
