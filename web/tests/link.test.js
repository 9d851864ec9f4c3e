// A game as the fragment of an address, and back: nothing is lost.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Game, parse, write } from "../page/game.js";
import { USUAL, fragment, fromFragment } from "../page/link.js";
import { newGame, play, steps, tree } from "./games.js";

const PLAYERS = { south: "human", north: "human" };

/** Reads a fragment as the page does. @param {string} text @param {(line: number[]) => Made[]} describe */
function reloaded(text, describe) {
  const { rules = "", board = "", side, moves, at, also, line, comments, pie, exchangePath } = fromFragment(text);
  const game = new Game(rules, write(/** @type {Seeds} */ (parse(board))), side);
  Object.assign(game, { pie, exchangePath });
  const ends = [...also.slice(0, line), moves, ...also.slice(line)].map((path) => game.add(describe(path)));
  game.show(ends[line]);
  game.annotate(comments);
  game.show(game.places[at]);
  return { game };
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
  const text = fragment(game, PLAYERS, "empty-capture");
  const fields = new URLSearchParams(text);
  assert.deepEqual(["moves", "at", "also", "line"].map((name) => fields.get(name)), ["1,4,5,6", "2", "1,2,3;2,2", "1"]);
  const { game: again } = reloaded(text, plain);
  assert.equal(tree(again.root), tree(game.root));
  assert.deepEqual(again.place.path, [1, 4]);
  assert.deepEqual(again.moves, game.moves);
  assert.equal(fragment(again, PLAYERS, "empty-capture"), text);
});

test("every shown place of a tree survives", () => {
  const game = newGame();
  for (const line of ["1 2 3", "1 2 4", "1 3", "2 1 1", "2 1 2", "3"]) {
    game.show(game.root);
    play(game, line);
  }
  for (const place of game.all()) {
    game.show(place);
    const { game: again } = reloaded(fragment(game, PLAYERS, "empty-capture"), plain);
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
  const { game: again } = reloaded(fragment(game, PLAYERS, "empty-capture"), plain);
  assert.deepEqual(again.places.slice(0, 5).map(({ comment }) => comment), texts);
});

test("an exchange of sides keeps its place", () => {
  const game = newGame();
  play(game, "1 2 3");
  Object.assign(game, { pie: "swapped", exchangePath: [1] });
  const { game: again } = reloaded(fragment(game, PLAYERS, "empty-capture"), plain);
  assert.deepEqual(again.exchanged?.path, [1]);
  // Without its moves it is after the first turn.
  const { game: older } = reloaded("board=6x4&moves=1,2&pie=swapped", plain);
  assert.deepEqual(older.exchanged?.path, [1]);
});

test("a link begins with the shortest form of its board", () => {
  /** @param {string} literal */
  const short = (literal) => fragment(new Game("standard", literal, "south"), USUAL, "standard");
  for (const [literal, expected] of [
    ["<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>", "6x4"],
    ["<2,0,0,1,2,3,4>", "1,2/3,4"],
    ["<2,0,1,1,1,1,1>", "%3C2,0,1,1,1,1,1%3E"],
    ["<1,0,0,0,7>", "0/7"],
  ]) {
    assert.equal(short(literal), expected);
    for (const more of ["", "&first=north&moves=1,2"]) {
      const { board, side, moves } = fromFragment(expected + more);
      assert.equal(write(/** @type {Seeds} */ (parse(board ?? ""))), literal);
      assert.deepEqual([side, moves], more ? ["north", [1, 2]] : ["south", []]);
    }
    // Some programs escape more, or nothing.
    for (const form of [encodeURIComponent(literal), literal]) {
      assert.equal(fromFragment(`${form}&at=0`).board, literal);
    }
  }
  const none = ["", "top", "values=off", "6x", "&&", "%"];
  assert.deepEqual(none.filter((text) => fromFragment(text).board), []);
});

test("a link has only fields that differ from the usual ones", () => {
  const game = newGame();
  assert.equal(fragment(game, USUAL, "standard"), "6x4");
  const link = fragment(game, { south: "greedy", north: "perfect" }, "empty-capture");
  assert.equal(link, "6x4&rules=standard&south=greedy");
  assert.deepEqual(fromFragment(link).players, { south: "greedy", north: undefined });
  game.root.side = "north";
  play(game, "1 2");
  game.show(game.root);
  const full = fragment(game, PLAYERS, "standard", { puzzle: "easy:7" });
  assert.equal(full, "6x4&first=north&north=human&puzzle=easy:7&moves=1,2&at=0");
});

test("older links are read", () => {
  const link = "rules=standard&board=%3C2,0,0,1,1,1,1%3E&first=south&south=human&north=perfect&moves=1";
  const { rules, board, side, players, moves } = fromFragment(link);
  assert.deepEqual([rules, board, side, players, moves], ["standard", "<2,0,0,1,1,1,1>", "south", USUAL, [1]]);
});

test("bad numbers of a link are limited", () => {
  const { at, line } = fromFragment("board=6x4&moves=1,2&at=99&also=3&line=7");
  assert.deepEqual([at, line], [2, 1]);
  const other = fromFragment("board=6x4&moves=1,2&at=x&line=-1");
  assert.deepEqual([other.at, other.line], [0, 0]);
});
