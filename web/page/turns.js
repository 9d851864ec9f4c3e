// Turns of a line, and their numbers.

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
 * Divides a line from a place on into turns: the main line from there.
 * @param {Reached | undefined} first
 */
export function turnsFrom(first) {
  /** @type {Reached[]} */
  const places = [];
  for (let place = first; place; place = place.after[0]) places.push(place);
  return turnsAmong(places);
}

/** Divides places that follow each other into turns. @param {Reached[]} places @returns {Turn[]} */
export function turnsAmong(places) {
  if (places.length === 0) return [];
  const { start, turns: before } = turnStart(places[0]);
  /** @type {Turn[]} */
  const turns = [];
  for (const place of places) {
    let turn = turns.at(-1);
    if (!turn || turn.side !== place.before.side) {
      const index = before + turns.length;
      const { side } = place.before;
      turn = { number: Math.floor(index / 2) + 1, second: index % 2 === 1, side, prefix: [], places: [] };
      turns.push(turn);
    }
    turn.places.push(place);
  }
  turns[0].prefix = places[0].before.path.slice(start.path.length);
  return turns;
}

/** Returns the number before a turn: `3.`, or `3…` for the second side. @param {Turn} turn */
export const numberOf = ({ number, second, prefix }) => [`${number}${second ? "…" : "."}`, ...prefix].join(" ");

/** Returns variations that leave the main line at a turn: the first places of each. @param {Turn} turn */
export const variationsOf = ({ places }) =>
  places.flatMap((place) => (place.before.after[0] === place ? place.before.after.slice(1) : []));
