// The WebAssembly module, as compare.py uses it.
//
//   node module.mjs PACKAGE choose START        prints the compared positions, the mover's pits first
//   node module.mjs PACKAGE LOG2_BYTES SEEDS    solves those of standard input as driver.c does
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const [packaged, first, second] = process.argv.slice(2);
const { compile, load } = await import(pathToFileURL(resolve(packaged, "kalah.mjs")).href);

/** Compared positions: how many, of which start, after how many random moves. */
const SETS = [
  { count: 20, board: "6x2", moves: 4 },
  { count: 20, board: "6x3", moves: 4 },
  { count: 20, board: "6x4", moves: 8 },
];

/** Milliseconds before a search. */
const WAIT = 100;

let state = Number(second);
/** Returns a number below a limit, the same in each run with this start. @param {number} limit */
function random(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Plays random moves. Returns undefined if the game ends. */
function played(engine, board, moves) {
  let position = board;
  for (let played = 0; played < moves; played += 1) {
    const pits = [1, 2, 3, 4, 5, 6];
    let place;
    while (!place && pits.length > 0) {
      const [pit] = pits.splice(random(pits.length), 1);
      try {
        [place] = engine.line(position, [pit]);
      } catch {
        // No legal move.
      }
    }
    if (!place || place.finished) return undefined;
    position = place.next;
  }
  return position;
}

/** Returns true if the book has a position. */
function isKnown(engine, position) {
  try {
    return engine.probe(position) !== undefined;
  } catch {
    return false;
  }
}

/** Prints positions that are not in the book. */
async function choose() {
  const engine = await load({ rules: "standard", seeds: 2 });
  for (const { count, board, moves } of SETS) {
    for (let found = 0; found < count; ) {
      const position = played(engine, board, moves);
      if (!position || isKnown(engine, position)) continue;
      console.log(...position.slice(1, -1).split(",").slice(3));
      found += 1;
    }
  }
}

/** Milliseconds of processor time. */
const processorTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
};

/** Solves positions, each by a new engine. All are of one compiled module, whose functions are compiled once. */
async function solve() {
  const seeds = Number(second);
  const module = await compile();
  for await (const line of createInterface({ input: process.stdin })) {
    const row = line.split(" ");
    const options = { rules: "standard", seeds: Math.max(2, seeds), transpositions: 2 ** Number(first) };
    const engine = await load(module, options);
    if (seeds > 0) engine.buildAll();
    // A position that takes no time, with as many seeds: this makes the solver.
    const left = row.reduce((sum, held) => sum + Number(held), 0) - 1;
    engine.solve(`0,0,0,0,0,1/${[0, 1, 2, 3, 4, 5].map((pit) => Math.floor((left + pit) / 6))}`, 3600, true);
    // Other threads of Node compile, and free the memory of the last engine, which is no part of the search.
    await setTimeout(WAIT);
    const built = processorTime();
    const { value, nodes } = engine.solve(`${row.slice(0, 6)}/${row.slice(6)}`, 3600, true);
    console.log(value, nodes, processorTime() - built);
  }
}

await (first === "choose" ? choose() : solve());
