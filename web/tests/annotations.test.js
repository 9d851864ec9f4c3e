// Comments and variations in the text of a game: read back at any length.

import assert from "node:assert/strict";
import { test } from "node:test";
import { annotated, divided, interpreted } from "../page/annotations.js";
import { turnsFrom } from "../page/tree.js";
import { newGame, play, steps, tree } from "./games.js";

/** Returns the text that the server writes for the main line. @param {Game} game */
function bareText(game) {
  const pits = game.root.raw().rows[0].length;
  const turns = turnsFrom(game.root.after[0]).map(({ number, second, places }) => {
    const turn = places.map((place) => place.by.move).join(pits > 9 ? "," : "");
    return second ? turn : `${number}. ${turn}`;
  });
  return `[Rules "standard"]\n[Event "{a} ; (b)"]\n\n${[...turns, "*"].join(" ")}\n`;
}

/** Returns a game that has read a text. @param {string} text @param {Game} like */
function reread(text, like) {
  const pits = like.root.raw().rows[0].length;
  const moves = turnsFrom(like.root.after[0]).flatMap(({ places }) => places.map((place) => place.by.move));
  const { bare, words } = divided(text);
  const { lines, comments } = interpreted(words, pits);
  const game = newGame(pits);
  /** Steps as in the first game. @param {number[]} path @returns {Made[]} */
  const describe = (path) => {
    /** @type {Place | undefined} */
    let place = like.root;
    return path.map((move) => {
      place = place?.after.find((next) => next.by.move === move);
      return place?.by ?? steps(String(move), pits)[0];
    });
  };
  game.show(game.add(describe(moves)));
  for (const line of lines) game.add(describe(line));
  game.annotate(comments);
  return { game, bare };
}

/** Comments of turns, as one line each. @param {Game} game */
const comments = (game) =>
  game
    .all()
    .flatMap(({ path, comment }) => (comment ? [`${path.join()}: ${comment.replaceAll(/\s+/g, " ").trim()}`] : []))
    .sort();

/** Writes a game, reads it, and compares. @param {Game} game */
function check(game) {
  const text = annotated(bareText(game), game.root);
  const { game: again, bare } = reread(text, game);
  assert.equal(tree(again.root), tree(game.root), text);
  assert.deepEqual(comments(again), comments(game), text);
  const words = (/** @type {string} */ text) => text.replaceAll(/\d+\.+ /g, "").split(/\s+/);
  assert.deepEqual(words(bare), words(bareText(game)));
  assert.ok(text.split("\n").every((line) => line.length <= 80 || line.includes(";")), text);
  return text;
}

/** @param {Game} game @param {number[]} path */
const at = (game, path) => /** @type {Place} */ (game.find(path));

test("comments stand in braces, or after a semicolon", () => {
  const game = newGame();
  play(game, "1 2 3");
  game.root.comment = "Well\nbegun";
  at(game, [1]).comment = "See 1 & (2)";
  at(game, [1, 2]).comment = "a } is here";
  const text = check(game);
  assert.ok(text.includes("{Well begun} 1. 1 {See 1 & (2)} 1... 2 ; a } is here\n2. 3 *"), text);
});

test("variations stand in parentheses after the turn that they replace", () => {
  const game = newGame();
  play(game, "5+ 3 2 4");
  game.show(at(game, [5]));
  play(game, "6 1");
  game.show(at(game, [5, 6]));
  play(game, "2+ 3 4");
  game.show(game.root);
  play(game, "4 4");
  at(game, [5, 6]).comment = "why not?";
  const words = check(game).split("\n\n")[1].replaceAll("\n", " ");
  assert.equal(words, "1. 53 (1. 4 4) (1. 56 {why not?} 1... 1 (1... 23 2. 4)) 1... 2 2. 4 * ");
});

test("trees of any shape and length survive", () => {
  let seed = 1;
  const random = (/** @type {number} */ most) => {
    seed = (seed * 48271) % 2147483647;
    return seed % most;
  };
  for (const pits of [6, 12]) {
    for (let round = 0; round < 30; round++) {
      const game = newGame(pits);
      for (let move = 0; move < 60; move++) {
        if (random(4) === 0) game.show(game.all()[random(game.all().length)]);
        const [step] = steps(`${1 + random(pits)}${random(3) === 0 ? "+" : ""}`, pits);
        game.play(step);
        // A comment within a turn moves to its end.
        if (random(3) > 0 || step.again) continue;
        game.place.comment = ["one", "two\nlines", "} { ; (", "[x]"][random(4)].repeat(1 + random(20));
      }
      for (const place of game.all()) {
        if (place.side === place.before?.side) place.comment = undefined;
      }
      check(game);
    }
  }
});

test("texts of other programs are read, and faults keep their lines", () => {
  const headers = '[Event "Club"]\n[Start "3x2"]\n\n';
  const text = `${headers}{Well\nbegun} 1.1 21 ; a } is here\n(1... 3 (1... 2)) 2... 3 {(x)} {} * {after}`;
  const { bare, words } = divided(text);
  assert.deepEqual(interpreted(words, 3), {
    lines: [[1, 3], [1, 2]],
    comments: [
      { path: [], text: "Well begun" },
      { path: [1, 2, 1], text: "a } is here" },
      { path: [1, 2, 1, 3], text: "(x)" },
      { path: [1, 2, 1, 3], text: "after" },
    ],
  });
  assert.deepEqual(bare.split(/\s+/).slice(4), ["1.1", "21", "2...", "3", "*", ""]);
  assert.equal(bare.split("\n").length, text.split("\n").length);
  // The server reports what has no end, and what ends nothing.
  for (const bad of ["1 2 {never\nclosed", "1 } 2", "1 ) 2"]) assert.equal(divided(bad).bare, bad);
  assert.equal(divided("1 (2").bare, "1 (");
});
