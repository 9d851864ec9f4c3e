// What all parts of the page share: the game that is on, who plays it, and what is going on.

import { find } from "./find.js";
import { SIDES } from "./game.js";

export const now = {
  /** What the server can do. This and the game are there before anything is shown. @type {Server} */
  server: /** @type {any} */ (undefined),
  /** @type {Game} */
  game: /** @type {any} */ (undefined),
  /** Ends what is asked of the server for the place that was shown before. */
  asking: new AbortController(),
  /** A number that changes with every step: what began earlier has nothing to say any more. */
  turn: 0,
  /** Whether seeds are moving. */
  sowing: false,
  /** Whether the shown place was reached by playing, so that a program goes on from it. */
  played: true,
  paused: false,
  /** When the last move was shown. */
  shownAt: 0,
};

/** Who plays each side: `human` or the name of a program. @type {Record<Side, string>} */
export const players = { south: "human", north: "perfect" };

/** @param {Place} place */
export const isHuman = (place) => players[place.side] === "human";

/** The side of the only person who plays; undefined if there are two or none. */
export const onlyPerson = () => {
  const sides = SIDES.filter((side) => players[side] === "human");
  return sides.length === 1 ? sides[0] : undefined;
};

/** @param {Place} place */
export const isProgram = (place) => !place.finished && !isHuman(place);

/** Whether a program moves here by itself: not where somebody only looks at a game. @param {Place} place */
export const goesOn = (place) => isProgram(place) && !now.paused && (now.played || place.after.length === 0);

/** Whether a person may sow now. */
export const mayPlay = () => !now.sowing && !now.game.place.finished && !goesOn(now.game.place);

/** Whether values are shown. */
export const values = () => find("values").checked;

/** Whether the other side may exchange the sides now: after the first turn. @param {Place} place */
export const mayExchange = (place) => {
  const { game } = now;
  return game.pie === "open" && place.before !== undefined && !place.finished && place.side !== game.root.side &&
    game.places.slice(0, game.at).every((before) => before.side === game.root.side);
};

/** Stops what was going on, for something new; returns the number of the new step. */
export function begun() {
  now.turn += 1;
  now.asking.abort();
  now.asking = new AbortController();
  return now.turn;
}
