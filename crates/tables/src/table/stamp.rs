//! Records the layers that were compared with their checksums, for the next process.

use std::fs::{File, Metadata, create_dir_all};
use std::path::PathBuf;

use kalah_core::cancel::Cancel;
use kalah_core::table::{Blocks, TableError};

use super::check::check_frame_in_parallel;

/// The user's cache directory for this program; `None` if the environment names none.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA"));
    Some(caches.or_else(|| Some(variable("HOME")?.join(".cache")))?.join("kalah"))
}

/// Notes about layers whose blocks all matched their checksums: empty files, each named after the digests of a layer
/// and the state of its file.
///
/// A layer is compared again when its file was changed or replaced.
#[derive(Clone, Debug)]
pub struct Stamps {
    /// `None` where notes are impossible.
    directory: Option<PathBuf>,
}

impl Stamps {
    /// The notes in `directory`, which need not exist; `None` for no notes.
    pub fn new(directory: Option<PathBuf>) -> Stamps {
        Stamps { directory }
    }

    /// The notes of this user.
    pub fn of_user() -> Stamps {
        Stamps::new(user_cache().map(|cache| cache.join("checked")))
    }

    /// Compares the blocks of a layer with their checksums, on all threads of the current pool,
    /// unless there is a note about its file. `on_bytes` is called with each number of bytes
    /// that need no comparison any more. If `cancel` is cancelled, the rest is left for the first
    /// reading of each block.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn compare(&self, layer: &Blocks, cancel: &Cancel, on_bytes: &(dyn Fn(u64) + Sync)) -> Result<(), TableError> {
        let note = self.note(layer);
        if note.as_ref().is_some_and(|note| note.exists()) {
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
        if let (Some(directory), Some(note)) = (&self.directory, note) {
            // Without the note, the next process compares the layer again.
            let _ = create_dir_all(directory).and_then(|()| File::create(note));
        }
        Ok(())
    }

    /// The note about a layer and the present state of its file, if that can be noted.
    fn note(&self, layer: &Blocks) -> Option<PathBuf> {
        let mut hasher = blake3::Hasher::new();
        layer.sections().iter().for_each(|section| _ = hasher.update(&section.digest));
        hasher.update(state(&layer.metadata()?.ok()?)?.as_bytes());
        Some(self.directory.as_ref()?.join(&hasher.finalize().to_hex()[..32]))
    }
}

/// The state of a file, which any change of its bytes changes. `None` for a file that was changed a moment ago: the
/// times of file systems are coarse, so another change in the same moment would not show.
#[cfg(unix)]
fn state(data: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, UNIX_EPOCH};
    let changed = UNIX_EPOCH + Duration::new(data.ctime().try_into().ok()?, data.ctime_nsec() as u32);
    let state = format!("{} {} {} {changed:?}", data.dev(), data.ino(), data.size());
    (changed.elapsed().ok()? >= Duration::from_secs(2)).then_some(state)
}

/// On other systems the state cannot be determined.
#[cfg(not(unix))]
fn state(_: &Metadata) -> Option<String> {
    None
}
