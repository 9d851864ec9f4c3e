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
pub(super) const FILES: [File; 30] = [
    file!("/", HTML, "index.html"),
    file!("/style.css", CSS, "style.css"),
    file!("/board.css", CSS, "board.css"),
    file!("/analysis.js", SCRIPT, "analysis.js"),
    file!("/api.js", SCRIPT, "api.js"),
    file!("/app.js", SCRIPT, "app.js"),
    file!("/board.js", SCRIPT, "board.js"),
    file!("/dialogs.js", SCRIPT, "dialogs.js"),
    file!("/editor.js", SCRIPT, "editor.js"),
    file!("/game.js", SCRIPT, "game.js"),
    file!("/gametext.js", SCRIPT, "gametext.js"),
    file!("/graph.js", SCRIPT, "graph.js"),
    file!("/keys.js", SCRIPT, "keys.js"),
    file!("/layout.js", SCRIPT, "layout.js"),
    file!("/line.js", SCRIPT, "line.js"),
    file!("/link.js", SCRIPT, "link.js"),
    file!("/machine.js", SCRIPT, "machine.js"),
    file!("/moves.js", SCRIPT, "moves.js"),
    file!("/pace.js", SCRIPT, "pace.js"),
    file!("/players.js", SCRIPT, "players.js"),
    file!("/preferences.js", SCRIPT, "preferences.js"),
    file!("/puzzle.js", SCRIPT, "puzzle.js"),
    file!("/report.js", SCRIPT, "report.js"),
    file!("/rules.js", SCRIPT, "rules.js"),
    file!("/seeds.js", SCRIPT, "seeds.js"),
    file!("/settings.js", SCRIPT, "settings.js"),
    file!("/sound.js", SCRIPT, "sound.js"),
    file!("/sow.js", SCRIPT, "sow.js"),
    file!("/texts.js", SCRIPT, "texts.js"),
    file!("/words.js", SCRIPT, "words.js"),
];
