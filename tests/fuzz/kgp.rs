//! Mutated or random input: kgp.
