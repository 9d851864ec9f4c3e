// Answers about places: proofs replace estimates, and nothing replaces a proof.

import assert from "node:assert/strict";
import { test } from "node:test";
import { glimpse, isKnown, learn } from "../page/analysis.js";
import { connect } from "../page/api.js";
import { newGame } from "./games.js";

/** Moves whose values are known as `known` says. @param {string} known @param {number[]} best @param {object} [more] */
const answer = (known, best, more) => ({
  known,
  best,
  finished: false,
  moves: [3, 4].map((move) => ({ move, known })),
  ...more,
});

/** @param {[event: string, document: object][]} events */
const stream = (events) =>
  new Response(events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

/** Answers requests, and notes their paths and priorities. @param {[event: string, document: object][]} found */
function serve(found) {
  /** @type {string[]} */
  const asked = [];
  connect(async (path, { priority }) => {
    asked.push([path.split("?")[0], priority].filter(Boolean).join(" "));
    return path.startsWith("api/search") ? stream(found) : Response.json(answer("estimate", [3], { depth: 1 }));
  });
  return asked;
}

const { signal } = new AbortController();

test("a search replaces an estimate by deeper ones and by a proof, and the best move with it", async () => {
  const asked = serve([
    ["progress", answer("estimate", [3, 4], { depth: 9 })],
    ["progress", answer("estimate", [3], { depth: 5 })],
    ["answer", answer("exact", [4])],
  ]);
  const game = newGame();
  /** @type {unknown[]} */
  const shown = [];
  const note = () => shown.push([game.root.answer?.best, isKnown(game.root)]);
  await learn(game, game.root, signal, 60, note, false);
  assert.deepEqual(shown, [
    [[3], false],
    [[3], false],
    [[3, 4], false],
    [[3, 4], false],
    [[4], true],
  ]);
  assert.deepEqual(asked, ["api/position high", "api/search auto"]);
  await learn(game, game.root, signal, 60, note, false);
  assert.equal(asked.length, 2, "nothing is left to search");
});

test("a proof of more moves is not replaced by one of fewer, nor its line lost", async () => {
  const [most, line] = [answer("exact", [4]), "4 2 3"];
  const moves = [{ move: 3, known: "bounds" }, most.moves[1]];
  serve([
    ["progress", { ...most, moves }],
    ["progress", { ...most, line }],
    ["answer", { ...most, moves }],
  ]);
  const game = newGame();
  await learn(game, game.root, signal, 60, () => {}, false);
  assert.ok(isKnown(game.root));
  assert.equal(game.root.answer?.line, line);
});

test("what nothing needs is asked with a low priority, once", async () => {
  const asked = serve([]);
  const game = newGame();
  await glimpse(game, game.root, signal, () => {}, "low");
  await glimpse(game, game.root, signal, () => {}, "low");
  assert.deepEqual(asked, ["api/position low"]);
});
