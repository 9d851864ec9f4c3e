// Drawings over the board: an arc for the last move, and the place of the last seed of the move under the pointer.

import { make, shape } from "./elements.js";

/** @import { Board } from "./board.js" */

/** Returns the middle of a hollow, from the corner of the board. @param {Board} board @param {Hole} hole */
export function middle(board, hole) {
  const frame = board.element.getBoundingClientRect();
  const box = hole.element.getBoundingClientRect();
  return {
    x: box.left + box.width / 2 - frame.left - board.element.clientLeft,
    y: box.top + box.height / 2 - frame.top - board.element.clientTop,
  };
}

/**
 * Draws an arc with a head from one hollow to another; without them it removes the arc.
 * @param {Board} board
 * @param {Hole} [from]
 * @param {Hole} [to]
 */
export function drawArc(board, from, to) {
  board.element.querySelector(".arc")?.remove();
  if (!from || !to || from === to || board.element.clientWidth === 0) return;
  const [a, b] = [middle(board, from), middle(board, to)];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = Math.hypot(dx, dy);
  // It bends towards the middle of the board, away from the counts.
  const { pit } = board.size;
  const bend = (from.side === board.bottom ? 1 : -1) * (dx >= 0 ? 1 : -1) * Math.min(0.35 * long, 1.1 * pit);
  const c = { x: (a.x + b.x) / 2 + (dy / long) * bend, y: (a.y + b.y) / 2 - (dx / long) * bend };
  const turn = Math.atan2(b.y - c.y, b.x - c.x);
  // Its head is at the rim, so that it hides no seed.
  b.x -= 0.4 * pit * Math.cos(turn);
  b.y -= 0.4 * pit * Math.sin(turn);
  /** @param {{ x: number, y: number }} point */
  const text = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
  /** @param {number} off */
  const tip = (off) => text({ x: b.x - 13 * Math.cos(turn + off), y: b.y - 13 * Math.sin(turn + off) });
  const path = `M${text(a)} Q${text(c)} ${text(b)} M${tip(0.6)} L${text(b)} L${tip(-0.6)}`;
  const lines = ["halo", "trace"].map((kind) => shape("path", { class: kind, d: path }));
  board.element.append(shape("svg", { class: "arc", "aria-hidden": "true" }, ...lines));
}

/**
 * Marks the hollow into which the last seed of a move would fall, and whether the mover would move again or capture.
 * Without a hollow it removes the mark.
 * @param {Board} board
 * @param {Hole} [target]
 * @param {string} text
 */
export function drawAim(board, target, text = "") {
  board.element.querySelector(".aim")?.remove();
  if (!target) return;
  const mark = make("span", { className: "aim", ariaHidden: "true" }, text);
  const { x, y } = middle(board, target);
  mark.style.transform = `translate(${x}px, ${y}px)`;
  board.element.append(mark);
}
