use std::io::{self, ErrorKind};
use std::path::Path;

use memmap2::Mmap;

use crate::file;

/// Memory that a table is read from: a mapped file, or a copy of one.
///
/// A file that becomes shorter while it is mapped leaves pages that nothing can be read from: the system ends the program
/// with the signal SIGBUS. Mapped files are registered, so that [`report_bus_errors`] can name the one to blame.
pub(super) struct Mapping {
    #[cfg(unix)]
    registration: Option<bus_errors::Registration>,
    map: Mmap,
}

impl Mapping {
    /// Maps the table file at `path`.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Mapping> {
        let file = file::open(path)?;
        // SAFETY: finished tables are never written to again, only replaced by renaming. Another program that changes the
        // file under us is outside what a mapping can guard against; of one that truncates it see above.
        let map = unsafe { Mmap::map(&file) }.map_err(|error| {
            let bytes = file.metadata().map_or(0, |metadata| metadata.len());
            out_of_memory(error, bytes)
        })?;
        #[cfg(unix)]
        let registration = Some(bus_errors::Registration::new(&map, path));
        Ok(Mapping {
            #[cfg(unix)]
            registration,
            map,
        })
    }

    /// Memory that no file is mapped to.
    pub fn of_memory(map: Mmap) -> Mapping {
        Mapping {
            #[cfg(unix)]
            registration: None,
            map,
        }
    }
}

impl std::ops::Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

#[cfg(unix)]
impl Drop for Mapping {
    fn drop(&mut self) {
        // Before the memory is given back, and perhaps taken by somebody else.
        self.registration = None;
    }
}

/// The error of a mapping of `bytes` bytes; of one without memory it tells what there is not enough of.
fn out_of_memory(error: io::Error, bytes: u64) -> io::Error {
    #[cfg(unix)]
    let is_memory = error.raw_os_error() == Some(libc::ENOMEM);
    #[cfg(not(unix))]
    let is_memory = error.kind() == ErrorKind::OutOfMemory;
    if !is_memory {
        return error;
    }
    let needed = indicatif::HumanBytes(bytes);
    let text = format!("{error}: mapping it takes {needed} of address space (`ulimit -v` tells the limit)");
    io::Error::new(ErrorKind::OutOfMemory, text)
}

/// Has the program say which table is to blame when it is ended because the file of an open table became shorter or could not be
/// read, and exit with code 3; otherwise it is ended by the signal SIGBUS without a word.
///
/// To be called once, by a program that wants this; errors on other memory are left to the handler that there was before.
/// On systems without such signals nothing happens.
pub fn report_bus_errors() {
    #[cfg(unix)]
    bus_errors::install();
}

/// The mapped files, in a form that a signal handler may read: no locks, no memory taken or given back.
#[cfg(unix)]
mod bus_errors {
    use std::ffi::{c_int, c_void};
    use std::io::IsTerminal;
    use std::path::Path;
    use std::ptr::null_mut;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};

    use crate::table::{Damage, TableError};

    /// The exit code of a program that found damage.
    const EXIT_DAMAGE: c_int = 3;

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

    /// What handled the signal before, and whether a person reads the messages.
    static BEFORE: OnceLock<(libc::sigaction, bool)> = OnceLock::new();

    /// A mapped file in the list, until it is dropped.
    pub struct Registration(&'static Place);

    impl Registration {
        /// Puts a file in the list that is mapped to `map`.
        pub fn new(map: &[u8], path: &Path) -> Registration {
            let place = free_place();
            let error = TableError::damaged(path, Damage::Shrunk);
            place.message.store(
                Box::into_raw(Box::new(format!(
                    "kalah: {error}; put it back, or delete it: `kalah build` makes it again\n"
                ))),
                SeqCst,
            );
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

    pub fn install() {
        BEFORE.get_or_init(|| {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_bus_error;
            // SAFETY: both structures are plain data, for which zeros are sound; the handler has the signature that
            // SA_SIGINFO asks for and calls only what a signal handler may.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                let mut now: libc::sigaction = std::mem::zeroed();
                now.sa_sigaction = handler as *const () as usize;
                now.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut now.sa_mask);
                libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before);
                let known = (before, std::io::stderr().is_terminal());
                libc::sigaction(libc::SIGBUS, &now, null_mut());
                known
            }
        });
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let (before, terminal) = BEFORE.get().map_or((None, false), |(before, terminal)| (Some(before), *terminal));
        // SAFETY: the system hands a sound `info` to a handler with SA_SIGINFO. A code above 0 says that the signal came
        // from memory, and has an address.
        let address = unsafe { ((*info).si_code > 0).then(|| (*info).si_addr() as usize) };
        if let Some(place) = address.and_then(|address| places().find(|place| place.has(address))) {
            // SAFETY: see `Registration::drop`: the message stays while the file is read from.
            let message = unsafe { place.message.load(SeqCst).as_ref() }.map_or("", String::as_str);
            if terminal {
                // Behind a line of progress.
                write("\n");
            }
            write(message);
            // SAFETY: it ends the process and runs nothing of it.
            unsafe { libc::_exit(EXIT_DAMAGE) };
        }
        // SAFETY: what was installed before is called as it was installed; without a handler the signal comes again, and
        // does what it does without one.
        unsafe {
            match before {
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
}
