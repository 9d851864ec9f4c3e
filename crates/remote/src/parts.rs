use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::store::FetchedBytes;

/// Parts of a file with at most this many bytes between them are requested as one.
const NEAR: u64 = 16 << 10;

/// Maximum bytes of a request: a larger part is divided, so that several connections share it.
const MOST: u64 = 4 << 20;

/// Requests at a time.
const AT_A_TIME: usize = 16;

/// Joins parts that are near each other and divides large ones. Together the result covers all parts, in order of
/// their places.
pub(crate) fn joined(parts: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = parts.iter().filter(|part| !part.is_empty()).cloned().collect();
    parts.sort_unstable_by_key(|part| part.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last) if part.start <= last.end + NEAR => last.end = last.end.max(part.end),
            _ => joined.push(part),
        }
    }
    let divided = joined.into_iter().flat_map(|part| {
        let starts = (part.start..part.end).step_by(MOST as usize);
        starts.map(move |start| start..part.end.min(start + MOST))
    });
    divided.collect()
}

/// Copies `part` out of `read`, which are parts with their bytes in order of their places.
pub(crate) fn cut(read: &[(Range<u64>, FetchedBytes)], part: &Range<u64>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity((part.end - part.start) as usize);
    for (range, FetchedBytes { bytes: found, .. }) in read {
        let (from, to) = (part.start.max(range.start), part.end.min(range.end));
        if from < to {
            bytes.extend_from_slice(&found[(from - range.start) as usize..(to - range.start) as usize]);
        }
    }
    bytes
}

/// Calls `work` with each item, several at a time, and returns the results in the same order. After an error no
/// further work begins.
///
/// # Errors
/// One of `work`: of its errors, that of the first item.
pub(crate) fn each<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            let result = work(item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            done.push((index, result));
        }
    };
    let mut results = std::thread::scope(|scope| {
        let others: Vec<_> = (1..items.len().min(AT_A_TIME)).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        others.into_iter().for_each(|other| results.extend(other.join().expect("no thread panics")));
        results
    });
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_parts_cover_all_parts() {
        let parts = [100..200, 70_000..80_000, 150..260, 300..300, 10_000_000..20_000_000];
        let joined = joined(&parts);
        assert!(joined.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!(joined.iter().all(|part| part.end - part.start <= MOST));
        assert_eq!(joined[0], 100..260);
        let fetched = |part: Range<u64>| {
            let bytes = part.clone().map(|at| (at % 251) as u8).collect();
            (part, FetchedBytes { bytes, total: 0, tag: None })
        };
        let read: Vec<_> = joined.into_iter().map(fetched).collect();
        for part in parts {
            let expected: Vec<u8> = part.clone().map(|at| (at % 251) as u8).collect();
            assert!(cut(&read, &part) == expected, "{part:?}");
        }
    }

    #[test]
    fn results_keep_their_order_and_errors_end_the_work() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(each(&items, |&item| Ok::<_, ()>(2 * item)), Ok(items.iter().map(|item| 2 * item).collect()));
        assert_eq!(each(&items, |&item| if item == 7 { Err(item) } else { Ok(()) }), Err(7));
        assert_eq!(each(&[1], |&item: &i32| Ok::<_, ()>(item)), Ok(vec![1]));
        assert_eq!(each(&[], |&item: &i32| Ok::<_, ()>(item)), Ok(vec![]));
    }
}
