// Games for tests, with the moves of a small rule set of their own: a move whose number is in `again` moves again.

import { Game } from "../page/game.js";

/** Returns a game on a board of `pits` pits a side. @param {number} [pits] */
export const newGame = (pits = 6) => new Game("standard", literal(pits), "south");

/** @param {number} pits */
const literal = (pits) => `<${[pits, 0, 0, ...Array(2 * pits).fill(4)].join(",")}>`;

/**
 * Returns the steps of a line such as `3+ 5 2`, as the server describes them; `+` moves again.
 * @param {string} line
 * @param {number} [pits]
 */
export const steps = (line, pits = 6) =>
  line
    .split(" ")
    .filter(Boolean)
    .map((word) => ({
      move: Number.parseInt(word, 10),
      again: word.endsWith("+"),
      finished: false,
      next: literal(pits),
      sowing: [],
    }));

/** Plays a line from the shown place. @param {Game} game @param {string} line */
export function play(game, line) {
  for (const step of steps(line)) game.play(step);
  return game.place;
}

/** Returns the tree below a place as text: moves, and variations in brackets. @param {Place} place @returns {string} */
export function tree(place) {
  const [first, ...others] = place.after;
  if (!first) return "";
  const variations = others.map((next) => `[${[next.by.move, tree(next)].filter(Boolean).join(" ")}]`);
  return [first.by.move, ...variations, tree(first)].filter(Boolean).join(" ");
}

/** Sets the values of moves, and so of a place. @param {Place} place @param {Record<number, number>} values */
export function evaluate(place, values) {
  const value = Math.max(...Object.values(values));
  const moves = Object.entries(values).map(([move, value]) => ({ move: Number(move), value }));
  place.answer = /** @type {any} */ ({ known: "exact", value, moves, best: [] });
}
