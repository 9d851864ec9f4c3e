// A line of play as text, turn by turn, and as buttons.

import { make } from "./elements.js";

/**
 * Returns the moves of the turns of a line such as `36 21 4`, or `11,3 2` with commas. On boards of more than nine pits
 * a side, a turn without a comma is one move.
 * @param {string} text
 * @param {number} pits
 */
export function turnsOf(text, pits) {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((turn) => (turn.includes(",") || pits > 9 ? turn.split(",").filter(Boolean) : [...turn]).map(Number));
}

/**
 * Shows a line as buttons, each of which calls `play` with the moves up to it. `label` names a move of a turn for
 * screen readers.
 * @param {HTMLElement} element
 * @param {string} text
 * @param {number} pits
 * @param {(moves: number[]) => void} play
 * @param {(move: number, turn: number) => string} label
 */
export function showLine(element, text, pits, play, label) {
  // The same line of the other side has other labels.
  const state = `${label(0, 0)} ${text}`;
  if (element.dataset.line === state) return;
  element.dataset.line = state;
  /** @type {number[]} */
  const moves = [];
  const groups = turnsOf(text, pits).map((turn, index) => {
    const buttons = turn.map((move) => {
      moves.push(move);
      const upTo = [...moves];
      return make("button", { ariaLabel: label(move, index), onclick: () => play(upTo) }, String(move));
    });
    return make("span", { className: "turn" }, ...buttons);
  });
  element.replaceChildren(...groups);
}
