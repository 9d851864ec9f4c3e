// The lines of a game tree: their order, changes of it, and their turns. The first place after another is on its main
// line.

/**
 * Returns the last places of all lines. Lines that are added in this order to an empty tree give the same tree.
 * @param {Place} root
 */
export function ends(root) {
  /** @type {Place[]} */
  const found = [];
  const open = [root];
  for (let place = open.pop(); place; place = open.pop()) {
    if (place.after.length === 0) found.push(place);
    open.push(...place.after.toReversed());
  }
  return found;
}

/** Returns the places on the way to `place` where its line leaves another one. @param {Place} place */
export const forks = (place) => place.steps.filter((step) => step.before.after[0] !== step);

/** Makes the variation of a place the main line of the line that it leaves. @param {Place} place */
export function promote(place) {
  const fork = forks(place).at(-1);
  if (!fork) return;
  const { after } = fork.before;
  after.splice(after.indexOf(fork), 1);
  after.unshift(fork);
}

/**
 * Removes a place and all that follow it. `restore` undoes this.
 * @param {Reached} place
 * @returns {Removed}
 */
export function remove(place) {
  const { after } = place.before;
  const index = after.indexOf(place);
  after.splice(index, 1);
  if (place.before.chosen === place) place.before.chosen = after[0];
  return { place, index };
}

/** @param {Removed} removed */
export function restore({ place, index }) {
  place.before.after.splice(index, 0, place);
  place.before.chosen ??= place;
}

/**
 * Returns the moves of the turns of a line such as `36 21 4`, or `11,3 2` with commas. On boards of more than nine pits
 * a side, a turn without a comma is one move.
 * @param {string} text
 * @param {number} pits
 */
export function turnsOf(text, pits) {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((turn) => (turn.includes(",") || pits > 9 ? turn.split(",").filter(Boolean) : [...turn]).map(Number));
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
