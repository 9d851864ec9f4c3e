// Numbers of turns.

import assert from "node:assert/strict";
import { test } from "node:test";
import { numberOf, turnsFrom, variationsOf } from "../page/tree.js";
import { newGame, play } from "./games.js";

/** @param {Turn[]} turns */
const shown = (turns) =>
  turns.map((turn) => `${numberOf(turn)} ${turn.places.map((place) => place.by.move).join("")}`).join(" ");

test("turns of several moves have one number", () => {
  const game = newGame();
  play(game, "5+ 3 2 4+ 2 5+ 6+ 4 3");
  assert.equal(shown(turnsFrom(game.root.after[0])), "1. 53 1… 2 2. 42 2… 564 3. 3");
  assert.deepEqual(turnsFrom(undefined), []);
});

test("a variation begins with the number of its turn, and the moves of the turn before it", () => {
  const game = newGame();
  play(game, "5+ 3 2 4+ 2 5+ 6+ 4 3");
  game.show(/** @type {Place} */ (game.find([5, 3, 2, 4, 2, 5])));
  play(game, "1 2");
  assert.equal(shown(turnsFrom(game.find([5, 3, 2, 4, 2, 5])?.after[1])), "2… 5 1 3. 2");
  game.show(/** @type {Place} */ (game.find([5, 3])));
  play(game, "6");
  assert.equal(shown(turnsFrom(game.find([5, 3])?.after[1])), "1… 6");
  const variations = turnsFrom(game.root.after[0]).map((turn) => variationsOf(turn).map((place) => place.by.move));
  assert.deepEqual(variations, [[], [6], [], [1], []]);
});

test("the side that begins has the first turn of a number", () => {
  const game = newGame();
  game.root.side = "north";
  play(game, "1 2");
  const sides = turnsFrom(game.root.after[0]).map(({ side, second }) => [side, second]);
  assert.deepEqual(sides, [["north", false], ["south", true]]);
});
