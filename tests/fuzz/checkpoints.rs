//! Mutated or random input: checkpoints.
