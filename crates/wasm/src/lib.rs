//! The engine as a WebAssembly module: it builds tables in memory, probes and solves positions, chooses moves, and
//! answers the requests of the HTTP API.
//!
//! The module imports one function, the clock (`kalah.now`), and exports four. A host writes a
//! [`Call`](request::Call) as JSON into memory from [`kalah_allocate`] and passes it to
//! [`kalah_call`], which returns the answer as JSON. `js/kalah.mjs` is such a host.
//!
//! Without its feature `engine`, this is the first module, which a page uses until the engine has loaded.
//!
//! No call waits for anything. A search goes on for a while in each call of `step`. A request that needs parts of
//! files on the host names them; the host repeats it once it has fetched these.
//!
//! | module | contents |
//! |---|---|
//! | `first` | requests that need no engine, and their answers |
//! | `request` | calls, and their answers |
//! | `engine` | the boards, their tables, built layer by layer, and books |
//! | `remote` | tables on the host, read in parts |
//! | `searching` | searches in steps |

#[cfg(feature = "engine")]
mod engine;
#[cfg(not(feature = "engine"))]
mod first;
#[cfg(feature = "engine")]
mod remote;
#[cfg(feature = "engine")]
mod request;
#[cfg(feature = "engine")]
mod searching;

use std::cell::RefCell;

/// State of the module, on the one thread that the host calls.
#[derive(Default)]
struct State {
    #[cfg(feature = "engine")]
    engine: Option<engine::Engine>,
    /// Bytes that belong to the next call.
    attached: Vec<u8>,
    /// The last answer.
    reply: String,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Allocates `bytes` bytes for a call.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_allocate(bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0u8; bytes].into_boxed_slice()).cast()
}

/// Attaches the `bytes` bytes at `attached` to the next call, and takes their memory.
///
/// # Safety
/// `attached` must come from [`kalah_allocate`] with the same `bytes`, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kalah_attach(attached: *mut u8, bytes: usize) {
    // SAFETY: the memory was allocated as such a slice, and the caller gives it up.
    let attached = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(attached, bytes)) };
    STATE.with_borrow_mut(|state| state.attached = attached.into_vec());
}

/// Answers the call of `bytes` bytes at `call`, and frees it. Returns the address of the
/// answer, which the next call overwrites.
///
/// # Safety
/// `call` must come from [`kalah_allocate`] with the same `bytes`, and must not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kalah_call(call: *mut u8, bytes: usize) -> *const u8 {
    // SAFETY: the memory was allocated as such a slice, and the caller gives it up.
    let call = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(call, bytes)) };
    STATE.with_borrow_mut(|state| {
        #[cfg(feature = "engine")]
        let reply = request::answer(&mut state.engine, &call, std::mem::take(&mut state.attached));
        #[cfg(not(feature = "engine"))]
        let reply = first::answer(&call);
        state.reply = reply;
        state.reply.as_ptr()
    })
}

/// Bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn kalah_reply_bytes() -> usize {
    STATE.with_borrow(|state| state.reply.len())
}
