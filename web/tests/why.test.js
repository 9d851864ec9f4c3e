// Reasons in words: only what is proved, in one clause.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../page/game.js";
import { why } from "../page/loss.js";
import { speak } from "../page/words.js";

/**
 * A game in which South sows pit 1 to pit 2, and North's best reply is `reply`.
 * @param {object} reply
 * @param {object} [value]
 */
function played(reply, value = { value: -8 }) {
  const game = new Game("standard", "<2,0,0,1,1,2,1>", "south");
  const moves = [{ move: 1, ...value }, { move: 2, value: 0 }];
  game.root.answer = /** @type {any} */ ({ value: 0, best: [2], moves });
  const move = { move: 1, again: false, finished: false, next: "<2,0,0,2,1,0,2>", sowing: [{ from: 1, drops: [2] }] };
  const place = game.play(move);
  const effects = { move: 2, again: false, finished: false, sowing: [{ from: 2, drops: [3] }], ...reply };
  place.answer = /** @type {any} */ ({ value: 8, best: [2], moves: [{ move: 1 }, effects] });
  return place;
}

test("a loss is explained by what the best reply does", () => {
  speak(["en"]);
  // Of the two seeds in the store, the reply sowed one.
  const captures = { next: "<2,0,2,0,2,1,0>", captured: [1] };
  assert.equal(why(played(captures)), "lost 4 seeds: North captures 1 seed with pit 2");
  assert.equal(why(played({ next: "<2,1,0,2,0,0,2>", again: true })), "lost 4 seeds: North moves again");
  assert.equal(why(played({ next: "<2,0,1,0,2,2,0>", finished: true })), "lost 4 seeds: North ends the game");
});

test("what is not known is not said", () => {
  assert.equal(why(played({ next: "<2,0,1,0,2,2,0>" })), "lost 4 seeds");
  assert.equal(why(played({ next: undefined, sowing: undefined })), "lost 4 seeds");
  assert.equal(why(played({}, { value: 0 })), "");
  assert.equal(why(played({}, {})), "");
});
