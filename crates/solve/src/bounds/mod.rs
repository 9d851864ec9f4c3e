//! Proved bounds of positions, sorted: the contents of books, certificates and the jobs of proofs.

// | module | contents |
// |---|---|
// | `key` | the number of a position by which claims are sorted |
// | `block` | claims in compressed blocks with a list of them |

mod block;
mod key;

pub(crate) use block::take;
pub use block::{BLOCK_CLAIMS, BlockEntry, CodedClaim, ENTRY_BYTES, compressed, entries};
pub use key::{ClaimKeys, MAX_SEEDS};
