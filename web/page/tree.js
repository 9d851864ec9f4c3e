// The lines of a game tree: their order, and changes of it. The first place after another is on its main line.

/** Rank of places outside the lines of a link. */
export const LAST = Number.MAX_SAFE_INTEGER;

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

/** Makes a place the first after the one before it. @param {Reached} place */
function lead(place) {
  const { after } = place.before;
  after.splice(after.indexOf(place), 1);
  after.unshift(place);
}

/** Makes the variation of a place the main line of the line that it leaves. @param {Place} place */
export function promote(place) {
  const fork = forks(place).at(-1);
  if (fork) lead(fork);
}

/** Makes the line of a place the main line of the game. @param {Place} place */
export function makeMain(place) {
  for (const fork of forks(place)) lead(fork);
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
