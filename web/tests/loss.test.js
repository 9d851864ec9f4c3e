// Losses in seeds, and judgements of turns, as `kalah review` has them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate as judged, loss, mark, mistake } from "../page/loss.js";
import { isReached } from "../page/game.js";
import { now } from "../page/session.js";
import { turnsAmong } from "../page/tree.js";
import { describe, speak } from "../page/words.js";
import { evaluate, newGame, play } from "./games.js";

test("marks are those of reviews, by seeds: half of the difference", () => {
  const game = newGame();
  for (const [values, seeds, expected] of /** @type {[Record<number, number>, number, string][]} */ ([
    [{ 1: 4, 2: 4 }, 0, ""],
    [{ 1: 4, 2: 6 }, 1, "?!"],
    [{ 1: 4, 2: 10 }, 3, "?!"],
    [{ 1: 4, 2: 12 }, 4, "?"],
    [{ 1: -14, 2: -4 }, 5, "?"],
    [{ 1: 0, 2: 2 }, 1, "??"],
    [{ 1: -2, 2: 0 }, 1, "??"],
  ])) {
    evaluate(game.root, values);
    game.show(game.root);
    const place = play(game, "1");
    assert.deepEqual([loss(place)?.seeds, mark(mistake(place))], [seeds, expected], JSON.stringify(values));
  }
  game.root.answer = undefined;
  assert.equal(mark(mistake(game.place)), "");
  // A value that is not proved is no loss.
  game.root.answer = /** @type {any} */ ({ lower: 2, upper: 6, moves: [{ move: 1, lower: -8, upper: 2 }] });
  assert.equal(loss(game.place), undefined);
  game.root.answer = /** @type {any} */ ({ value: 6, moves: [{ move: 1, lower: -8, upper: 2 }] });
  assert.deepEqual(loss(game.place), { seeds: 2, turns: false, exact: false });
});

test("turns are judged as a whole, and those without a choice do not count", () => {
  const game = newGame();
  // South loses 2 and 3 seeds in one turn; North has no choice; South blunders; South's last turn is open.
  play(game, "5+ 3 2 4 1 6");
  const values = [{ 5: 6, 1: 10 }, { 3: 0, 1: 6 }, { 2: -4 }, { 4: -2, 1: 4 }, { 1: 4, 2: 4 }];
  for (const [index, each] of values.entries()) evaluate(game.places[index], each);
  const turns = turnsAmong(game.places.filter(isReached));
  const { accuracy, ...south } = judged(turns, "south");
  assert.deepEqual(south, { turns: 3, best: 0, inaccuracies: 0, mistakes: 0, blunders: 2, open: 1, lost: 8 });
  assert.equal(accuracy, 0);
  assert.deepEqual(judged(turns, "north"), {
    ...{ turns: 1, best: 1, inaccuracies: 0, mistakes: 0, blunders: 0, open: 0, lost: 0, accuracy: 1 },
  });
});

test("every value is that of the player at the bottom", () => {
  speak(["en"]);
  const shown = (/** @type {Api.Value} */ known, /** @type {Side} */ side) => {
    const { text, word, full } = describe(known, side);
    return [text, word, full];
  };
  assert.deepEqual(shown({ value: 6 }, "south"), ["+6", "win", "South wins by 6, exact"]);
  assert.deepEqual(shown({ value: 6 }, "north"), ["−6", "loss", "North wins by 6, exact"]);
  assert.deepEqual(shown({ lower: -8, upper: -2 }, "north"), ["≥+2", "win", "South wins by at least 2, proved"]);
  assert.deepEqual(shown({ estimate: 3 }, "north").slice(0, 1), ["≈−3"]);
  now.bottom = "north";
  assert.deepEqual(shown({ value: 6 }, "north"), ["+6", "win", "North wins by 6, exact"]);
  assert.deepEqual(shown({ value: 0 }, "south"), ["0", "draw", "a draw, exact"]);
  now.bottom = "south";
});
