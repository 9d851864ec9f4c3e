// Labels of moves: their values, or what they lose against the best move, as the settings say.

import { lossOf, made } from "./loss.js";
import { settings } from "./settings.js";
import { signed, t, tell } from "./words.js";

/** @import { Key } from "./texts.js" */

/**
 * Describes the loss of a move, as `tell` its value: 0 for a best move, `≤−4` and `≥−4` for losses of at least and at
 * most 4, `≈` before an estimate. Its word and its colour are those of the value.
 * @param {Api.Value} answer of the position
 * @param {Api.Value} move
 */
function tellLoss(answer, move) {
  const known = tell(move);
  /** @param {string} sign @param {Key} key @param {number} n */
  const label = (sign, key, n) => ({ ...known, text: `${sign}${signed(-n)}`, full: `${t(key, { n })}, ${known.full}` });
  /** @param {number | undefined} best @param {number | undefined} got */
  const distance = (best, got) => (best === undefined || got === undefined ? undefined : Math.max(0, best - got));
  const lost = lossOf(answer, move);
  if (lost && !lost.exact) return label("≤", "losesAtLeast", lost.seeds);
  if (lost) return label("", lost.seeds === 0 ? "losesNothing" : "loses", lost.seeds);
  const guess = distance(answer.value ?? answer.estimate, move.value ?? move.estimate);
  if (guess !== undefined) return label("≈", "losesAbout", guess);
  const most = distance(answer.value ?? answer.upper, move.value ?? move.lower);
  if (most !== undefined) return label("≥", "losesAtMost", most);
  return { ...known, text: known.text && "–" };
}

/**
 * Describes a move for its label.
 * @param {Api.Value} answer of the position
 * @param {Api.Value} move
 */
export const labelOf = (answer, move) => (settings.labels === "loss" ? tellLoss(answer, move) : tell(move));

/** Returns the short label of the move that led to a place: its value, or its proved loss. @param {Place} place */
export function madeLabel(place) {
  const known = made(place);
  if (!known) return "";
  const { text } = labelOf(known.answer, known.move);
  return settings.labels === "loss" && /^(0|[≈≥–].*)$/.test(text) ? "" : text;
}
