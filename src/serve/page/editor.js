// The dialogs: a new game, and any position.

import { read, turned, write } from "./game.js";

const find = (id) => document.getElementById(id);

/** Shows a dialog; resolves to whether it was left by its main button. */
function ask(dialog) {
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => done(dialog.returnValue === "ok"), { once: true });
  });
}

/** Has the dialog of a new game say what the chosen rules are. */
export function explainRules(ruleSets) {
  const select = find("new-rules");
  select.addEventListener("change", () => {
    const { played_by, summary } = ruleSets.find(({ name }) => name === select.value);
    find("new-rules-told").textContent = `${played_by}. ${summary}`;
  });
}

/** Asks for a new game: its rules, its board literal and who begins; undefined when there shall be none. */
export async function newGame(rules) {
  find("new-rules").value = rules;
  find("new-rules").dispatchEvent(new Event("change"));
  if (!(await ask(find("new-dialog")))) return undefined;
  const [pits, seeds] = [find("new-pits"), find("new-seeds")].map((field) => Number(field.value));
  const row = Array(pits).fill(seeds);
  return { rules: find("new-rules").value, board: write({ stores: [0, 0], rows: [row, row] }), side: find("new-first").value };
}

function field(label, column, row, value) {
  const input = document.createElement("input");
  Object.assign(input, { type: "number", min: 0, max: 400, value, required: true, className: "seeds" });
  input.setAttribute("aria-label", label);
  Object.assign(input.style, { gridColumn: column, gridRow: row });
  return input;
}

/** The fields of the editor, as the board lies: South's row and store first. */
class Fields {
  show(board) {
    const pits = board.rows[0].length;
    this.rows = [
      board.rows[0].map((count, index) => field(`South pit ${index + 1}`, index + 2, 2, count)),
      board.rows[1].map((count, index) => field(`North pit ${index + 1}`, pits - index + 1, 1, count)),
    ];
    this.stores = [
      field("South's store", pits + 2, "1 / 3", board.stores[0]),
      field("North's store", 1, "1 / 3", board.stores[1]),
    ];
    find("edit-pits").value = pits;
    // In the order of the board, for those who go from field to field.
    find("edit-board").replaceChildren(this.stores[1], ...[...this.rows[1]].reverse(), ...this.rows[0], this.stores[0]);
    find("edit-board").style.setProperty("--pits", pits);
  }

  /** The board, South's first. */
  read() {
    const numbers = (inputs) => inputs.map((input) => Math.max(0, Math.trunc(Number(input.value))));
    return { stores: numbers(this.stores), rows: this.rows.map(numbers) };
  }
}

const fields = new Fields();

/** What the fields say, seen by the mover. */
const literal = () => {
  const board = fields.read();
  return write(find("edit-first").value === "south" ? board : turned(board));
};

const tellText = () => (find("edit-text").value = literal());

find("edit-board").addEventListener("input", tellText);
find("edit-first").addEventListener("change", tellText);
find("edit-pits").addEventListener("change", () => {
  const pits = Math.max(1, Math.min(16, Number(find("edit-pits").value) || 1));
  const { stores, rows } = fields.read();
  fields.show({ stores, rows: rows.map((row) => Array.from({ length: pits }, (_, index) => row[index] ?? 0)) });
  tellText();
});
find("edit-text").addEventListener("change", () => {
  const text = find("edit-text").value.trim();
  const board = /^<[\d,\s]+>$/.test(text) ? read(text) : undefined;
  const sound = board && board.rows[0].length > 0 && board.rows[0].length === board.rows[1].length;
  find("edit-text").setCustomValidity(sound ? "" : "write <m,S,N,s1..sm,n1..nm>");
  if (sound) fields.show(find("edit-first").value === "south" ? board : turned(board));
});
find("edit-text").addEventListener("input", () => find("edit-text").setCustomValidity(""));

/** Asks for a position, beginning with that of a place; undefined when there shall be none. */
export async function setUp(rules, place) {
  find("edit-rules").value = rules;
  find("edit-first").value = place.side;
  fields.show(place.board());
  tellText();
  if (!(await ask(find("edit-dialog")))) return undefined;
  return { rules: find("edit-rules").value, board: literal(), side: find("edit-first").value };
}
