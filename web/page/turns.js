// Turns of a line: their numbers, and marks of bad moves.

import { mistake } from "./loss.js";

/** Minimum loss of a mistake that keeps the outcome, as a difference of the stores; as in `kalah review`. */
const MISTAKE = 8;

/** Returns `?!`, `?` or `??` for a bad move that led to a place, or an empty text. @param {Place} place */
export function mark(place) {
  const lost = mistake(place);
  if (!lost) return "";
  return lost.turns ? "??" : lost.seeds >= MISTAKE ? "?" : "?!";
}

/**
 * Returns the place before the turn in which a place was reached, and the number of turns before that.
 * @param {Place} place
 */
export function turnStart(place) {
  let turns = -1;
  let start = place;
  /** @type {Side | undefined} */
  let mover;
  for (const { before } of place.steps) {
    if (before.side === mover) continue;
    turns += 1;
    start = before;
    mover = before.side;
  }
  return { start, turns: Math.max(0, turns) };
}

/**
 * Divides a line from a place on into turns.
 * @param {Reached | undefined} first
 * @returns {Turn[]}
 */
export function turnsFrom(first) {
  if (!first) return [];
  const { start, turns: before } = turnStart(first);
  /** @type {Turn[]} */
  const turns = [];
  for (let place = /** @type {Reached | undefined} */ (first); place; place = place.after[0]) {
    let turn = turns.at(-1);
    if (!turn || turn.side !== place.before.side) {
      const index = before + turns.length;
      const { side } = place.before;
      turn = { number: Math.floor(index / 2) + 1, second: index % 2 === 1, side, prefix: [], places: [] };
      turns.push(turn);
    }
    turn.places.push(place);
  }
  turns[0].prefix = first.before.path.slice(start.path.length);
  return turns;
}

/** Returns the number before a turn: `3.`, or `3…` for the second side. @param {Turn} turn */
export const numberOf = ({ number, second, prefix }) => [`${number}${second ? "…" : "."}`, ...prefix].join(" ");

/** Returns variations that leave the main line at a turn: the first places of each. @param {Turn} turn */
export const variationsOf = ({ places }) =>
  places.flatMap((place) => (place.before.after[0] === place ? place.before.after.slice(1) : []));
