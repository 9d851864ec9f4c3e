//! Mutated or random input: archives.
