//! Mutated or random input: http.
