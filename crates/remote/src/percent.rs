/// Escapes all bytes of a path except letters, digits, `-`, `.`, `_`, `~` and `/`.
pub(crate) fn escaped(path: &str) -> String {
    escaped_except(path, |byte| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte))
}

/// Escapes the bytes that no URL can have, such as spaces. Escapes stay as they are.
pub(crate) fn plain(path: &str) -> String {
    escaped_except(path, |byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}

fn escaped_except(path: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let escape = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}

/// Replaces escapes such as `%20`.
pub(crate) fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escape = after.get(..2).filter(|_| first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match escape.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_replaced() {
        assert_eq!(escaped("/a=b c/ü"), "/a%3Db%20c/%C3%BC");
        for text in ["/a=b c/ü", "100%", "%zz%2", ""] {
            assert_eq!(unescaped(&escaped(text)), text);
        }
        assert_eq!(unescaped("100%"), "100%");
    }
}
