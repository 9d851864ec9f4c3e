// Compares the WebAssembly module with the native program: KALAH_MODULE=kalah_wasm.wasm KALAH_PROGRAM=kalah node --test

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { KalahError, load } from "../js/kalah.mjs";
import { start } from "../js/worker.mjs";

/** Returns an environment variable that these tests need. */
function required(name) {
  const value = process.env[name];
  assert.ok(value, `set ${name}; .ci/wasm does`);
  return value;
}

const MODULE = readFileSync(required("KALAH_MODULE"));
const PROGRAM = required("KALAH_PROGRAM");
const directory = mkdtempSync(join(tmpdir(), "kalah-wasm-"));
after(() => rmSync(directory, { recursive: true }));

/** Returns the standard output of the native program. */
function kalah(...words) {
  return execFileSync(PROGRAM, [...words, "--quiet"], { encoding: "utf8" });
}

/** Makes an engine with all tables up to some seeds. */
async function built(options) {
  const engine = await load(MODULE, options);
  const layers = [];
  for (let layer = engine.build(); layer !== null; layer = engine.build()) {
    layers.push(layer);
  }
  assert.equal(layers.length, options.seeds - 1);
  return { engine, layers };
}

/** Returns random numbers below a limit, the same in each run. */
function generator(seed) {
  let state = seed;
  return (limit) => {
    // Numerical Recipes' linear congruential generator; its high bits are good.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Returns a random position with stores and this many seeds in play. */
function randomPosition(random, pits, seeds) {
  const rows = new Array(2 * pits).fill(0);
  for (let seed = 0; seed < seeds; seed++) {
    rows[random(2 * pits)]++;
  }
  return `<${[pits, random(20), random(20), ...rows].join(",")}>`;
}

test("tables built in memory have the digests of the manifest", async () => {
  const manifest = readFileSync(new URL("../../../tables/manifest.jsonl", import.meta.url), "utf8");
  const known = manifest.trim().split("\n").map((line) => JSON.parse(line));
  for (const [rules, seeds] of [["empty-capture", 16], ["standard", 16], ["s-kalaha", 12], ["single-move", 12]]) {
    const { layers } = await built({ rules, seeds });
    for (const { seeds, positions, bytes, digest } of layers) {
      const { positions: its, bytes: file, digest: right } = known.find(
        (entry) => entry.rules === rules && entry.pits === 6 && entry.seeds === seeds,
      );
      assert.deepEqual([positions, bytes, digest], [its, file, right], `${rules}, ${seeds} seeds`);
    }
  }
});

test("answers are those of the native program", async () => {
  const boards = [["empty-capture", 6, 14, 22], ["standard", 6, 14, 22], ["s-kalaha", 4, 12, 16]];
  for (const [rules, pits, seeds, searched] of boards) {
    const tables = join(directory, `${rules}-${pits}`);
    const flags = ["--rules", rules, "--tables", tables];
    kalah("build", ...flags, "--pits", String(pits), "--seeds", String(seeds));
    const { engine } = await built({ rules, pits, seeds });
    const random = generator(pits);
    // A game with an empty row is over.
    const positions = Array.from({ length: 200 }, () => randomPosition(random, pits, 1 + random(seeds)));
    const file = join(directory, "positions.txt");
    writeFileSync(file, positions.join("\n"));
    const probes = kalah("probe", file, ...flags, "--json").trim().split("\n");
    assert.equal(probes.length, positions.length);
    for (const [index, position] of positions.entries()) {
      assert.deepEqual(engine.probe(position), JSON.parse(probes[index]));
    }
    for (let count = 0; count < 30; count++) {
      const position = randomPosition(random, pits, seeds + 1 + random(searched - seeds));
      const right = JSON.parse(kalah("solve", position, ...flags, "--threads", "1", "--json"));
      const { value, best, table_seeds, threads, rules: its } = engine.solve(position, 60);
      const expected = [right.value, right.best, seeds, 1, rules];
      assert.deepEqual([value, best, table_seeds, threads, its], expected, `${rules} ${position}`);
    }
  }
});

test("the book has the start of Kalah(6,4), without any table", async () => {
  const engine = await load(MODULE);
  const [probe, solution] = [engine.probe("6x4"), engine.solve("6x4")];
  assert.deepEqual([probe.value, probe.best, probe.source], [10, [3], "book"]);
  assert.deepEqual([solution.value, solution.best, solution.source, solution.nodes], [10, [3], "book", 0]);
});

test("a line of play is followed as text or as moves", async () => {
  const engine = await load(MODULE, { rules: "standard" });
  const places = engine.line("6x4", "36 21 4");
  assert.equal(places.length, 6);
  assert.deepEqual(engine.line("6x4", [3, 6, 2, 1, 4]), places);
  assert.equal(engine.line("6x4", engine.probe("6x4").line).length, 6);
});

test("a random player without a seed plays other moves each time", async () => {
  const moves = async (player) => {
    const engine = await load(MODULE);
    return Array.from({ length: 30 }, () => engine.move("6x4", player).move);
  };
  assert.notDeepEqual(await moves("random"), await moves("random"));
  assert.deepEqual(await moves("random:5"), await moves("random:5"));
});

test("a search for the value alone proves no best moves, and visits fewer nodes", async () => {
  const position = "2,4,0,5,1,3/0,6,2,1,4,2";
  const solved = async (valueOnly) => (await load(MODULE)).solve(position, 60, valueOnly);
  const [whole, alone] = [await solved(false), await solved(true)];
  assert.equal(alone.value, whole.value);
  assert.ok(whole.best.length > 0 && alone.best === undefined && alone.line === undefined);
  assert.ok(0 < alone.nodes && alone.nodes < whole.nodes, `${alone.nodes} of ${whole.nodes} nodes`);
});

test("a search that runs out of time gives bounds", async () => {
  const { engine } = await built({ pits: 7, seeds: 8 });
  const begin = performance.now();
  const { value, best, lower = -Infinity, upper = Infinity, seconds } = engine.solve("7x4", 0.5);
  assert.ok(performance.now() - begin < 5000 && seconds >= 0.4, `${seconds} s`);
  assert.deepEqual([value, best], [undefined, undefined]);
  // The value in docs/values.csv.
  assert.ok(lower <= 10 && upper >= 10, `${lower} to ${upper}`);
});

test("a longer search continues a shorter one", async () => {
  const { engine } = await built({ seeds: 10 });
  const position = "<6,0,0,4,3,0,2,1,4,2,0,5,1,0,3>";
  let solution = engine.solve(position, 0.02);
  for (let tries = 0; solution.value === undefined && tries < 1000; tries++) {
    solution = engine.solve(position, 0.02);
  }
  assert.equal(solution.value, 11);
  // Tables that are added are used.
  assert.equal(engine.solve(position, 60).table_seeds, 10);
});

test("a search uses the tables that were built since the last one", async () => {
  const engine = await load(MODULE, { seeds: 8 });
  const position = "<6,0,0,1,0,2,1,0,3,0,1,2,0,1,0>";
  const without = engine.solve(position, 60);
  assert.equal(without.table_seeds, undefined);
  while (engine.build() !== null) {
    const solution = engine.solve(position, 60);
    assert.equal(solution.value, without.value);
    assert.ok(solution.table_seeds >= 2);
  }
});

test("a short search touches little of a large transposition table", async () => {
  const engine = await load(MODULE, { transpositions: 2 ** 28 });
  const before = process.memoryUsage.rss();
  engine.solve("6,6,6,6,6,5/6,6,6,6,6,7", 0.01);
  const touched = process.memoryUsage.rss() - before;
  assert.ok(touched < 2 ** 26, `${touched} bytes`);
});

test("a module is loaded from a response or a compiled module", async () => {
  const response = new Response(MODULE, { headers: { "content-type": "application/wasm" } });
  for (const source of [response, Promise.resolve(new Response(MODULE)), await WebAssembly.compile(MODULE)]) {
    assert.equal((await load(source)).probe("6x4").value, 10);
  }
});

test("a failed download is an error", async () => {
  await assert.rejects(load(new Response("", { status: 404, statusText: "Not Found" })), /404 Not Found/);
});

test("mistakes of the caller are errors that name them", async () => {
  await assert.rejects(load(MODULE, { rules: "chess" }), /chess/);
  // A misspelt option would otherwise leave the default in force.
  for (const options of [{ rule: "standard" }, { seeds: 4, threads: 2 }]) {
    const message = /no option '(rule|threads)': the options are rules, pits, seeds, transpositions/;
    await assert.rejects(load(MODULE, options), { name: "KalahError", code: "option", message });
    await assert.rejects(start(options), { code: "option", message });
  }
  for (const [name, expected, ...values] of [
    ["rules", "the name of a rule set", 5, null, ["standard"]],
    ["pits", "a whole number such as 6", "6", 6.5, NaN],
    ["seeds", "a whole number such as 16", "16", -1, {}],
    ["transpositions", "a whole number of bytes", "1GiB", 1e300, true],
  ]) {
    for (const value of values) {
      const message = new RegExp(`^${name} must be ${expected}.*, not `);
      await assert.rejects(load(MODULE, { [name]: value }), { name: "KalahError", code: "option", message });
      await assert.rejects(start({ [name]: value }), { code: "option", message });
    }
  }
  await load(MODULE, { rules: undefined, pits: undefined });
  for (const source of [null, "standard", 5]) {
    const message = /^the module must be the bytes of kalah_wasm.wasm/;
    await assert.rejects(load(source), { name: "KalahError", code: "option", message });
  }
  await assert.rejects(load(MODULE, { pits: 9 }), { code: "request", message: /9 pits/ });
  await assert.rejects(load(MODULE, { seeds: 100 }), /100 seeds/);
  await assert.rejects(load(MODULE, { pits: 8, seeds: 48 }), { code: "failed", message: /not enough memory/ });
  await assert.rejects(load(MODULE, { seeds: 28 }), /not enough memory/);
  const engine = await load(MODULE, { seeds: 4 });
  assert.throws(() => engine.solve("6x400", 0.1), KalahError);
  assert.throws(() => engine.probe("6 times 4"), { code: "request" });
  for (const seconds of [-1, NaN, Infinity, "1"]) {
    const wrong = { code: "option", message: /^seconds must be a finite number of at least 0, not / };
    assert.throws(() => engine.solve("6x1", seconds), wrong);
    assert.throws(() => engine.move("6x1", "greedy", seconds), wrong);
  }
  assert.throws(() => engine.solve("6x1", 1, "no"), { code: "option", message: /^valueOnly must be true or false/ });
  assert.throws(() => engine.move("6x1", "nobody"), { code: "request" });
  for (const moves of [undefined, 36, [3, "6"], [3.5], [-1]]) {
    assert.throws(() => engine.line("6x1", moves), { code: "option", message: /^moves must be a line of play such / });
  }
  for (const position of [undefined, 64, ["6x4"]]) {
    const wrong = { code: "option", message: /^position must be a text such as '6x4', not / };
    for (const ask of [() => engine.probe(position), () => engine.solve(position), () => engine.move(position)]) {
      assert.throws(ask, wrong);
    }
    assert.throws(() => engine.line(position, "3"), wrong);
  }
  assert.throws(() => engine.move("6x1", 5), { code: "option", message: /^player must be the name of a player/ });
  assert.throws(() => engine.probe("5x4"), /5 pits/);
  assert.throws(() => engine.solve("7x1"), /7 pits/);
  assert.throws(() => engine.probe("0,0,1,0,2,1/1,0,0,3,0,0"), { code: "not-found", message: /8 seeds in play/ });
  // It goes on working.
  assert.equal(engine.build().seeds, 2);
  assert.equal(engine.probe("0,0,0,0,0,1/1,0,0,0,0,0").score, 1);
  assert.deepEqual(engine.probe("0,0,0,0,0,0/1,0,0,0,0,0").finished, true);
});
