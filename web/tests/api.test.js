// Requests of the page, over a transport that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../page/api.js";

/** @param {any} document @param {number} [status] @param {Record<string, string>} [headers] */
const answer = (document, status = 200, headers = {}) =>
  new Response(JSON.stringify(document), { status, headers: { "content-type": "application/json", ...headers } });

/** Connects a transport that gives these answers, one a request. @param {(() => Response)[]} answers */
function play(answers) {
  /** @type {string[]} */
  const [paths, states] = [[], []];
  api.onState((state) => {
    states.push(state);
    // As a click on "Try now" does, once the request waits.
    if (state !== "online") setTimeout(api.retry);
  });
  api.connect(async (path) => {
    paths.push(path);
    const next = answers.shift();
    if (!next) throw new Error("there is no further answer");
    return next();
  });
  return { paths, states };
}

const away = () => {
  throw new TypeError("Failed to fetch");
};

test("a request is repeated until the server answers", async () => {
  const proxy = () => new Response("<h1>502</h1>", { status: 502 });
  const taken = { error: { code: "busy", message: "all searches are taken" } };
  const busy = () => answer(taken, 503, { "retry-after": "1" });
  const { paths, states } = play([away, proxy, busy, () => answer({ rules: ["standard"] })]);
  assert.deepEqual(await api.server(), { rules: ["standard"] });
  assert.deepEqual(paths, ["api", "api", "api", "api"]);
  assert.deepEqual(states, ["offline", "busy", "online"]);
});

test("a refusal is not repeated", async () => {
  const { paths } = play([() => answer({ error: { code: "request", message: "chess is no rule set" } }, 400)]);
  const refused = api.position("6x4", "chess", undefined, undefined);
  await assert.rejects(refused, { code: "request", message: "chess is no rule set" });
  assert.deepEqual(paths, ["api/position?board=6x4&rules=chess"]);
});

test("a request that is given up is not repeated", async () => {
  const stop = new AbortController();
  const { paths } = play([
    () => {
      stop.abort();
      throw stop.signal.reason;
    },
  ]);
  await assert.rejects(api.position("6x4", "standard", 1, stop.signal), { name: "AbortError" });
  assert.equal(paths.length, 1);
});

test("a stream reports its progress, however it is divided", async () => {
  const depths = [1, 2].map((depth) => `event: progress\ndata: {"depth":${depth}}\n\n`);
  const text = `${depths.join("")}event: answer\ndata: {"value":4}\n\n`;
  const bytes = new TextEncoder().encode(text);
  const parts = Array.from({ length: bytes.length }, (_, index) => bytes.slice(index, index + 1));
  const body = new ReadableStream({
    pull(controller) {
      const next = parts.shift();
      if (next) controller.enqueue(next);
      else controller.close();
    },
  });
  play([() => new Response(body, { headers: { "content-type": "text/event-stream" } })]);
  /** @type {any[]} */
  const seen = [];
  const found = await api.deepen("6x4", "standard", undefined, (document) => seen.push(document.depth), undefined);
  assert.deepEqual([found, seen], [{ value: 4 }, [1, 2]]);
});

/** Milliseconds of a search, and until the server notices that one was given up. */
const [SEARCH, NOTICE] = [8, 40];

/** Connects a server that refuses searches above its grant, as `kalah serve` does. @param {number} granted */
function serve(granted) {
  const seen = { open: 0, most: 0, refused: 0 };
  api.onState(() => {});
  api.grant(granted);
  api.connect(
    (_, { signal }) =>
      new Promise((done, fail) => {
        seen.most = Math.max(seen.most, seen.open + 1);
        if (seen.open === granted) {
          seen.refused += 1;
          done(answer({ error: { code: "busy", message: "all searches are taken" } }, 503));
          return;
        }
        seen.open += 1;
        const end = () => (seen.open -= 1);
        const stopped = () => {
          clearTimeout(timer);
          setTimeout(end, NOTICE);
          fail(signal?.reason);
        };
        const timer = setTimeout(() => {
          signal?.removeEventListener("abort", stopped);
          end();
          done(answer({ value: 4, move: 3 }));
        }, SEARCH);
        signal?.addEventListener("abort", stopped);
      }),
  );
  return seen;
}

/** Requests of all kinds that search. @type {((signal: AbortSignal) => Promise<unknown>)[]} */
const SEARCHES = [
  (signal) => api.position("6x4", "standard", 1, signal),
  (signal) => api.position("6x4", "standard", 1, signal, "low"),
  (signal) => api.move("6x4", "standard", "alphabeta:4", 1, signal),
  (signal) => api.deepen("6x4", "standard", 1, () => {}, signal),
  (signal) => api.deepen("6x4", "standard", 1, () => {}, signal, "low"),
  (signal) => api.game("6x4", "standard", [1, 2], () => {}, signal),
  () => api.puzzle({ rules: "standard", board: "6x4", level: "easy" }),
];

for (const granted of [1, 2]) {
  test(`no more searches are open than the server grants: ${granted}`, async () => {
    const seen = serve(granted);
    const asked = Array.from({ length: 70 }, async (_, index) => {
      // As in quick games: requests come while others are open, and a third are given up before or during their search.
      await new Promise((done) => setTimeout(done, 3 * index));
      const stop = new AbortController();
      if (index % 3 === 0) setTimeout(() => stop.abort(), (7 * index) % 29);
      return SEARCHES[index % SEARCHES.length](stop.signal);
    });
    const ends = await Promise.allSettled(asked);
    const errors = ends.flatMap((end) => (end.status === "rejected" ? [end.reason.name] : []));
    assert.deepEqual([seen.most, seen.refused, seen.open], [granted, 0, 0]);
    assert.ok(errors.length < 24 && errors.every((name) => name === "AbortError"), errors.join());
  });
}

test("a search that nobody waits for gives way, and is sent again", async () => {
  const seen = serve(1);
  /** @type {string[]} */
  const order = [];
  const low = api.position("6x4", "standard", 1, undefined, "low").then(() => order.push("low"));
  const person = api.move("6x4", "standard", "greedy", 1, undefined).then(() => order.push("person"));
  await Promise.all([low, person]);
  assert.deepEqual([order, seen.most, seen.refused], [["person", "low"], 1, 0]);
});
