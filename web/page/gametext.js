// The dialog to copy and load games as text (docs/games.md).

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { find } from "./find.js";

/** Headers whose contents may have changed since a game was read. */
const GIVEN = ["South", "North", "Termination", "Pie"];

find("text-download").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([find("text-text").value], { type: "text/plain" }));
  link.download = "kalah.games";
  link.click();
  URL.revokeObjectURL(link.href);
});

find("text-dialog")
  .querySelector("form")
  ?.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      game = await api.readText(find("text-text").value);
      find("text-dialog").close("ok");
    } catch (error) {
      find("text-error").textContent = error.message;
    }
  });

/** Last game that was read. @type {Api.GameRead} */
let game;

/** Returns the beginning of a game that was read. @param {Api.GameRead} read @returns {Beginning} */
function loaded({ rules, board, moves, comments = [], headers }) {
  return {
    rules,
    board,
    side: "south",
    moves,
    at: moves.length,
    comments: comments.map(({ after, text }) => ({ path: moves.slice(0, after), text })),
    headers: headers.filter(([name]) => !GIVEN.includes(name)),
  };
}

/**
 * Shows a game as text; resolves to the game to load instead, or undefined.
 * @param {Game} shown
 * @param {Record<Side, string>} players
 * @param {(error: Error) => void} fail
 */
export async function gameText(shown, players, fail) {
  find("text-error").textContent = "";
  find("text-text").value = "";
  const { literal } = shown.root;
  const { south, north } = players;
  const [first, second] = shown.root.side === "south" ? [south, north] : [north, south];
  const comments = shown.places.flatMap(({ comment }, after) => (comment ? [{ after, text: comment }] : []));
  const { rules, moves, headers } = shown;
  const asked = { board: literal, rules, moves, south: first, north: second, comments, headers };
  api
    .writeText(asked)
    .then(({ text }) => (find("text-text").value = text))
    .catch(fail);
  if (!(await ask(find("text-dialog")))) return undefined;
  return loaded(game);
}
