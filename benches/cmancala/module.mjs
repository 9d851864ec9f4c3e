// The WebAssembly module, as compare.py uses it.
//
//   node module.mjs PACKAGE choose              prints the compared positions, the mover's pits first
//   node module.mjs PACKAGE LOG2_BYTES SEEDS    solves those of standard input as driver.c does
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [packaged, first, seeds] = process.argv.slice(2);
const { start } = await import(pathToFileURL(resolve(packaged, "worker.mjs")).href);

/** Compared positions: how many, of which start, after how many random moves. */
const SETS = [
  { count: 20, board: "6x2", moves: 4 },
  { count: 20, board: "6x3", moves: 4 },
  { count: 20, board: "6x4", moves: 8 },
];

let state = 1;
/** Returns a number below a limit, the same in each run. @param {number} limit */
function random(limit) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** Plays random moves. Returns undefined if the game ends. */
async function played(engine, board, moves) {
  let position = board;
  for (let played = 0; played < moves; played += 1) {
    const pits = [1, 2, 3, 4, 5, 6];
    let place;
    while (!place && pits.length > 0) {
      const [pit] = pits.splice(random(pits.length), 1);
      [place] = await engine.line(position, [pit]).catch(() => []);
    }
    if (!place || place.finished) return undefined;
    position = place.next;
  }
  return position;
}

/** Prints positions that are not in the book. */
async function choose() {
  const engine = await start({ rules: "standard", seeds: 2 });
  for (const { count, board, moves } of SETS) {
    for (let found = 0; found < count; ) {
      const position = await played(engine, board, moves);
      if (!position || (await engine.probe(position).catch(() => undefined))) continue;
      console.log(...position.slice(1, -1).split(",").slice(3));
      found += 1;
    }
  }
  await engine.end();
}

/** Milliseconds of processor time. */
const processorTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
};

/** Solves positions, each by a new engine. */
async function solve() {
  for (const line of readFileSync(0, "utf8").trim().split("\n")) {
    const row = line.split(" ");
    const options = { rules: "standard", seeds: Math.max(2, Number(seeds)), transpositions: 2 ** Number(first) };
    const engine = await start(options);
    const begin = processorTime();
    await engine.buildAll();
    const built = processorTime();
    const { value, nodes } = await engine.solve(`${row.slice(0, 6)}/${row.slice(6)}`, 3600);
    console.log(value, nodes, processorTime() - built, built - begin);
    await engine.end();
  }
}

await (first === "choose" ? choose() : solve());
