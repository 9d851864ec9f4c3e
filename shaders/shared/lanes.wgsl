// Four scores in a word, computed with all at once. All are below 128.

const HIGH_BITS: u32 = 0x80808080u;

// Of each two scores the greater one.
fn max4(a: u32, b: u32) -> u32 {
    // No lane borrows from the next; its high bit remains where a >= b, and the others are a - b then.
    let difference = (a | HIGH_BITS) - b;
    let greater = difference & HIGH_BITS;
    return b + (difference & (greater - (greater >> 7u)));
}

// The same score in all lanes.
fn splat4(score: u32) -> u32 {
    return score * 0x01010101u;
}
