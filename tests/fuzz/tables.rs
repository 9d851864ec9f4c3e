//! Mutated or random input: tables.
