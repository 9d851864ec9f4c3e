// The installed package in Chromium, from a plain file server.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import { load } from "kalah";

import { blocks, positions, README } from "./common.mjs";

const profile = mkdtempSync(join(tmpdir(), "kalah-npm-"));
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`];
const children = [];
/** Addresses of the file server, and of the browser's commands. */
let files;
let session;

/** Starts a program, and returns the port that it prints. */
async function serve(program, words, pattern) {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  await once(child, "spawn");
  for await (const line of createInterface(child.stdout)) {
    const port = pattern.exec(line)?.[1];
    if (port !== undefined) {
      return port;
    }
  }
  assert.fail(`${program} prints no port`);
}

/** Sends the browser a command of WebDriver, and returns the answer. */
async function browser(command, body = {}, method = "POST") {
  const response = await fetch(session + command, {
    method,
    body: method === "POST" ? JSON.stringify(body) : undefined,
  });
  const { value } = await response.json();
  assert.equal(response.status, 200, `${command}: ${JSON.stringify(value)}`);
  return value;
}

/** Runs the body of an asynchronous function in the page, and returns its result. */
async function run(body, ...values) {
  const script = `const done = arguments[arguments.length - 1];
    const run = async (...values) => { ${body} };
    run(...arguments).then((result) => done({ result }), (error) => done({ error: String(error) }));`;
  const { result, error } = await browser("/execute/async", { script, args: values });
  assert.equal(error, undefined);
  return result;
}

before(async () => {
  const python = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"];
  files = `http://127.0.0.1:${await serve("python3", python, /port (\d+)/)}`;
  const port = await serve("chromedriver", ["--port=0"], /started successfully on port (\d+)/);
  session = `http://127.0.0.1:${port}/session`;
  const wanted = { "goog:chromeOptions": { args: FLAGS }, timeouts: { script: 60_000 } };
  const { sessionId } = await browser("", { capabilities: { alwaysMatch: wanted } });
  session += `/${sessionId}`;
  writeFileSync("page.html", blocks(README, "html")[0]);
  await browser("/url", { url: `${files}/page.html` });
});

after(async () => {
  try {
    await browser("", {}, "DELETE");
  } finally {
    for (const child of children) {
      child.kill();
    }
    rmSync(profile, { recursive: true, maxRetries: 5 });
  }
});

test("the page of README shows the line of best play", async () => {
  const line = (await load()).probe("6x4").line;
  const shown = await run(`
    while (document.body.textContent.trim() === "") await new Promise((resolve) => setTimeout(resolve, 20));
    return document.body.textContent;
  `);
  assert.equal(shown.trim(), line);
});

test("answers in the page and in its worker are those in Node", async () => {
  const options = { rules: "standard", seeds: 14 };
  const engine = await load(options);
  engine.buildAll();
  const expected = positions(20, 14).map((position) => engine.probe(position));
  const answers = await run(
    `
    const [positions, options] = values;
    const { load } = await import("/node_modules/kalah/kalah.mjs");
    const { start } = await import("/node_modules/kalah/worker.mjs");
    const [here, there] = [await load(options), await start(options)];
    here.buildAll();
    await there.buildAll();
    const answers = [positions.map((position) => here.probe(position))];
    answers.push(await Promise.all(positions.map((position) => there.probe(position))));
    await there.end();
    return answers;
    `,
    positions(20, 14),
    options,
  );
  assert.deepEqual(answers, [expected, expected]);
});

test("a search in the page finds the value that one in Node finds", async () => {
  const position = "2,4,0,5,1,3/0,6,2,1,4,2";
  const solution = await run(
    `
    const { start } = await import("/node_modules/kalah/worker.mjs");
    const engine = await start({ seeds: 12 });
    await engine.buildAll();
    return engine.solve(values[0], 60);
    `,
    position,
  );
  const engine = await load({ seeds: 12 });
  engine.buildAll();
  const { value, best, nodes } = engine.solve(position, 60);
  assert.ok(nodes > 0);
  assert.deepEqual([solution.value, solution.best, solution.nodes], [value, best, nodes]);
});

test("mistakes are errors with the same message, and a missing module is one that names it", async () => {
  const message = (source) => run(`
    const { load } = await import("/node_modules/kalah/kalah.mjs");
    const { start } = await import("/node_modules/kalah/worker.mjs");
    const messages = [];
    for (const make of [load, start]) {
      try { await make(${source}); messages.push("none"); } catch (error) { messages.push(error.message); }
    }
    return messages;
  `);
  const right = await load({ pits: 9 }).catch((error) => error.message);
  assert.deepEqual(await message("{ pits: 9 }"), [right, right]);
  for (const shown of await message('fetch("/nothing.wasm")')) {
    assert.match(shown, /nothing\.wasm: 404/);
  }
});

test("a worker that ends fails its open calls", async () => {
  const shown = await run(`
    const { start } = await import("/node_modules/kalah/worker.mjs");
    const engine = await start({ seeds: 20 });
    const built = engine.buildAll().catch((error) => error.message);
    await engine.end();
    return [await built, await engine.build().catch((error) => error.message)];
  `);
  assert.deepEqual(shown, ["the engine was ended", "the engine was ended"]);
});
