//! Numbers in LEB128: groups of 7 bits, lowest first, each but the last with its highest bit set.

/// Appends a number.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Removes a number below 2^126 from the front; `None` unless it has the shortest form.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..126).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (byte > 0 || shift == 0).then_some(number);
        }
    }
    None
}
