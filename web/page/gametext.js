// The dialog to copy and load games as text (docs/games.md).

import * as api from "./api.js";
import { annotated, divided, interpreted } from "./annotations.js";
import { ask } from "./dialogs.js";
import { click, fail, find, make } from "./elements.js";
import { read } from "./game.js";
import { fromFragment } from "./link.js";
import { now, players } from "./session.js";
import { turnsFrom } from "./tree.js";

/** Headers whose contents may have changed since a game was read. */
const GIVEN = ["South", "North", "Termination", "Pie"];

/** Start of the last game that was read. @type {GameStart} */
let game;

/** Listens to the buttons of the dialog. */
export function listenToGameText() {
  click("text-download", () => {
    const href = URL.createObjectURL(new Blob([find("text-text").value], { type: "text/plain" }));
    make("a", { href, download: "kalah.games" }).click();
    URL.revokeObjectURL(href);
  });

  find("text-dialog")
    .querySelector("form")
    ?.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        game = await gameOf(find("text-text").value, now.game.rules);
        find("text-dialog").close("ok");
      } catch (error) {
        find("text-error").textContent = error.message;
      }
    });
}

/** Returns what the server reads of a replay of Kaggle: the game's name, and all actions. @param {string} text */
function replayOf(text) {
  const [name] = /"openSpielGameName":\s*"\w+/.exec(text) ?? [];
  const [history] = /history=[\d:,]*/.exec(text.slice(text.lastIndexOf("history="))) ?? [];
  return name && history ? { bare: `{${name} ${history}`, words: [] } : undefined;
}

/**
 * Returns the start of a game in a text: a link of the page, or any form that the server reads, by `rules` if it names
 * none.
 * @param {string} text
 * @param {string} rules
 * @returns {Promise<GameStart>}
 */
export async function gameOf(text, rules) {
  const plain = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n").trim();
  const linked = fromFragment(/^\S+#(\S+)$/.exec(plain)?.[1] ?? "");
  if (linked.board) {
    return { ...linked, rules: linked.rules ?? "empty-capture", board: linked.board, puzzle: undefined };
  }
  const { bare, words } = replayOf(plain) ?? divided(plain);
  const { rules: named, board, moves, headers } = await api.readText(bare, rules);
  const { lines, comments } = interpreted(words, read(board).rows[0].length);
  return {
    rules: named,
    board,
    side: "south",
    moves,
    at: moves.length,
    also: lines,
    comments,
    headers: headers.filter(([name]) => !GIVEN.includes(name)),
    pie: headers.some(([name, value]) => name === "Pie" && value === "swapped") ? "swapped" : undefined,
  };
}

/**
 * Returns the header of the pie rule, for a game with it after the first turn.
 * @param {Game} game
 * @returns {Api.Header[]}
 */
function pieHeader({ pie, root }) {
  if (pie === "swapped") return [["Pie", "swapped"]];
  return pie && turnsFrom(root.after[0]).length > 1 ? [["Pie", "kept"]] : [];
}

/** Shows the main line as text, with its variations; resolves to the game to load instead, or undefined. */
export async function gameText() {
  find("text-error").textContent = "";
  find("text-text").value = "";
  const { root, rules, headers: given = [] } = now.game;
  const { south, north } = players;
  const [first, second] = root.side === "south" ? [south, north] : [north, south];
  const moves = turnsFrom(root.after[0]).flatMap(({ places }) => places.map((place) => place.by.move));
  /** @type {Api.Header[]} */
  const names = [["South", first], ["North", second]];
  const headers = [...names, ...given, ...pieHeader(now.game)];
  api
    .writeText({ board: root.literal, rules, moves, headers })
    .then(({ text }) => (find("text-text").value = annotated(text, root)))
    .catch(fail);
  if (!(await ask(find("text-dialog")))) return undefined;
  return game;
}
