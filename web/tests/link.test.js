// A game as the fragment of an address, and back: nothing is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Game } from "../page/game.js";
import { fragment, fromFragment } from "../page/link.js";
import { newGame, play, steps, tree } from "./games.js";

const PLAYERS = { south: "human", north: "perfect" };

/** Reads a fragment as the page does. @param {string} text @param {(line: number[]) => Made[]} describe */
function reloaded(text, describe) {
  const { rules = "", board = "", side, moves, at, also, line, comments, pie, exchangePath } = fromFragment(text);
  const game = new Game(rules, board, side);
  const pending = also.map((path, index) => ({ path, rank: index < line ? index : index + 1 }));
  Object.assign(game, { pie, exchangePath, pending, comments });
  game.show(game.add(describe(moves), line));
  game.takeComments();
  game.show(game.places[at]);
  const during = fragment(game, PLAYERS);
  for (let next = game.pending.shift(); next; next = game.pending.shift()) {
    game.add(describe(next.path), next.rank);
    game.takeComments();
  }
  return { game, during };
}

/** @param {number[]} moves */
const plain = (moves) => steps(moves.join(" "));

test("the main line, variations and the shown place survive", () => {
  const game = newGame();
  play(game, "1 2 3");
  game.show(game.root);
  play(game, "2 2");
  game.show(/** @type {Place} */ (game.find([1])));
  play(game, "4 5 6");
  game.show(/** @type {Place} */ (game.find([1, 4])));
  const text = fragment(game, PLAYERS);
  const fields = new URLSearchParams(text);
  assert.deepEqual(["moves", "at", "also", "line"].map((name) => fields.get(name)), ["1,4,5,6", "2", "1,2,3;2,2", "1"]);
  const { game: again, during } = reloaded(text, plain);
  assert.equal(tree(again.root), tree(game.root));
  assert.deepEqual(again.place.path, [1, 4]);
  assert.deepEqual(again.moves, game.moves);
  assert.equal(fragment(again, PLAYERS), text);
  // Nor is anything lost by leaving the page while lines are loaded.
  assert.equal(during, text);
});

test("every shown place of a tree survives", () => {
  const game = newGame();
  for (const line of ["1 2 3", "1 2 4", "1 3", "2 1 1", "2 1 2", "3"]) {
    game.show(game.root);
    play(game, line);
  }
  for (const place of game.all()) {
    game.show(place);
    const { game: again } = reloaded(fragment(game, PLAYERS), plain);
    assert.equal(tree(again.root), tree(game.root));
    assert.deepEqual(again.place.path, place.path);
    assert.deepEqual(again.moves, game.moves);
  }
});

test("comments are the same as typed", () => {
  const texts = ["two  spaces\n\nand lines\n", " 100 % & more; a=b:c,d #x +1 {}", "%2C %3A ", "Ünïcode 🙂"];
  texts.push("x".repeat(20000));
  const game = newGame();
  play(game, "1 2 3 4 5");
  for (const [index, text] of texts.entries()) game.places[index].comment = text;
  const { game: again } = reloaded(fragment(game, PLAYERS), plain);
  assert.deepEqual(again.places.slice(0, 5).map(({ comment }) => comment), texts);
});

test("an exchange of sides keeps its place", () => {
  const game = newGame();
  play(game, "1 2 3");
  Object.assign(game, { pie: "swapped", exchangePath: [1] });
  const { game: again } = reloaded(fragment(game, PLAYERS), plain);
  assert.deepEqual(again.exchanged?.path, [1]);
  // Without its moves it is after the first turn.
  const { game: older } = reloaded("board=6x4&moves=1,2&pie=swapped", plain);
  assert.deepEqual(older.exchanged?.path, [1]);
});

test("the size of a board is a link", () => {
  assert.equal(fromFragment("6x4").board, "6x4");
  assert.equal(fromFragment("").board, undefined);
});

test("bad numbers of a link are limited", () => {
  const { at, line } = fromFragment("board=6x4&moves=1,2&at=99&also=3&line=7");
  assert.deepEqual([at, line], [2, 1]);
  const other = fromFragment("board=6x4&moves=1,2&at=x&line=-1");
  assert.deepEqual([other.at, other.line], [0, 0]);
});
