// Four scores (or residuals) in a word, processed at once. All are below 128.

const HIGH_BITS: u32 = 0x80808080u;

// The greater of each two scores.
fn max4(a: u32, b: u32) -> u32 {
    // No lane borrows from the next. Its high bit remains where a >= b; there the other bits are a
    // - b.
    let difference = (a | HIGH_BITS) - b;
    let greater = difference & HIGH_BITS;
    return b + (difference & (greater - (greater >> 7u)));
}

// The smaller of each two scores.
fn min4(a: u32, b: u32) -> u32 {
    return a + b - max4(a, b);
}

// HIGH_BITS of the lanes in which a is at least b; b may be 128 there.
fn at_least4(a: u32, b: u32) -> u32 {
    return ((a | HIGH_BITS) - b) & HIGH_BITS;
}

// The same score in all lanes.
fn splat4(score: u32) -> u32 {
    return score * 0x01010101u;
}
