// Games from elsewhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { imported } from "../page/imports.js";

test("letters, lists of actions and links are games", () => {
  const from = { rules: "standard", board: "6x4", side: "south" };
  for (const text of ["CFb A", "C, F, B, A", "cfba", "[3, 6, 9, 1]", "3,6,9,1", "\uFEFF3, 6, 9, 1\n"]) {
    assert.deepEqual(imported(text, "standard"), { ...from, moves: [3, 6, 2, 1], at: 4 }, text);
  }
  const linked = imported("https://kalah.example/play/#6x4&rules=standard&moves=3,6&at=1&also=2", "empty-capture");
  const { rules, board, moves, at, also } = linked ?? {};
  assert.deepEqual([rules, board, moves, at, also], ["standard", "6x4", [3, 6], 1, [[2]]]);
  for (const text of ["36 2", "[Event \"a\"]\n36", "3", "", "https://kalah.example/#top"]) {
    assert.equal(imported(text, "standard"), undefined, text);
  }
});
