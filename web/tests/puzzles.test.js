// Puzzles: which moves are right, results, days in a row, the calendar.

import assert from "node:assert/strict";
import { test } from "node:test";
import { replyOf, stateOf } from "../page/solution.js";
import { counted, dayAfter, dayOf, daysInRow, resultOf, results } from "../page/streak.js";
import { evaluate, newGame, play } from "./games.js";

/** @param {Partial<Puzzle>} [more] @returns {Puzzle} */
const puzzle = (more) => {
  const line = { move: 5, line: "53 2 4 1", outcome: "win" };
  return /** @type {any} */ ({ position: "p", rules: "standard", level: "easy", ...line, ...more });
};

test("the moves of the line are right, and its end is solved", () => {
  const game = newGame();
  assert.equal(stateOf(puzzle(), game.root), "open");
  assert.equal(replyOf(puzzle(), game.root), 5);
  const states = ["5+", "3", "2", "4", "1"].map((move) => stateOf(puzzle(), play(game, move)));
  assert.deepEqual(states, ["right", "right", "right", "right", "solved"]);
  assert.equal(replyOf(puzzle(), /** @type {Place} */ (game.find([5, 3]))), 2);
  assert.equal(replyOf(puzzle(), game.place), undefined);
});

test("another first move is wrong, and stays wrong", () => {
  const game = newGame();
  assert.equal(stateOf(puzzle(), play(game, "4")), "wrong");
  assert.equal(replyOf(puzzle(), game.place), undefined);
  assert.equal(stateOf(puzzle(), play(game, "2 3")), "wrong");
});

test("later every move that keeps the result is right", () => {
  const game = newGame();
  const place = play(game, "5+ 3 2 6");
  assert.equal(stateOf(puzzle(), place), "unknown");
  // North is to move: its loss is the win of South.
  evaluate(place, { 1: -2 });
  assert.equal(stateOf(puzzle(), place), "right");
  evaluate(place, { 1: 0 });
  assert.equal(stateOf(puzzle(), place), "wrong");
  assert.equal(stateOf(puzzle({ outcome: "draw" }), place), "right");
  place.answer = /** @type {any} */ ({ lower: 2, upper: 8, moves: [], best: [] });
  assert.equal(stateOf(puzzle(), place), "wrong");
  place.answer = /** @type {any} */ ({ lower: -8, upper: -1, moves: [], best: [] });
  assert.equal(stateOf(puzzle(), place), "right");
  // Nothing is proved.
  place.answer = /** @type {any} */ ({ estimate: 4, moves: [], best: [] });
  assert.equal(stateOf(puzzle(), place), "right");
});

test("a win is complete with more than half of the seeds, or at the end of the game", () => {
  const game = newGame();
  const won = game.play({ move: 5, again: false, finished: false, next: "<2,1,9,1,1,1,1>", sowing: [] });
  assert.equal(stateOf(puzzle(), won), "solved");
  assert.equal(stateOf(puzzle({ outcome: "draw" }), won), "right");
  game.show(game.root);
  const drawn = game.play({ move: 4, again: false, finished: true, next: "<2,4,4,0,0,0,0>", sowing: [] });
  assert.equal(stateOf(puzzle({ outcome: "draw", move: 4, line: "4" }), drawn), "solved");
});

test("a wrong move or a hint ends the row, and a later solution does not count", () => {
  let kept = results({ row: 3 });
  kept = counted(kept, puzzle(), false, "2026-11-26");
  assert.equal(kept.row, 0);
  kept = counted(kept, puzzle(), true, "2026-11-26");
  assert.equal(kept.row, 0);
  kept = counted(kept, puzzle({ position: "q" }), true, "2026-11-26");
  kept = counted(kept, puzzle({ position: "q" }), true, "2026-11-26");
  assert.equal(kept.row, 1);
});

test("days in a row are those of puzzles solved on their own day", () => {
  /** @param {Solved} kept @param {string} day @param {string} today */
  const solve = (kept, day, today) => counted(kept, puzzle({ position: day, day }), true, today);
  let kept = results();
  kept = solve(kept, "2026-02-27", "2026-02-27");
  kept = solve(kept, "2026-02-28", "2026-02-28");
  kept = solve(kept, "2026-03-01", "2026-03-01");
  assert.equal(kept.days, 3);
  // A past day changes nothing, nor does another puzzle of the same day.
  kept = solve(kept, "2026-02-01", "2026-03-01");
  kept = counted(kept, puzzle({ position: "hard", level: "hard", day: "2026-03-01" }), true, "2026-03-01");
  assert.deepEqual([kept.days, kept.day, kept.row], [3, "2026-03-01", 5]);
  assert.deepEqual([daysInRow(kept, "2026-03-02"), daysInRow(kept, "2026-03-03")], [3, 0]);
  kept = solve(kept, "2026-03-03", "2026-03-03");
  assert.equal(kept.days, 1);
});

test("the calendar has the best result of a day", () => {
  const [day, today] = ["2026-11-05", "2026-11-26"];
  const of = (/** @type {Solved} */ kept) => resultOf(kept, day, "easy", "standard");
  let kept = results({ row: 2 });
  assert.equal(of(kept), undefined);
  kept = counted(kept, puzzle({ day }), false, today);
  assert.equal(of(kept), "missed");
  kept = counted(kept, puzzle({ day }), true, today);
  assert.equal(of(kept), "later");
  kept = counted(results(), puzzle({ day }), true, today);
  assert.equal(of(counted(kept, puzzle({ day }), false, today)), "first");
  assert.equal(resultOf(kept, day, "hard", "standard"), undefined);
  // Old results give way.
  for (let days = 1; days < 400; days++) kept.past[`${dayAfter(day, days)} easy standard`] = "first";
  kept = counted(kept, puzzle({ position: "next", day: dayAfter(day, 400) }), true, today);
  assert.equal(Object.keys(kept.past).length, 400);
  assert.equal(of(kept), undefined);
});

test("dates", () => {
  assert.equal(dayOf(new Date(2026, 0, 5, 23, 59)), "2026-01-05");
  assert.equal(dayAfter("2024-02-28", 1), "2024-02-29");
  assert.equal(dayAfter("2026-01-01", -1), "2025-12-31");
});
