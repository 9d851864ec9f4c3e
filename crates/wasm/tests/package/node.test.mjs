// The installed package in Node.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { compile, load } from "kalah";
import { start } from "kalah/worker";

import { blocks, PAGE, positions, program, README } from "./common.mjs";

const directory = mkdtempSync(join(tmpdir(), "kalah-npm-"));
after(() => rmSync(directory, { recursive: true }));

/** Runs code as a module in a process of its own, and returns its standard output. */
function run(code) {
  return execFileSync(process.execPath, ["--input-type=module"], { input: code, encoding: "utf8", timeout: 60_000 });
}

/** Returns the JSON lines that the native program prints. */
function native(...words) {
  const output = execFileSync(program(), [...words, "--quiet", "--json"], { encoding: "utf8" });
  return output.trim().split("\n").map((line) => JSON.parse(line));
}

/** Returns the message with which a call fails. */
async function message(call) {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.message;
  }
  assert.fail("the call succeeded");
}

test("the examples of the pages print what their comments show", () => {
  const examples = [...blocks(README, "js"), ...blocks(PAGE, "js")];
  assert.equal(examples.length, 5);
  for (const example of examples) {
    const shown = [...example.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => output);
    assert.ok(shown.length > 0, example);
    assert.deepEqual(run(example).trim().split("\n"), shown, example);
  }
});

test("answers here and in a worker are those of the native program", async () => {
  for (const rules of ["empty-capture", "standard"]) {
    const tables = join(directory, rules);
    execFileSync(program(), ["build", "--rules", rules, "--tables", tables, "--seeds", "12", "--quiet"]);
    const options = { rules, seeds: 12 };
    const [here, there] = [await load(options), await start(options)];
    here.buildAll();
    await there.buildAll();
    const file = join(directory, "positions.txt");
    const low = positions(20, 12);
    writeFileSync(file, low.join("\n"));
    const expected = native("probe", file, "--rules", rules, "--tables", tables);
    assert.deepEqual(low.map((position) => here.probe(position)), expected);
    assert.deepEqual(await Promise.all(low.map((position) => there.probe(position))), expected);
    for (const position of positions(5, 20)) {
      const [{ value, best }] = native("solve", position, "--rules", rules, "--tables", tables, "--threads", "1");
      for (const answer of [here.solve(position, 60), await there.solve(position, 60)]) {
        assert.deepEqual([answer.value, answer.best], [value, best], position);
      }
    }
    await there.end();
  }
});

test("players and lines are those of the native program", async () => {
  const [here, there] = [await load({ rules: "standard", seeds: 10 }), await start({ rules: "standard", seeds: 10 })];
  here.buildAll();
  await there.buildAll();
  for (const player of ["perfect", "alphabeta:4", "greedy"]) {
    for (const position of ["6x4", ...positions(8, 10).filter((position) => !here.probe(position).finished)]) {
      const words = ["--rules", "standard", "--player", player, "--tables", join(directory, "standard")];
      const [{ move }] = native("move", position, ...words);
      assert.equal(here.move(position, player).move, move, `${player} ${position}`);
      assert.equal((await there.move(position, player)).move, move);
    }
  }
  // With a seed, a random player repeats its moves.
  assert.equal(here.move("6x4", "random:7").move, (await there.move("6x4", "random:7")).move);
  const places = here.line("6x4", [3, 6]);
  assert.deepEqual(places, await there.line("6x4", [3, 6]));
  assert.deepEqual(places.map(({ move, first, again }) => [move, first, again]), [
    [3, true, true],
    [6, true, false],
    [undefined, false, undefined],
  ]);
  assert.match(await message(() => here.line("6x4", [7])), /moves are at most 1000 numbers from 1 to 6/);
  assert.match(await message(() => here.move("6x4", "magnus")), /unknown player/);
  assert.match(await message(() => here.move("0,0/1,1")), /game is over/);
  await there.end();
});

test("a wrong call throws an error with the message of the program", async () => {
  const [here, there] = [await load({ seeds: 4 }), await start({ seeds: 4 })];
  for (const wrong of ["6 times 4", "<6,1>", "6x400"]) {
    const { stderr } = spawnSync(program(), ["probe", wrong], { encoding: "utf8" });
    const shown = await message(() => here.probe(wrong));
    assert.ok(shown.length > 10 && stderr.includes(shown), `${shown}\n${stderr}`);
    assert.equal(await message(() => there.probe(wrong)), shown);
  }
  for (const wrong of [{ rules: "chess" }, { pits: 9 }, { seeds: 100 }]) {
    assert.equal(await message(() => start(wrong)), await message(() => load(wrong)));
  }
  // They go on working.
  assert.equal(here.build().seeds, 2);
  assert.equal((await there.build()).seeds, 2);
  await there.end();
});

test("a module can be given, and shared", async () => {
  const bytes = readFileSync("node_modules/kalah/kalah_wasm.wasm");
  const module = await compile();
  for (const source of [bytes, module, new Response(bytes)]) {
    assert.equal((await load(source, { rules: "standard" })).probe("6x4").value, 8);
  }
  const workers = await Promise.all([start(module), start(bytes, { rules: "standard" })]);
  const probes = await Promise.all(workers.map((worker) => worker.probe("6x4")));
  assert.deepEqual(probes.map(({ value }) => value), [10, 8]);
  await Promise.all(workers.map((worker) => worker.end()));
});

test("a worker answers between the layers that it builds, and does not block the caller", async () => {
  const engine = await start({ seeds: 17 });
  const layers = [];
  const built = engine.buildAll(({ seeds }) => layers.push(seeds));
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal((await engine.probe("6x4")).value, 10);
  assert.ok(layers.length < 16, `${layers}`);
  await built;
  assert.deepEqual(layers, Array.from({ length: 16 }, (_, index) => index + 2));
  assert.equal(await engine.build(), null);
  await engine.end();
});

test("a worker that ends fails open and later calls, and frees its memory", async () => {
  const used = [];
  for (let count = 0; count < 6; count++) {
    const engine = await start({ seeds: 18 });
    await engine.buildAll();
    const open = message(() => engine.solve("6,6,6,6,6,5/6,6,6,6,6,7", 60));
    await engine.end();
    assert.match(await open, /the engine was ended/);
    assert.match(await message(() => engine.probe("6x4")), /the engine was ended/);
    used.push(process.memoryUsage.rss());
  }
  // The tables of one engine take 44 MB.
  const [first, last] = [used[0], used[5]];
  assert.ok(last - first < 100e6, `${used}`);
});

test("a program exits though its worker has not been ended", () => {
  const begin = 'import { start } from "kalah/worker"; const engine = await start();';
  assert.equal(run(`${begin} console.log((await engine.probe("6x4")).value);`), "10\n");
});
