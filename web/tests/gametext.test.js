// Games that are pasted: links of the page, and what the server reads.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as api from "../page/api.js";
import { gameOf } from "../page/gametext.js";

/** Texts that the program reads, as in tests/play/record.rs. @type {{ text: string, moves?: number[] }[]} */
const FORMS = JSON.parse(readFileSync(new URL("../../tests/play/other-forms.json", import.meta.url), "utf8"));

test("the server gets every form of a game as it is, but only the actions of a replay", async () => {
  /** @type {{ text: string, rules: string }[]} */
  const sent = [];
  api.connect(async (_, { body }) => {
    sent.push(JSON.parse(String(body)));
    const board = "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>";
    return Response.json({ rules: "standard", board, moves: [3], headers: [] });
  });
  for (const { text } of FORMS) {
    const { rules, moves, at } = await gameOf(text, "empty-capture");
    assert.deepEqual([rules, moves, at], ["standard", [3], 1]);
    const { text: last, rules: usual } = sent.at(-1) ?? { text: "", rules: "" };
    assert.equal(usual, "empty-capture");
    const [actions] = text.match(/history=[\d:,]*(?=\\nmove_number=1\\n"\}\}\]\]\}$)/) ?? [];
    const plain = text.replace("\uFEFF", "").replace("{a comment}", " ".repeat(11)).trim();
    assert.equal(last.trim(), actions ? `{"openSpielGameName": "mancala ${actions}` : plain);
  }
});

test("a link of the page is a game", async () => {
  const linked = await gameOf("https://kalah.example/play/#6x4&rules=standard&moves=3,6&at=1&also=2", "empty-capture");
  const { rules, board, moves, at, also } = linked;
  assert.deepEqual([rules, board, moves, at, also], ["standard", "6x4", [3, 6], 1, [[2]]]);
});
