//! Records the layers that were compared with their checksums on this machine, for the next
//! process.

use std::fmt::Write as _;
use std::fs::Metadata;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use kalah_base::file::{self, Replacement};
use kalah_core::cancel::Cancel;
use kalah_core::table::{Blocks, TableError};

use super::check::check_frame_in_parallel;

/// Nanoseconds for which a change of a file may not show in its times: those of file systems are
/// coarse, and clocks differ.
const MOMENT: i128 = 2_000_000_000;

/// The state of a file at one time. Any change of its bytes changes this.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    path: PathBuf,
    /// Device, inode, length, and the times of the last change of content and of the file, in
    /// nanoseconds.
    figures: [i128; 5],
}

impl FileState {
    /// State of the file at `path` with these metadata; `None` if it cannot be determined.
    #[cfg(unix)]
    fn of(path: &Path, data: &Metadata) -> Option<FileState> {
        use std::os::unix::fs::MetadataExt;
        let path = path.canonicalize().ok()?;
        let time = |seconds: i64, nanoseconds: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        let [changed, altered] = [time(data.mtime(), data.mtime_nsec()), time(data.ctime(), data.ctime_nsec())];
        let figures = [data.dev().into(), data.ino().into(), data.size().into(), changed, altered];
        Some(FileState { path, figures })
    }

    /// On other systems the state cannot be determined.
    #[cfg(not(unix))]
    fn of(_: &Path, _: &Metadata) -> Option<FileState> {
        None
    }
}

/// Notes of this machine about layers whose blocks all matched their checksums: small files in a
/// temporary directory that only this user can write.
///
/// A layer is compared again when its file was changed or replaced, and once on every machine.
#[derive(Clone, Debug)]
pub struct Stamps {
    /// `None` where notes are impossible.
    directory: Option<PathBuf>,
}

impl Stamps {
    /// Opens the notes of this machine and user.
    pub fn of_machine() -> Stamps {
        Stamps { directory: own_directory() }
    }

    /// Compares the blocks of a layer with their checksums, on all threads of the current pool,
    /// unless this machine has a note about its file. `on_bytes` is called with each number of bytes
    /// that need no comparison any more. If `cancel` is cancelled, the rest is left for the first
    /// reading of each block.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn compare(&self, layer: &Blocks, cancel: &Cancel, on_bytes: &(dyn Fn(u64) + Sync)) -> Result<(), TableError> {
        let state = layer.metadata().and_then(|data| FileState::of(layer.path(), &data.ok()?));
        if state.as_ref().is_some_and(|state| self.has(layer, state)) {
            layer.mark_all();
        }
        if layer.is_checked() {
            on_bytes(layer.file_bytes());
            return Ok(());
        }
        for mover in layer.in_file_order() {
            if cancel.is_cancelled() {
                return Ok(());
            }
            check_frame_in_parallel(layer, mover)?;
            on_bytes(layer.sections()[mover - 1].bytes());
        }
        if let Some(state) = &state {
            self.put(layer, state);
        }
        Ok(())
    }

    /// Returns true if there is a note about a layer, with its file in this state.
    fn has(&self, layer: &Blocks, state: &FileState) -> bool {
        let place = self.place(state);
        place.and_then(|place| file::read(&place).ok()).is_some_and(|found| found == text(layer, state).as_bytes())
    }

    /// Notes that all blocks of a layer match their checksums, if its file is still in the state
    /// before the comparison. A file changed a moment ago gets no note: another change in the same
    /// moment would not show.
    fn put(&self, layer: &Blocks, state: &FileState) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.put_at(layer, state, now.as_nanos() as i128);
    }

    /// The same at the time `now`, in nanoseconds since 1970 began.
    fn put_at(&self, layer: &Blocks, state: &FileState, now: i128) {
        let [.., altered] = state.figures;
        let now_there = state.path.metadata().ok().and_then(|data| FileState::of(&state.path, &data));
        if now - altered < MOMENT || now_there.as_ref() != Some(state) {
            return;
        }
        if let Some(place) = self.place(state) {
            // Without the note, the next process compares the layer again.
            let write = || -> io::Result<()> {
                let mut note = Replacement::begin(&place)?;
                note.write_all(text(layer, state).as_bytes())?;
                note.finish()
            };
            let _ = write();
        }
    }

    fn place(&self, state: &FileState) -> Option<PathBuf> {
        let name = blake3::hash(state.path.as_os_str().as_encoded_bytes()).to_hex();
        Some(self.directory.as_ref()?.join(&name[..32]))
    }
}

/// Text of the note about a layer: the digest of its frames' digests, and the state of its file.
fn text(layer: &Blocks, state: &FileState) -> String {
    let mut hasher = blake3::Hasher::new();
    layer.sections().iter().for_each(|section| _ = hasher.update(&section.digest));
    let mut text = hasher.finalize().to_hex().to_string();
    for figure in state.figures {
        let _ = write!(text, " {figure}");
    }
    text + "\n"
}

/// Directory of the notes, created if necessary; `None` if others can write it.
#[cfg(unix)]
fn own_directory() -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    // SAFETY: it has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    let directory = std::env::temp_dir().join(format!("kalah-checked-{user}"));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let data = directory.symlink_metadata().ok()?;
    (data.is_dir() && data.uid() == user && data.mode() & 0o077 == 0).then_some(directory)
}

#[cfg(not(unix))]
fn own_directory() -> Option<PathBuf> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::table::{PackedFrame, TableWriter};
    use kalah_core::game::Rules;
    use kalah_core::isa::Isa;
    use kalah_core::table::{Storage, Table, TableKey};

    #[test]
    fn a_changed_or_replaced_file_is_compared_again() {
        let directory = tempfile::tempdir().unwrap();
        let key = TableKey { rules: Rules::EmptyCapture, pits: 3, seeds: 6 };
        let mut writer = TableWriter::open(directory.path(), key).unwrap();
        for frame in key.frames() {
            let scores = vec![0; frame.positions() as usize];
            writer.write(&PackedFrame::pack(Isa::detect(), frame, &scores)).unwrap();
        }
        let path = writer.finish().unwrap();
        let stamps = Stamps { directory: Some(directory.path().to_owned()) };
        // Bytes that were copied from a file get no note.
        let open = || Table::open_as(&path, Storage::Files).unwrap();
        let state = || FileState::of(&path, &path.metadata().unwrap()).unwrap();
        let has = || {
            let table = open();
            let has = stamps.has(table.blocks(), &state());
            // A note saves the comparison of blocks.
            let bytes = AtomicU64::new(0);
            let cancelled = Cancel::new();
            cancelled.cancel();
            stamps.compare(table.blocks(), &cancelled, &|more| _ = bytes.fetch_add(more, Ordering::Relaxed)).unwrap();
            assert_eq!(table.blocks().is_checked(), has);
            assert_eq!(bytes.into_inner(), if has { table.blocks().file_bytes() } else { 0 });
            has
        };
        let later = i128::MAX;
        let put = || stamps.put_at(open().blocks(), &state(), later);
        assert!(!has());
        // It was written a moment ago.
        let table = open();
        stamps.compare(table.blocks(), &Cancel::new(), &|_| ()).unwrap();
        assert!(table.blocks().is_checked() && !has());
        put();
        assert!(has());
        let bytes = std::fs::read(&path).unwrap();
        // The same bytes, written again: nothing shows that the disk has them.
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::write(&path, &bytes).unwrap();
        assert!(!has());
        put();
        assert!(has());
        // Another file under the same name, with the same length and time.
        let other = directory.path().join("other");
        std::fs::copy(&path, &other).unwrap();
        let times = std::fs::FileTimes::new().set_modified(path.metadata().unwrap().modified().unwrap());
        std::fs::File::options().write(true).open(&other).unwrap().set_times(times).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(!has());
        // A table that was replaced while it was compared gets no note.
        let (table, before) = (open(), state());
        std::fs::copy(&path, &other).unwrap();
        std::fs::rename(&other, &path).unwrap();
        stamps.put_at(table.blocks(), &before, later);
        assert!(!has());
    }
}
