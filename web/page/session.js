// State shared by all parts of the page: the game, its players, and running work.

import { SIDES } from "./game.js";
import { stateOf } from "./solution.js";

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
  /** True while seeds are moving. */
  sowing: false,
  /** True if the shown place was reached by playing, so that a program continues from it. */
  played: true,
  paused: false,
  /** The move for which a better one is to be found. @type {Reached | undefined} */
  exercise: undefined,
  /** Place whose best moves are marked by a hint. @type {Place | undefined} */
  hinted: undefined,
  /** Called after every change of the shown place, as in a lesson. @type {(() => void) | undefined} */
  watch: undefined,
  /** Time at which the last move was shown. */
  shownAt: 0,
};

/** Player of each side: `human` or the name of a program. @type {Record<Side, string>} */
export const players = { south: "human", north: "perfect" };

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
export const goesOn = (place) => isProgram(place) && !now.paused && (now.played || place.after.length === 0);

/** Returns true if a person may sow now. */
export const mayPlay = () => {
  const { game, sowing, exercise } = now;
  const isWrong = game.puzzle && stateOf(game.puzzle, game.place) === "wrong";
  const isTried = exercise && game.place !== exercise.before;
  return !sowing && !game.place.finished && !goesOn(game.place) && !isWrong && !isTried;
};

/** Returns true if values are shown. */
export const values = () => now.values;

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
