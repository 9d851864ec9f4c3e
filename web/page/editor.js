// The dialog to set up a position.

import { ask } from "./dialogs.js";
import { click, find, make } from "./elements.js";
import { parse, turned, write } from "./game.js";
import { now } from "./session.js";
import { name, pitName, t } from "./words.js";

/** @param {string} label @param {number} column @param {string} row @param {number} value */
function field(label, column, row, value) {
  const limits = { type: "number", min: "0", max: "400", required: true };
  const input = make("input", { ...limits, value: String(value), className: "seeds", ariaLabel: label });
  Object.assign(input.style, { gridColumn: String(column), gridRow: row });
  return input;
}

/** Fields of the editor, South's first. @type {{ rows: HTMLInputElement[][], stores: HTMLInputElement[] }} */
const fields = { rows: [], stores: [] };

/** Makes the fields of a board, South's first. @param {Seeds} board */
function fill({ stores, rows }) {
  const pits = rows[0].length;
  fields.rows = [
    rows[0].map((count, index) => field(pitName("south", index + 1), index + 2, "2", count)),
    rows[1].map((count, index) => field(pitName("north", index + 1), pits - index + 1, "1", count)),
  ];
  fields.stores = [
    field(t("fieldStore", { side: name("south") }), pits + 2, "1 / 3", stores[0]),
    field(t("fieldStore", { side: name("north") }), 1, "1 / 3", stores[1]),
  ];
  find("edit-pits").value = String(pits);
  // In the order of the board, for keyboard users.
  const [south, north] = fields.rows;
  find("edit-board").replaceChildren(fields.stores[1], ...north.toReversed(), ...south, fields.stores[0]);
  find("edit-board").style.setProperty("--pits", String(pits));
}

/** Returns the board of the fields, South's first. */
function filled() {
  /** @param {HTMLInputElement[]} inputs */
  const numbers = (inputs) => inputs.map((input) => Math.max(0, Math.trunc(Number(input.value))));
  return { stores: numbers(fields.stores), rows: fields.rows.map(numbers) };
}

/** Turns a board between South's view and the mover's. @param {Seeds} board */
const seen = (board) => (find("edit-first").value === "south" ? board : turned(board));

/** Returns the board of the fields, as the mover sees it. */
const literal = () => write(seen(filled()));

const showText = () => {
  find("edit-text").value = literal();
  find("edit-text").setCustomValidity("");
};

/** Shows a board, also as text. @param {Seeds} board */
const show = (board) => {
  fill(board);
  showText();
};

/** Listens to the fields and buttons of the dialog. */
export function listenToEditor() {
  find("edit-board").addEventListener("input", showText);
  find("edit-first").addEventListener("change", showText);
  click("edit-clear", () => show({ stores: [0, 0], rows: filled().rows.map((row) => row.map(() => 0)) }));
  find("edit-pits").addEventListener("change", () => {
    const pits = Math.max(1, Math.min(16, Math.trunc(Number(find("edit-pits").value)) || 1));
    const { stores, rows } = filled();
    show({ stores, rows: rows.map((row) => Array.from({ length: pits }, (_, index) => row[index] ?? 0)) });
  });
  find("edit-text").addEventListener("change", () => {
    const board = parse(find("edit-text").value);
    const fits = board && board.rows[0].length <= 16;
    find("edit-text").setCustomValidity(fits ? "" : t("badText"));
    if (fits) fill(seen(board));
  });
  find("edit-text").addEventListener("input", () => find("edit-text").setCustomValidity(""));
}

/** Asks for a position, with the shown one at first; undefined if the dialog is cancelled. */
export async function setUp() {
  const { rules, place } = now.game;
  find("edit-rules").value = rules;
  find("edit-first").value = place.side;
  show(place.raw());
  if (!(await ask(find("edit-dialog")))) return undefined;
  return { rules: find("edit-rules").value, board: literal(), side: /** @type {Side} */ (find("edit-first").value) };
}
