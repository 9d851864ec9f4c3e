//! Untrusted text on a terminal.

use kalah::printable::printable;

#[test]
fn what_shows_itself_is_kept_and_the_rest_is_escaped() {
    for text in ["", "plain", "Grüße, 你好 👋", "e\u{301} \\ \"quoted\" 'and'", "<6,0,0,4,4>"] {
        assert_eq!(printable(text, 100), text);
    }
    for (text, shown) in [
        ("\u{1b}[31mred", r"\u{1b}[31mred"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\0\u{7}\u{8}\u{7f}", r"\u{0}\u{7}\u{8}\u{7f}"),
        ("\u{80}\u{85}\u{9b}\u{9f}", r"\u{80}\u{85}\u{9b}\u{9f}"),
        ("\u{202a}\u{202e}\u{2066}\u{2069}", r"\u{202a}\u{202e}\u{2066}\u{2069}"),
        ("\u{2028}\u{2029}\u{200b}\u{feff}", r"\u{2028}\u{2029}\u{200b}\u{feff}"),
    ] {
        assert_eq!(printable(text, 100), shown);
    }
    for sign in (0..=0x10ffff).filter_map(char::from_u32).filter(|sign| sign.is_control()) {
        assert!(!printable(&sign.to_string(), 100).contains(sign));
    }
}

#[test]
fn long_texts_are_cut() {
    assert_eq!(printable("12345", 5), "12345");
    assert_eq!(printable("123456", 5), "12...");
    assert_eq!(printable("ä\u{1b}ö", 6), "ä...");
    assert_eq!(printable("äöüäöü", 4), "ä...");
    assert_eq!(printable("1234", 3), "...");
    assert_eq!(printable("1234", 1), ".");
    assert_eq!(printable("1234", 0), "");
    let long = printable(&"\u{1b}x".repeat(100_000), 200);
    assert!(long.chars().count() <= 200 && long.ends_with("x..."), "{long}");
}
