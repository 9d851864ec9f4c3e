//! The engine as a WebAssembly module, for one rule set and board: it builds tables in memory,
//! probes positions, and solves positions above the tables.
//!
//! The module imports one function, the clock (`kalah.now`), and exports three. A host writes a
//! [`Request`](request::Request) as JSON into memory from [`kalah_allocate`] and passes it to
//! [`kalah_call`], which returns the answer as JSON. `js/kalah.mjs` is such a host.
//!
//! | module | contents |
//! |---|---|
//! | `request` | requests, and their answers |
//! | `session` | the tables, the book and the solver of one board |

mod request;
mod session;

use std::cell::RefCell;

use request::answer;
use session::Session;

/// State of the module, which has one thread.
#[derive(Default)]
struct State {
    session: Option<Session>,
    /// The last answer.
    reply: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Allocates `bytes` bytes for a request.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_allocate(bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; bytes].into_boxed_slice()).cast()
}

/// Answers the request of `bytes` bytes at `request`, and frees it. Returns the address of the
/// answer, which the next call overwrites.
///
/// # Safety
/// `request` must come from [`kalah_allocate`] with the same `bytes`, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kalah_call(request: *mut u8, bytes: usize) -> *const u8 {
    // SAFETY: the memory was allocated as such a slice, and the caller gives it up.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, bytes)) };
    STATE.with_borrow_mut(|State { session, reply }| {
        *reply = answer(session, &request);
        reply.as_ptr()
    })
}

/// Bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_reply_bytes() -> usize {
    STATE.with_borrow(|state| state.reply.len())
}
