// Positions and moves by the rules: rows are arrays of seeds in their owner's sowing order, the mover is South.

/** @param {number[]} row */
const sum = (row) => row.reduce((total, seeds) => total + seeds, 0);

/** Error of a request, with the code of the server's errors. */
export class Wrong extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** @param {string} text */
const shape = (text) =>
  new Wrong(
    400,
    "board",
    `'${text}' is not a position: write a start such as 6x4, two rows such as 0,0,1,0,2,1/1,0,0,3,0,0, ` +
      "or <m,S,N,s1..sm,n1..nm>",
  );

/** Reads a position. @param {string} text @returns {Position} */
export function parse(text) {
  /** @param {string} part */
  const numbers = (part) => {
    const given = part.split(",").map((number) => (/^\s*\d{1,6}\s*$/.test(number) ? Number(number) : NaN));
    if (given.some(Number.isNaN)) throw shape(text);
    return given;
  };
  /** @type {Position} */
  let position;
  const trimmed = text.trim();
  const start = /^(\d+)[xX](\d+)$/.exec(trimmed);
  if (/^<.*>$/.test(trimmed)) {
    const [pits, own, others, ...seeds] = numbers(trimmed.slice(1, -1));
    if (seeds.length !== 2 * pits) throw shape(text);
    position = { mover: seeds.slice(0, pits), other: seeds.slice(pits), stores: [own, others] };
  } else if (trimmed.includes("/")) {
    const [mover, other] = trimmed.split("/").map(numbers);
    position = { mover, other, stores: [0, 0] };
  } else if (start) {
    const row = Array(Math.min(17, Number(start[1]))).fill(Number(start[2]));
    position = { mover: row, other: [...row], stores: [0, 0] };
  } else {
    throw shape(text);
  }
  const pits = position.mover.length;
  if (pits < 1 || pits > 16 || position.other.length !== pits || seeds(position) > 400) throw shape(text);
  return position;
}

/** Returns the literal of a position. @param {Position} position */
export const literal = ({ mover, other, stores }) => `<${[mover.length, ...stores, ...mover, ...other].join(",")}>`;

/** Returns the seeds in play. @param {Position} position */
export const seeds = ({ mover, other }) => sum(mover) + sum(other);

/** @param {Position} position */
export const isOver = ({ mover, other }) => sum(mover) === 0 || sum(other) === 0;

/**
 * Returns the final store difference for the mover who collects `score` of the seeds in play.
 * @param {Position} position
 * @param {number} score
 */
export const value = (position, score) => 2 * score - seeds(position) + position.stores[0] - position.stores[1];

/** Returns the legal moves, as numbers from 1. @param {Position} position */
export const moves = ({ mover, other }) =>
  sum(other) === 0 ? [] : mover.flatMap((seeds, pit) => (seeds > 0 ? [pit + 1] : []));

/**
 * Plays a move. Returns the position after it, `again` if the same player moves again, and its effects, with places
 * from 1: the mover's pits, the store, the other pits.
 * @param {Rules} rules
 * @param {Position} position
 * @param {number} number
 * @returns {Played}
 */
export function play(rules, { mover, other, stores }, number) {
  const pits = mover.length;
  const store = pits + 1;
  const places = [0, ...mover, stores[0], ...other];
  if (!(number >= 1 && number <= pits)) throw new Wrong(400, "line", `moves are numbers from 1 to ${pits}`);
  if (!places[number]) throw new Wrong(400, "line", `move ${number} is not legal: the pit holds no seeds`);
  const sowing = [];
  /** @type {number[]} */
  const captured = [];
  let last = 0;
  for (let place = number; ; ) {
    const from = place;
    const drops = [];
    let hand = places[from];
    for (places[from] = 0; hand > 0; hand -= 1) {
      place = place === 2 * pits + 1 ? 1 : place + 1;
      places[place] += 1;
      drops.push(place);
    }
    sowing.push({ from, drops });
    last = place;
    if (place === store) break;
    const wasEmpty = places[place] === 1;
    if (!wasEmpty && rules.relays) continue;
    const opposite = 2 * store - place;
    const captures = rules.capture === "always" || (rules.capture === "opposite" && places[opposite] > 0);
    if (wasEmpty && place < store && captures) captured.push(...(places[opposite] > 0 ? [place, opposite] : [place]));
    break;
  }
  for (const place of captured) {
    places[store] += places[place];
    places[place] = 0;
  }
  const own = { mover: places.slice(1, store), other: places.slice(store + 1), stores: [places[store], stores[1]] };
  const turned = { mover: own.other, other: own.mover, stores: [own.stores[1], own.stores[0]] };
  const again = rules.again && last === store && !isOver(own);
  return { position: again ? own : turned, again, sowing, captured };
}

/**
 * Returns the turns of a line. A move that gives another one is followed by a move of the same turn.
 * @param {{ move: number, again: boolean }[]} line
 */
export function turnsOf(line) {
  /** @type {number[][]} */
  const turns = [];
  for (const [index, { move }] of line.entries()) {
    if (line[index - 1]?.again) turns[turns.length - 1].push(move);
    else turns.push([move]);
  }
  return turns;
}

/**
 * Returns the seeds of both sides at the end, the mover's and the other's, including those in the rows.
 * @param {Position} position
 */
export const final = ({ mover, other, stores }) => [stores[0] + sum(mover), stores[1] + sum(other)];

/**
 * Runs a depth-limited search by the stores. Returns the value for the mover, and a best move if there are moves.
 * @param {Rules} rules
 * @param {Position} position
 * @param {number} depth
 * @returns {{ value: number, move?: number }}
 */
export function search(rules, position, depth, lower = -Infinity, upper = Infinity) {
  if (isOver(position)) {
    const [own, others] = final(position);
    return { value: own - others };
  }
  if (depth === 0) return { value: position.stores[0] - position.stores[1] };
  /** @type {{ value: number, move?: number }} */
  let best = { value: -Infinity };
  for (const move of moves(position).reverse()) {
    const played = play(rules, position, move);
    const from = Math.max(lower, best.value);
    const after = played.again
      ? search(rules, played.position, depth - 1, from, upper).value
      : -search(rules, played.position, depth - 1, -upper, -from).value;
    if (after > best.value) best = { value: after, move };
    if (best.value >= upper) break;
  }
  return best;
}
