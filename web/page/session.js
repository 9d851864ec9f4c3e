// State shared by all parts of the page: the game, its players, and running work.

import { SIDES } from "./game.js";
import { stateOf } from "./solution.js";

/**
 * Phases of a game: somebody looks at its moves; the shown place was reached by playing, so that a program continues
 * from it; seeds are moving; programs are paused; seeds are moving meanwhile.
 * @typedef {"browsing" | "playing" | "sowing" | "paused" | "stepping"} Phase
 */

/** Events: another game, another place, a move, its end, a request that a program moves, the pause button. */
const EVENTS = /** @type {const} */ (["open", "look", "move", "end", "go", "pause"]);

/**
 * The next phase after each event, in the order of `EVENTS`.
 * @type {Record<Phase, readonly [Phase, Phase, Phase, Phase, Phase, Phase]>}
 */
export const PHASES = {
  browsing: ["browsing", "browsing", "sowing", "browsing", "playing", "paused"],
  playing: ["browsing", "browsing", "sowing", "playing", "playing", "paused"],
  sowing: ["browsing", "browsing", "sowing", "playing", "playing", "paused"],
  paused: ["browsing", "paused", "stepping", "paused", "playing", "playing"],
  stepping: ["browsing", "paused", "stepping", "paused", "playing", "playing"],
};

export const now = {
  /** Description of the server. It and the game are set before anything is shown. @type {Server} */
  server: /** @type {any} */ (undefined),
  /** @type {Game} */
  game: /** @type {any} */ (undefined),
  /** Cancels requests for the previously shown place. */
  asking: new AbortController(),
  /** Number that changes with every step, so that results of earlier steps are ignored. */
  turn: 0,
  /** Side of the player at the bottom of the board, who sees the values. @type {Side} */
  bottom: "south",
  /** True if values are shown. */
  values: false,
  /** True while a link hides them. */
  isHidden: false,
  /** The course of the game. @type {Phase} */
  phase: "browsing",
  /** The move for which a better one is to be found. @type {Reached | undefined} */
  exercise: undefined,
  /** Place whose best moves are marked by a hint. @type {Place | undefined} */
  hinted: undefined,
  /** True during the lesson, whose games are not stored. */
  lesson: false,
  /** Time at which the last move was shown. */
  shownAt: 0,
};

/** Player of each side: `human` or the name of a program. @type {Record<Side, string>} */
export const players = { south: "human", north: "perfect" };

/** Enters the phase after an event. @param {typeof EVENTS[number]} event */
export function enter(event) {
  now.phase = PHASES[now.phase][EVENTS.indexOf(event)];
}

/** Returns true while seeds are moving. */
export const isSowing = () => now.phase === "sowing" || now.phase === "stepping";

/** Returns true while programs are paused. */
export const isPaused = () => now.phase === "paused" || now.phase === "stepping";

/** @param {Place} place */
export const isHuman = (place) => players[place.side] === "human";

/** Returns the side of the only person who plays; undefined if there are two or none. */
export const onlyPerson = () => {
  const sides = SIDES.filter((side) => players[side] === "human");
  return sides.length === 1 ? sides[0] : undefined;
};

/** Returns true if a puzzle is over at a place, so that nobody replies. @param {Place} place */
const isOver = (place) => now.game.puzzle && ["wrong", "solved"].includes(stateOf(now.game.puzzle, place));

/** @param {Place} place */
export const isProgram = (place) => !place.finished && !isHuman(place) && !isOver(place) && !now.exercise;

/** Returns true if a program moves here by itself, not while somebody browses the game. @param {Place} place */
export const goesOn = (place) =>
  isProgram(place) && !isPaused() && (now.phase !== "browsing" || place.after.length === 0);

/** Returns true if a person may sow now. */
export const mayPlay = () => {
  const { game, exercise } = now;
  const isWrong = game.puzzle && stateOf(game.puzzle, game.place) === "wrong";
  const isTried = exercise && game.place !== exercise.before;
  return !isSowing() && !game.place.finished && !goesOn(game.place) && !isWrong && !isTried;
};

/** Returns true if the other player may swap sides now, after the first turn. @param {Place} place */
export const mayExchange = (place) => {
  const { game } = now;
  return (
    game.pie === "open" &&
    place.before !== undefined &&
    !place.finished &&
    place.side !== game.root.side &&
    game.places.slice(0, game.at).every((before) => before.side === game.root.side)
  );
};

/** Stops running work for something new; returns the number of the new step. */
export function nextStep() {
  now.turn += 1;
  now.asking.abort();
  now.asking = new AbortController();
  return now.turn;
}
