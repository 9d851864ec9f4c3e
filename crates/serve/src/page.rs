//! Files of the page, which are part of the program: nothing is loaded from elsewhere.

/// File of the page.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub path: &'static str,
    /// Media type.
    pub kind: &'static str,
    pub text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All files. `build.rs` joins the scripts into one.
pub(super) const FILES: [File; 8] = [
    File { path: "/", kind: HTML, text: include_str!("../web/page/index.html") },
    File { path: "/style.css", kind: CSS, text: include_str!("../web/page/style.css") },
    File { path: "/shell.css", kind: CSS, text: include_str!("../web/page/shell.css") },
    File { path: "/panel.css", kind: CSS, text: include_str!("../web/page/panel.css") },
    File { path: "/board.css", kind: CSS, text: include_str!("../web/page/board.css") },
    File { path: "/moves.css", kind: CSS, text: include_str!("../web/page/moves.css") },
    File { path: "/icon.svg", kind: "image/svg+xml", text: include_str!("../web/page/icon.svg") },
    File { path: "/page.js", kind: SCRIPT, text: include_str!(concat!(env!("OUT_DIR"), "/page.js")) },
];

/// Description of the API, as OpenAPI.
pub(super) const DESCRIPTION: &str = include_str!("openapi.json");
