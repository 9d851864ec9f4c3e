// The game tree: variations, their order, their removal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ends, forks, promote } from "../page/tree.js";
import { newGame, play, tree } from "./games.js";

/** Returns a game with main line 1 2 3 and variations. */
function branched() {
  const game = newGame();
  play(game, "1 2 3");
  game.show(game.root);
  play(game, "1 4 5");
  game.show(/** @type {Place} */ (game.find([1, 4])));
  play(game, "6");
  game.show(game.root);
  play(game, "2 2");
  return game;
}

test("other moves are variations, and the main line stays", () => {
  const game = branched();
  assert.equal(tree(game.root), "1 [2 2] 2 [4 5 [6]] 3");
  assert.deepEqual(game.moves, [2, 2]);
  assert.deepEqual(
    ends(game.root).map((place) => place.path),
    [[1, 2, 3], [1, 4, 5], [1, 4, 6], [2, 2]],
  );
  // A move that was played already is the same place.
  game.show(game.root);
  const before = game.root.after.length;
  play(game, "1 2");
  assert.equal(game.root.after.length, before);
  assert.deepEqual(game.moves, [1, 2, 3]);
});

test("the shown line goes on as it was shown last", () => {
  const game = branched();
  game.show(/** @type {Place} */ (game.find([1, 4])));
  assert.deepEqual(game.moves, [1, 4, 6]);
  game.show(game.root);
  assert.deepEqual(game.moves, [1, 4, 6]);
});

test("a variation is promoted by one fork", () => {
  const game = branched();
  const place = /** @type {Place} */ (game.find([1, 4, 6]));
  assert.equal(forks(place).length, 2);
  promote(place);
  assert.equal(tree(game.root), "1 [2 2] 2 [4 6 [5]] 3");
  promote(place);
  assert.equal(tree(game.root), "1 [2 2] 4 [2 3] 6 [5]");
  assert.equal(forks(place).length, 0);
  promote(place);
  assert.equal(tree(game.root), "1 [2 2] 4 [2 3] 6 [5]");
});

test("the shown move is removed with all that follow, and put back", () => {
  const game = branched();
  const before = tree(game.root);
  game.show(/** @type {Place} */ (game.find([1, 4])));
  game.remove();
  assert.equal(tree(game.root), "1 [2 2] 2 3");
  assert.deepEqual(game.place.path, [1]);
  assert.deepEqual(game.moves, [1, 2, 3]);
  game.restore();
  assert.equal(tree(game.root), before);
  assert.deepEqual(game.place.path, [1, 4]);
  assert.equal(game.removed, undefined);
  // The first place cannot be removed.
  game.show(game.root);
  game.remove();
  assert.equal(tree(game.root), before);
});

test("the main line is removed and put back before its variations", () => {
  const game = branched();
  const before = tree(game.root);
  game.show(/** @type {Place} */ (game.find([1])));
  game.remove();
  assert.equal(tree(game.root), "2 2");
  // Playing the removed move brings all of it back.
  play(game, "1");
  assert.equal(tree(game.root), before);
  assert.equal(game.removed, undefined);
});

test("a tree of a thousand moves is no problem", () => {
  const game = newGame();
  play(game, "1 ".repeat(1000));
  game.show(/** @type {Place} */ (game.find([1, 1])));
  play(game, "2 ".repeat(1000));
  assert.deepEqual(
    ends(game.root).map((place) => place.path.length),
    [1000, 1002],
  );
});
