// Comments and variations in the text of a game: read back exactly, at any length.

import assert from "node:assert/strict";
import { test } from "node:test";
import { annotated, interpreted, stripped } from "../page/annotations.js";
import { turnsFrom } from "../page/turns.js";
import { newGame, play, steps, tree } from "./games.js";

/** Returns the text that the server writes for the main line. @param {Game} game */
function bareText(game) {
  const pits = game.root.raw().rows[0].length;
  const turns = turnsFrom(game.root.after[0]).map(({ number, second, places }) => {
    const turn = places.map((place) => place.by.move).join(pits > 9 ? "," : "");
    return second ? turn : `${number}. ${turn}`;
  });
  return `[Rules "standard"]\n[Event "{a} ; b"]\n\n${[...turns, "*"].join(" ")}\n`;
}

/** Returns a game that has read a text. @param {string} text @param {Game} like */
function reread(text, like) {
  const pits = like.root.raw().rows[0].length;
  const main = turnsFrom(like.root.after[0]).flatMap(({ places }) => places);
  const moves = main.map((place) => place.by.move);
  const found = stripped(text);
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
  game.show(game.add(describe(moves), 0));
  let rank = 1;
  for (const { path, text, variation } of interpreted(found, moves, pits)) {
    for (const line of variation?.lines ?? []) game.add(describe(line), rank++);
    game.comments.push(...(variation ? variation.comments : [{ path, text }]));
  }
  game.takeComments();
  return { game, bare: found.bare };
}

/** @param {Game} game */
const comments = (game) => game.all().map(({ path, comment }) => [path.join(), comment]).sort();

/** Writes a game, reads it, and compares. @param {Game} game */
function check(game) {
  const text = annotated(bareText(game), game.root);
  const { game: again, bare } = reread(text, game);
  assert.equal(tree(again.root), tree(game.root), text);
  assert.deepEqual(comments(again), comments(game), text);
  assert.deepEqual(bare.split(/\s+/), bareText(game).trim().split(/\s+/));
  return text;
}

/** @param {Game} game @param {number[]} path */
const at = (game, path) => /** @type {Place} */ (game.find(path));

test("a comment of one line stands as it is", () => {
  const game = newGame();
  play(game, "1 2 3");
  game.root.comment = "Well begun";
  at(game, [1]).comment = "See 1 & 2";
  at(game, [1, 2]).comment = "a } is here";
  const text = check(game);
  assert.ok(text.includes("{Well begun} 1. 1 {See 1 & 2} 2 ; a } is here\n2. 3 *"), text);
});

test("other comments are read back as they were typed", () => {
  const texts = ["line\nline", "  spaces  ", "(3 4)", '"quoted"', "a  b }", "1. 2 {x} ; y", "\u00a0x", 'x "y" \\ z'];
  texts.push("\t.", "🙂 }\n");
  const game = newGame();
  play(game, "1 2 3 4 5 6 1 2 3 4");
  for (const [index, text] of texts.entries()) game.places[index].comment = text;
  check(game);
  // Another program may break lines at any space in braces.
  const lines = annotated(bareText(game), game.root).split("\n");
  const broken = lines.map((line) => (/^\[|;/.test(line) ? line : line.replaceAll(" ", "\n"))).join("\n");
  assert.deepEqual(comments(reread(broken, game).game), comments(game));
});

test("variations follow the turn that they replace", () => {
  const game = newGame();
  play(game, "5+ 3 2 4");
  game.show(at(game, [5]));
  play(game, "6 1");
  game.show(at(game, [5, 6]));
  play(game, "2+ 3 4");
  game.show(game.root);
  play(game, "4 4");
  at(game, [5]).comment = "within a turn";
  at(game, [5, 6]).comment = "why not?";
  const text = check(game);
  const words = text.split("\n\n")[1].replaceAll("\n", " ");
  assert.equal(words, '1. 53 {(5 "within a turn")} {(4 4)} {(56 "why not?" 1 (23 4))} 2 2. 4 * ');
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
        if (random(3) > 0) continue;
        game.place.comment = ["one", "two\nlines", "} { ; (", "[x]"][random(4)].repeat(1 + random(20));
      }
      check(game);
    }
  }
});

test("a text may be longer than a request to the server", () => {
  const game = newGame();
  play(game, "1 2 3 4 5 6 ".repeat(20));
  for (const place of game.all()) place.comment = "A long comment. ".repeat(40).trim();
  const text = check(game);
  assert.ok(text.length > 50_000);
  assert.ok(stripped(text).bare.length < 1000);
  assert.ok(text.split("\n").every((line) => line.length <= 80));
});

test("texts of other programs are read", () => {
  const headers = '\uFEFF[Event "Club"]\r\n[Start "3x2"]\r\n\r\n';
  const text = `${headers}{Well\r\nbegun} 1.1 21 ; a } is here\r\n2... 3 {(x)} {} * {after}`;
  const found = stripped(text);
  assert.deepEqual(found.turns, ["1", "21", "3"]);
  const all = interpreted(found, [1, 2, 1, 3], 3);
  assert.deepEqual(
    all.map(({ path, text, variation }) => [path, text, variation]),
    [
      [[], "Well begun", undefined],
      [[1, 2, 1], "a } is here", undefined],
      [[1, 2, 1, 3], "(x)", undefined],
      [[1, 2, 1, 3], "after", undefined],
    ],
  );
  // The server reports faults with their lines, and comments without an end.
  assert.deepEqual(found.lines, [1, 2, 5, 6]);
  assert.equal(stripped("1 2 {never\nclosed").bare, "1 2  {");
  assert.equal(stripped("1 } 2").bare, "1 } 2");
});
