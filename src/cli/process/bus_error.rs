//! Mapped table files that become shorter: a handler of SIGBUS, and a list of the mapped files that it can read
//! without locks or allocation.

use std::ffi::{c_int, c_void};
use std::io::IsTerminal;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use kalah::table::{Damage, MappingWatch, TableError};

use super::outcome::EXIT_DAMAGE;
use crate::cli::errors::advice;

/// Entry in the list of mapped files. Entries are reused, never freed.
struct MappedFile {
    taken: AtomicBool,
    start: AtomicUsize,
    /// Start address; 0 while the entry has no file.
    end: AtomicUsize,
    /// True once a part of the file could not be read and was replaced by zeros.
    lost: AtomicBool,
    /// Message about the file.
    message: AtomicPtr<String>,
    next: AtomicPtr<MappedFile>,
}

static FIRST: AtomicPtr<MappedFile> = AtomicPtr::new(null_mut());

/// State of the signal handler.
struct Installed {
    /// Previous handler.
    before: libc::sigaction,
    /// True if messages go to a terminal.
    terminal: bool,
    page_bytes: usize,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// True if the program goes on with zeros in place of unreadable bytes.
static OUTLIVE: AtomicBool = AtomicBool::new(false);

/// Makes all tables opened later mapped. If the file of an open table becomes shorter or unreadable, the program
/// prints the name of the table and exits with [`EXIT_DAMAGE`]. Errors on other memory go to the previous handler.
pub fn map_tables() {
    INSTALLED.get_or_init(install);
    // SAFETY: no command writes to finished tables; they are only replaced. Blocks are compared with their checksums.
    // If another program truncates a file, the handler ends the program or records the loss.
    unsafe { kalah::table::map_files(Some(|map, path| Box::new(Registration::new(map, path)))) };
}

/// Makes the program go on if the file of an open table becomes shorter or unreadable: zeros replace the lost bytes.
/// Results from such a table must not be used unless [`kalah::table::Shelf::require_whole`] or
/// [`kalah::table::Blocks::require_whole`] succeeds afterwards.
///
/// Servers use this, since they have other tables to answer from.
#[cfg(feature = "serve")]
pub fn outlive() {
    OUTLIVE.store(true, SeqCst);
}

/// Keeps a mapped file in the list until it is dropped.
struct Registration(&'static MappedFile);

impl Registration {
    /// Adds a file that is mapped to `map` to the list.
    fn new(map: &[u8], path: &Path) -> Registration {
        let place = free_place();
        let message = format!("kalah: {}\n", advice::with_advice(&TableError::damaged(path, Damage::Shrunk)));
        place.message.store(Box::into_raw(Box::new(message)), SeqCst);
        place.lost.store(false, SeqCst);
        let start = map.as_ptr() as usize;
        place.start.store(start, SeqCst);
        place.end.store(start + map.len(), SeqCst);
        Registration(place)
    }
}

impl MappingWatch for Registration {
    fn is_lost(&self) -> bool {
        self.0.lost.load(SeqCst)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.0.end.store(0, SeqCst);
        let message = self.0.message.swap(null_mut(), SeqCst);
        if !message.is_null() {
            // SAFETY: it came from `Box::into_raw`, and only the thread that takes it out of its entry frees it. The
            // handler reads the message of a file only while a thread reads from that file, which cannot be dropped
            // meanwhile.
            drop(unsafe { Box::from_raw(message) });
        }
        self.0.taken.store(false, SeqCst);
    }
}

/// Returns a free entry: an existing one if possible, otherwise a new one.
fn free_place() -> &'static MappedFile {
    if let Some(place) = places().find(|place| !place.taken.swap(true, SeqCst)) {
        return place;
    }
    let place: &'static MappedFile = Box::leak(Box::new(MappedFile {
        taken: AtomicBool::new(true),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
        message: AtomicPtr::new(null_mut()),
        next: AtomicPtr::new(null_mut()),
    }));
    let mut first = FIRST.load(SeqCst);
    loop {
        place.next.store(first, SeqCst);
        match FIRST.compare_exchange(first, std::ptr::from_ref(place).cast_mut(), SeqCst, SeqCst) {
            Ok(_) => return place,
            Err(now) => first = now,
        }
    }
}

fn places() -> impl Iterator<Item = &'static MappedFile> {
    // SAFETY: entries were leaked, so they stay valid.
    let place = |at: &AtomicPtr<MappedFile>| unsafe { at.load(SeqCst).as_ref() };
    std::iter::successors(place(&FIRST), move |before| place(&before.next))
}

impl MappedFile {
    /// Returns true if `address` is in the file.
    fn has(&self, address: usize) -> bool {
        let (start, end) = (self.start.load(SeqCst), self.end.load(SeqCst));
        // If another thread reuses the entry meanwhile, it does not contain the address.
        (start..end).contains(&address) && self.start.load(SeqCst) == start
    }

    /// Replaces the file by zeros from the page of `address` on. Returns true on success.
    fn lose(&self, address: usize, page_bytes: usize) -> bool {
        let first = address - address % page_bytes;
        // Set first, so that a thread that reads zeros and then asks gets the right answer.
        self.lost.store(true, SeqCst);
        let (bytes, flags) = (self.end.load(SeqCst).saturating_sub(first), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the pages are those of a mapping that a thread reads from, so it stays until it is unmapped as a
        // whole; it is never written to. The call is a plain system call.
        let mapped = unsafe {
            libc::mmap(
                first as *mut c_void,
                bytes,
                libc::PROT_READ,
                flags | libc::MAP_FIXED | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        mapped != libc::MAP_FAILED
    }
}

fn install() -> Installed {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
    let terminal = std::io::stderr().is_terminal();
    // SAFETY: both structures are plain data, for which zeros are valid; the handler has the signature that SA_SIGINFO
    // requires, and calls only what a signal handler may call.
    let before = unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut now: libc::sigaction = std::mem::zeroed();
        now.sa_sigaction = handler as *const () as usize;
        now.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut now.sa_mask);
        libc::sigaction(libc::SIGBUS, &now, &mut before);
        before
    };
    // SAFETY: the call takes no memory.
    let page_bytes = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
    Installed { before, terminal, page_bytes }
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let installed = INSTALLED.get();
    // SAFETY: the system passes a valid `info` to a handler with SA_SIGINFO. A code above 0 means that a memory access
    // caused the signal, so that there is an address.
    let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr() as usize) };
    if OUTLIVE.load(SeqCst)
        && let (Some(address), Some(installed)) = (address, installed)
        && places().find(|place| place.has(address)).is_some_and(|place| place.lose(address, installed.page_bytes))
    {
        return;
    }
    if let Some(place) = address.and_then(|address| places().find(|place| place.has(address))) {
        // SAFETY: see `Registration::drop`: the message stays valid while the file is read.
        let message = unsafe { place.message.load(SeqCst).as_ref() }.map_or("", String::as_str);
        if installed.is_some_and(|installed| installed.terminal) {
            // Begins on a new line after the progress line.
            write("\n");
        }
        write(message);
        // SAFETY: it ends the process without running any more of its code.
        unsafe { libc::_exit(EXIT_DAMAGE.into()) };
    }
    // SAFETY: the previous handler is called with the arguments it was installed for; if there was none, the default
    // action is restored and the signal comes again.
    unsafe {
        match installed.map(|installed| &installed.before) {
            Some(before) if ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) => {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        std::mem::transmute(before.sa_sigaction as *const ());
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction as *const ());
                    handler(signal);
                }
            }
            _ => {
                libc::signal(signal, libc::SIG_DFL);
                if address.is_none() {
                    // A process sent it, so it does not come again by itself.
                    libc::raise(signal);
                }
            }
        }
    }
}

/// Writes to standard error without taking a lock.
fn write(text: &str) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        // SAFETY: the bytes are those of a slice.
        let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written @ 1..) => rest = rest.get(written..).unwrap_or_default(),
            _ => return,
        }
    }
}
