// The course of a puzzle: which moves are right, and when it is solved.

import { sum } from "./game.js";
import { turnsOf } from "./tree.js";

/**
 * State of a puzzle: `open` before a move, `right` while right moves lead on, `unknown` until the value of the last
 * move is known, and the ends `wrong` and `solved`.
 * @typedef {"open" | "right" | "unknown" | "wrong" | "solved"} PuzzleState
 */

/** Returns the moves of a puzzle's line. @param {Puzzle} puzzle @param {number} pits */
const solutionOf = ({ line }, pits) => turnsOf(line, pits).flat();

/**
 * Returns whether a move of the solver kept the outcome; undefined if the value is not known.
 * @param {Puzzle} puzzle
 * @param {Reached} place
 * @param {Side} solver
 */
function keeps({ outcome }, place, solver) {
  const least = outcome === "win" ? 1 : 0;
  if (place.finished) {
    const [south, north] = place.board().stores;
    return (solver === "south" ? south - north : north - south) >= least;
  }
  const { value, lower, upper } = place.answer ?? {};
  const same = place.side === solver;
  const bounds = [value ?? lower, value ?? upper].map((bound) => (bound === undefined || same ? bound : -bound));
  const [low, high] = same ? bounds : bounds.toReversed();
  if (low !== undefined && low >= least) return true;
  return high !== undefined && high < least ? false : undefined;
}

/** Returns true if a side has won already, with more than half of the seeds. @param {Place} place @param {Side} side */
function decided(place, side) {
  const { stores, rows } = place.raw();
  return 2 * stores[side === "south" ? 0 : 1] > sum([...stores, ...rows.flat()]);
}

/**
 * Returns the state of a puzzle at a place: right are its move, the moves of its line, and later all moves that keep
 * the outcome. A win is complete with more than half of the seeds.
 * @param {Puzzle} puzzle
 * @param {Place} place
 * @returns {PuzzleState}
 */
export function stateOf(puzzle, place) {
  const { steps } = place;
  if (steps.length === 0) return "open";
  const solver = steps[0].before.side;
  const line = solutionOf(puzzle, steps[0].before.raw().rows[0].length);
  /** @type {PuzzleState} */
  let state = "right";
  let inLine = true;
  for (const [index, step] of steps.entries()) {
    inLine &&= step.by.move === line[index];
    if (inLine || step.before.side !== solver) continue;
    const holds = index > 0 && keeps(puzzle, step, solver);
    if (holds === false) return "wrong";
    // A value that is not proved counts for the solver.
    state = holds === undefined && step === place && !place.answer ? "unknown" : "right";
  }
  if (state === "unknown") return state;
  const complete = place.finished || (inLine && steps.length >= line.length);
  return complete || (puzzle.outcome === "win" && decided(place, solver)) ? "solved" : "right";
}

/**
 * Returns the reply of a puzzle's line at a place; undefined outside the line.
 * @param {Puzzle} puzzle
 * @param {Place} place
 */
export function replyOf(puzzle, place) {
  const line = solutionOf(puzzle, place.raw().rows[0].length);
  const { path } = place;
  return path.every((move, index) => move === line[index]) ? line[path.length] : undefined;
}
