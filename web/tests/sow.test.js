// The animation of a move: its length, and the board at its end, on fast and slow devices.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { settings } from "../page/settings.js";
import { sow } from "../page/sow.js";

/**
 * Returns the sowings of a move with relays: the last seed in a pit with seeds takes all of them up.
 * @param {number[][]} rows
 * @param {number} pit
 */
function relay(rows, pit) {
  const pits = rows[0].length;
  const board = [...rows[0], 0, ...rows[1]];
  /** @type {Api.Lift[]} */
  const sowing = [];
  let place = pit;
  do {
    const [from, held] = [place, board[place - 1]];
    board[place - 1] = 0;
    const drops = Array.from({ length: held }, () => {
      place = (place % board.length) + 1;
      board[place - 1] += 1;
      return place;
    });
    sowing.push({ from, drops });
  } while (place !== pits + 1 && board[place - 1] > 1);
  return { sowing, board };
}

/** Clock of the tests in milliseconds, and functions that wait for a time. */
let clock = 0;
/** @type {{ time: number, run: () => void }[]} */
let timers = [];

/** Time that a device needs to draw a hollow or to begin an animation. */
let cost = 0;

function element() {
  return {
    classList: { add() {} },
    append() {},
    remove() {},
    getBoundingClientRect: () => ({ left: 0, top: 0, width: 9, height: 9 }),
    animate() {
      clock += cost;
      return { finished: Promise.resolve() };
    },
  };
}

/** Returns a board that counts its pictures. @param {number[][]} rows */
function fakeBoard(rows) {
  const [south, north] = rows.map((row) => row.map((seeds) => ({ seeds, element: element() })));
  const stores = { south: { seeds: 0, element: element() }, north: { seeds: 0, element: element() } };
  return {
    ...{ running: 0, pits: rows[0].length, rows: { south, north }, stores, element: element(), pictures: new Set() },
    aim() {},
    put() {},
    /** @param {string} _side @param {number} place */
    hole: (_side, place) => [...south, stores.south, ...north][place - 1],
    /** @param {any} hole @param {number} count */
    set(hole, count) {
      clock += cost;
      hole.seeds = count;
      this.pictures.add(clock);
    },
  };
}

/**
 * Animates a move of South. Returns its length in milliseconds, its seeds, and its pictures.
 * @param {number[][]} rows
 * @param {number} pit
 */
async function animate(rows, pit) {
  const { sowing, board: expected } = relay(rows, pit);
  const board = fakeBoard(rows);
  const start = clock;
  let done = false;
  const place = { before: { side: "south" }, by: { sowing }, finished: false };
  sow(/** @type {any} */ (board), /** @type {any} */ (place)).then(() => (done = true));
  for (;;) {
    await new Promise((next) => setImmediate(next));
    if (done) break;
    const [next] = timers.sort((one, two) => one.time - two.time).splice(0, 1);
    clock = Math.max(clock, next.time);
    next.run();
  }
  const counts = [...board.rows.south, board.stores.south, ...board.rows.north].map(({ seeds }) => seeds);
  assert.deepEqual(counts, expected);
  return { length: clock - start, drops: sowing.flatMap(({ drops }) => drops).length, pictures: board.pictures.size };
}

/** The longest relay of 36 seeds a side that a search found, and that of 24. @type {[number[][], number, number][]} */
const RELAYS = [
  [[[11, 10, 5, 2, 10, 7], [7, 2, 7, 4, 5, 2]], 4, 562],
  [[[5, 6, 7, 2, 3, 4], [7, 6, 2, 4, 0, 2]], 6, 430],
];

const real = { setTimeout, now: performance.now };

before(() => {
  Object.assign(settings, { sounds: false });
  const fake = { matchMedia: () => ({ matches: false }), document: { hidden: false, createElement: element } };
  Object.assign(globalThis, fake);
  performance.now = () => clock;
  // Browsers run timers some milliseconds late.
  const later = (/** @type {() => void} */ run, /** @type {number} */ time) =>
    timers.push({ time: clock + Math.max(4, time) + 3, run });
  globalThis.setTimeout = /** @type {any} */ (later);
});

after(() => {
  globalThis.setTimeout = real.setTimeout;
  performance.now = real.now;
  for (const name of ["matchMedia", "document"]) Reflect.deleteProperty(globalThis, name);
});

test("the longest relays take at most 3.5 seconds, also on slow devices", async () => {
  for (cost of [0, 1, 5, 20]) {
    for (const [rows, pit, seeds] of RELAYS) {
      const { length, drops, pictures } = await animate(rows, pit);
      assert.equal(drops, seeds);
      assert.ok(length <= 3500, `${length} ms with ${cost} ms a drawing`);
      // Still a movement: at least five pictures a second.
      assert.ok(pictures >= 14, `${pictures} pictures with ${cost} ms a drawing`);
    }
  }
  timers = [];
});

test("each seed of a short move is seen", async () => {
  cost = 1;
  const { pictures, length } = await animate([[0, 0, 4, 0, 0, 0], [0, 0, 0, 0, 0, 1]], 3);
  assert.equal(pictures, 5);
  assert.ok(length >= 800 && length <= 1200, String(length));
});
