//! The mutex of the builders and of searches.
//!
//! This is [`parking_lot::Mutex`], except in WebAssembly with threads, where `parking_lot` cannot wait on stable
//! Rust.

#[cfg(not(target_os = "wasi"))]
pub use parking_lot::Mutex;

#[cfg(target_os = "wasi")]
pub use standard::Mutex;

#[cfg(target_os = "wasi")]
mod standard {
    use std::sync::{self, MutexGuard, PoisonError, TryLockError};

    /// The mutex of the standard library, with the interface of `parking_lot`.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// A mutex that is not locked.
        pub const fn new(value: T) -> Mutex<T> {
            Mutex(sync::Mutex::new(value))
        }

        /// Waits until no other thread has locked it.
        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Locks it, unless a thread has locked it.
        pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            }
        }

        /// The value.
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }

        /// The value, which no other thread can lock meanwhile.
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
    }
}
