// Forms of games from elsewhere: links of the page, moves as letters, and lists of actions.

import { fromFragment } from "./link.js";

/** Letters of the pits: `A` to `F` of the side that begins, `a` to `f` of the other, or either for both. */
const LETTERS = /^[A-Fa-f](?:[\s,]*[A-Fa-f])+$/;

/** A list of actions of OpenSpiel's mancala: pits 1 to 6 and 8 to 13 around the board, between the stores 7 and 0. */
const ACTIONS = /^\[?\d{1,2}(?:\s*,\s*\d{1,2})+\]?$/;

/**
 * Returns the start of a game in one of these forms, under the given rules; undefined for other texts.
 * @param {string} text
 * @param {string} rules
 * @returns {Beginning | undefined}
 */
export function imported(text, rules) {
  const words = text.replace(/^\uFEFF/, "").trim();
  const link = /^\S+#(\S+)$/.exec(words);
  const linked = link && fromFragment(link[1]);
  if (linked?.board) {
    return { ...linked, rules: linked.rules ?? "empty-capture", board: linked.board, puzzle: undefined };
  }
  const moves = LETTERS.test(words)
    ? [...words.toLowerCase().replaceAll(/[^a-f]/g, "")].map((letter) => letter.charCodeAt(0) - 96)
    : ACTIONS.test(words)
      ? (words.match(/\d+/g) ?? []).map((action) => (Number(action) > 7 ? Number(action) - 7 : Number(action)))
      : undefined;
  return moves && { rules, board: "6x4", side: "south", moves, at: moves.length };
}
