// Labels of moves as values and as losses, in both languages.

import assert from "node:assert/strict";
import { test } from "node:test";
import { labelOf, madeLabel } from "../page/labels.js";
import { settings } from "../page/settings.js";
import { speak } from "../page/words.js";
import { evaluate, newGame, play } from "./games.js";

/** Returns text, word and sentence of a label. @param {Api.Value} answer @param {Api.Value} move */
function shown(answer, move) {
  const { text, word, full } = labelOf(answer, move);
  return [text, word, full];
}

test("a label has the value or the loss of a move", () => {
  speak(["en"]);
  settings.labels = "value";
  assert.deepEqual(shown({ value: 6 }, { value: 2 }), ["+2", "win", "win by 2, exact"]);
  settings.labels = "loss";
  assert.deepEqual(shown({ value: 6 }, { value: 2 }), ["−4", "win", "loses 4 seeds, win by 2, exact"]);
  assert.deepEqual(shown({ value: 0 }, { value: -1 }), ["−1", "loss", "loses 1 seed, loss by 1, exact"]);
  speak(["de"]);
  assert.deepEqual(shown({ value: 6 }, { value: 2 }), ["−4", "Sieg", "verliert 4 Steine, Sieg mit 2, exakt"]);
  speak(["en"]);
});

test("a best move loses nothing", () => {
  settings.labels = "loss";
  for (const value of [-6, 0, 6]) assert.equal(labelOf({ value }, { value }).text, "0");
  assert.equal(labelOf({ value: 6 }, { value: 6 }).full, "loses nothing, win by 6, exact");
});

test("what is not proved is not called a loss", () => {
  settings.labels = "loss";
  const bounds = { lower: -8, upper: 2 };
  assert.deepEqual(shown({ value: 6 }, bounds).slice(0, 2), ["≤−4", "open"]);
  assert.equal(labelOf({ value: 6 }, bounds).full, "loses at least 4 seeds, between −8 and +2, proved");
  // The best move may be as bad.
  assert.deepEqual(shown({ lower: 2, upper: 6 }, bounds).slice(0, 2), ["≥−14", "open"]);
  assert.match(labelOf({ lower: 2, upper: 6 }, bounds).full, /^loses at most 14 seeds, between/);
  assert.equal(labelOf({ estimate: 5 }, { estimate: 3 }).text, "≈−2");
  assert.equal(labelOf({ estimate: 5 }, { estimate: 5 }).text, "≈0");
  // A search may find a better move than the answer had.
  assert.equal(labelOf({ estimate: 5 }, { estimate: 7 }).text, "≈0");
  assert.equal(labelOf({}, {}).text, "");
});

test("the list of moves has values, or only losses", () => {
  const game = newGame();
  const best = play(game, "1");
  game.show(game.root);
  const bad = play(game, "2");
  const places = [best, bad];
  assert.deepEqual(places.map(madeLabel), ["", ""]);
  evaluate(game.root, { 1: 4, 2: -2 });
  settings.labels = "value";
  assert.deepEqual(places.map(madeLabel), ["+4", "−2"]);
  settings.labels = "loss";
  assert.deepEqual(places.map(madeLabel), ["", "−6"]);
});
