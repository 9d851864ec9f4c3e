//! What to say when a mapped file becomes shorter: the mapped files, in a form that a signal handler may read, without locks,
//! and without memory taken or given back.

use std::ffi::{c_int, c_void};
use std::io::IsTerminal;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

use super::error::{Damage, TableError};

/// A place of the list of mapped files. Places are used again, and never given back.
struct Place {
    taken: AtomicBool,
    start: AtomicUsize,
    /// 0 while there is no file here.
    end: AtomicUsize,
    /// What to say of the file.
    message: AtomicPtr<String>,
    next: AtomicPtr<Place>,
}

static FIRST: AtomicPtr<Place> = AtomicPtr::new(null_mut());

/// What is to be done about such errors.
struct Installed {
    /// What handled the signal before.
    before: libc::sigaction,
    /// Whether a person reads the messages.
    terminal: bool,
    exit_code: c_int,
}

static INSTALLED: OnceLock<Installed> = OnceLock::new();

/// How the damage of a file is told.
static DESCRIBE: OnceLock<fn(&TableError) -> String> = OnceLock::new();

/// Has the program say which table is to blame when it is ended because the file of an open table became shorter or could not
/// be read, and exit with code `exit_code`; otherwise it is ended by the signal SIGBUS without a word.
///
/// `describe` makes the message, with its line feed, when a table is opened: to be called once, before that, by a program that
/// wants this. Errors on other memory are left to the handler that there was before.
pub fn report_bus_errors(exit_code: i32, describe: fn(&TableError) -> String) {
    DESCRIBE.get_or_init(|| describe);
    INSTALLED.get_or_init(|| install(exit_code));
}

/// A mapped file in the list, until it is dropped.
pub struct Registration(&'static Place);

impl Registration {
    /// Puts a file in the list that is mapped to `map`.
    pub fn new(map: &[u8], path: &Path) -> Registration {
        let place = free_place();
        if let Some(describe) = DESCRIBE.get() {
            let message = describe(&TableError::damaged(path, Damage::Shrunk));
            place.message.store(Box::into_raw(Box::new(message)), SeqCst);
        }
        let start = map.as_ptr() as usize;
        place.start.store(start, SeqCst);
        place.end.store(start + map.len(), SeqCst);
        Registration(place)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.0.end.store(0, SeqCst);
        let message = self.0.message.swap(null_mut(), SeqCst);
        if !message.is_null() {
            // SAFETY: it came from `Box::into_raw`, and only who takes it out of its place frees it. The handler reads
            // the message of a file only while a thread reads from that file, which is not dropped then.
            drop(unsafe { Box::from_raw(message) });
        }
        self.0.taken.store(false, SeqCst);
    }
}

/// A place that nobody has, of those that there are or a new one.
fn free_place() -> &'static Place {
    if let Some(place) = places().find(|place| !place.taken.swap(true, SeqCst)) {
        return place;
    }
    let place: &'static Place = Box::leak(Box::new(Place {
        taken: AtomicBool::new(true),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
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

fn places() -> impl Iterator<Item = &'static Place> {
    // SAFETY: what the list holds was leaked, so it stays.
    let place = |at: &AtomicPtr<Place>| unsafe { at.load(SeqCst).as_ref() };
    std::iter::successors(place(&FIRST), move |before| place(&before.next))
}

impl Place {
    /// Whether `address` is in the file.
    fn has(&self, address: usize) -> bool {
        let (start, end) = (self.start.load(SeqCst), self.end.load(SeqCst));
        // A place that another thread just gives to another file is not the one.
        (start..end).contains(&address) && self.start.load(SeqCst) == start
    }
}

fn install(exit_code: c_int) -> Installed {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
    let terminal = std::io::stderr().is_terminal();
    // SAFETY: both structures are plain data, for which zeros are sound; the handler has the signature that
    // SA_SIGINFO asks for and calls only what a signal handler may.
    let before = unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let mut now: libc::sigaction = std::mem::zeroed();
        now.sa_sigaction = handler as *const () as usize;
        now.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut now.sa_mask);
        libc::sigaction(libc::SIGBUS, &now, &mut before);
        before
    };
    Installed { before, terminal, exit_code }
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let installed = INSTALLED.get();
    // SAFETY: the system hands a sound `info` to a handler with SA_SIGINFO. A code above 0 says that the signal came
    // from memory, and has an address.
    let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr() as usize) };
    if let Some(place) = address.and_then(|address| places().find(|place| place.has(address))) {
        // SAFETY: see `Registration::drop`: the message stays while the file is read from.
        let message = unsafe { place.message.load(SeqCst).as_ref() }.map_or("", String::as_str);
        if installed.is_some_and(|installed| installed.terminal) {
            // Behind a line of progress.
            write("\n");
        }
        write(message);
        // SAFETY: it ends the process and runs nothing of it.
        unsafe { libc::_exit(installed.map_or(1, |installed| installed.exit_code)) };
    }
    // SAFETY: what was installed before is called as it was installed; without a handler the signal comes again, and
    // does what it does without one.
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
                    // Sent by somebody, so it does not come again by itself.
                    libc::raise(signal);
                }
            }
        }
    }
}

/// Writes to the standard error output, past all locks.
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
