use std::ops::Range;
use std::path::Path;

use kalah_base::parallel::share;

use super::error::RemoteError;

/// Parts of a file with at most this many bytes between them are requested as one.
const NEAR: u64 = 16 << 10;

/// Maximum bytes of parts requested as one: several connections share more.
const MOST: u64 = 4 << 20;

/// Requests at a time.
const AT_A_TIME: usize = 16;

/// A directory of files elsewhere, read by parts: over HTTP, or by any other means. Nothing that it sends is trusted:
/// headers are compared with digests, and blocks with checksums.
pub trait Store: Send + Sync {
    /// Address of the directory, for messages.
    fn address(&self) -> &Path;

    /// Text that identifies the directory: another directory has another text. It is only shown as a digest.
    fn identity(&self) -> String {
        self.address().display().to_string()
    }

    /// Names of all files; `None` if the store cannot list them. An error if the list cannot be read.
    fn names(&self) -> Result<Option<Vec<String>>, RemoteError> {
        Ok(None)
    }

    /// Reads the bytes of `range` of the file `name`, or up to the end of a shorter file. `fresh` bypasses caches on
    /// the way. Several threads may call this at once.
    ///
    /// # Errors
    /// [`RemoteError::NotFound`] if there is no such file; otherwise when the bytes cannot be read.
    fn range(&self, name: &str, range: Range<u64>, fresh: bool) -> Result<FetchedBytes, RemoteError>;

    /// Ends the waits of now, if possible: calls of [`Store::range`] in progress fail, and later ones do not.
    fn interrupt(&self) {}
}

/// The requested bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Bytes of the whole file.
    pub total: u64,
}

/// Joins parts that are near each other. Each part is within one of the result, which are in order of their places.
pub(crate) fn joined(parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = parts.iter().filter(|part| !part.is_empty()).cloned().collect();
    parts.sort_unstable_by_key(|part| part.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if part.start <= last.end + NEAR && part.end <= last.start + MOST => {
                last.end = last.end.max(part.end);
            }
            _ => joined.push(part),
        }
    }
    joined
}

/// Copies `part` out of `read`, which are parts with their bytes; one of them contains it unless it is empty.
pub(crate) fn cut(read: &[(Range<u64>, Vec<u8>)], part: &Range<u64>) -> Vec<u8> {
    let whole = read.iter().find(|(range, _)| range.start <= part.start && part.end <= range.end);
    let cut = |(range, bytes): &(Range<u64>, Vec<u8>)| {
        bytes[(part.start - range.start) as usize..(part.end - range.start) as usize].to_vec()
    };
    whole.map(cut).unwrap_or_default()
}

/// Calls `work` with each item, several at a time, and returns the results in any order. After an error no further
/// work begins.
pub(crate) fn each<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let mut results: [Vec<R>; AT_A_TIME] = Default::default();
    share(&mut results, items.len(), |results, index| {
        results.push(work(&items[index])?);
        Ok(())
    })?;
    Ok(results.into_iter().flatten().collect())
}
