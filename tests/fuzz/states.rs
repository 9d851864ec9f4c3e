//! Mutated or random input: states.
