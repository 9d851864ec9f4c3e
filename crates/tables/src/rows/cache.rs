use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use kalah_base::lock::Mutex;

/// Values by key, each made on first use and kept.
pub(super) struct Cache<K, V>(Mutex<HashMap<K, Arc<V>>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V> Cache<K, V> {
    /// Returns the value of `key`, made with `make` if it does not exist.
    pub fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        if let Some(found) = self.0.lock().get(&key) {
            return Arc::clone(found);
        }
        // Made without holding the lock, which other threads may need for making their values.
        let made = Arc::new(make());
        Arc::clone(self.0.lock().entry(key).or_insert(made))
    }
}
