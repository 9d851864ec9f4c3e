//! The files of the page, part of the program: nothing is loaded from elsewhere.

/// A file.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    pub text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! file {
    ($path:literal, $kind:ident, $file:literal) => {
        File { path: $path, kind: $kind, text: include_str!(concat!("page/", $file)) }
    };
}

/// All of them.
pub(super) const FILES: [File; 9] = [
    file!("/", HTML, "index.html"),
    file!("/style.css", CSS, "style.css"),
    file!("/app.js", SCRIPT, "app.js"),
    file!("/api.js", SCRIPT, "api.js"),
    file!("/board.js", SCRIPT, "board.js"),
    file!("/game.js", SCRIPT, "game.js"),
    file!("/graph.js", SCRIPT, "graph.js"),
    file!("/words.js", SCRIPT, "words.js"),
    file!("/editor.js", SCRIPT, "editor.js"),
];
