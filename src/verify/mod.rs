//! Proof that tables are right.
//!
//! | room | idea |
//! |---|---|
//! | [`judge`](Judge) | the rules once more, slowly, and the minimax of a position's children |
//! | [`checksums`](check_checksums) | every block and the digest of a file |
//! | [`consistency`](check_consistency) | every score, or a sample, against the judge |
//! | [`rebuild`](check_rebuild) | a layer computed again and compared bit for bit |

mod judge;

pub use judge::Judge;
