//! Finds the cause of an error. Enums that wrap errors return them from [`Error::source`].

use std::error::Error;
use std::io;
use std::iter::successors;

/// Returns `error`, its source, the source of that, and so on.
///
/// Unlike [`Error::source`], this includes an error that an [`io::Error`] was made from.
pub fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    successors(Some(error), |&error| match error.downcast_ref().and_then(io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    })
}

/// Returns the first error of type `E` in the [chain](chain()) of `error`.
pub fn find<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    chain(error).find_map(|error| error.downcast_ref())
}
