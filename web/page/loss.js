// Losses of moves and turns against the best ones, as far as they are proved; marked as `kalah review` does, and
// explained by at most one clause of what the rules and proved answers say.

import { Place, captured, isReached, other, sum } from "./game.js";
import { name, t } from "./words.js";

/** Minimum seeds of a mistake that keeps the outcome. */
const MISTAKE = 4;

/**
 * A loss: `seeds`, which is `exact` or at least this, and `turns` if a win or a draw became something worse.
 * @typedef {{ seeds: number, turns: boolean, exact: boolean }} Loss
 */

/** Returns the answer before the move that led to a place, and its value. @param {Place} place */
export function made(place) {
  const answer = place.before?.answer;
  const move = answer?.moves.find((move) => move.move === place.by?.move);
  return answer && move ? { answer, move } : undefined;
}

/** Returns the loss of the move that led to a place; undefined if nothing is proved. @param {Place} place */
export function loss(place) {
  const { answer, move } = made(place) ?? { answer: {}, move: {} };
  const best = answer.value ?? answer.lower;
  const got = move.value ?? move.upper;
  if (best === undefined || got === undefined) return undefined;
  const exact = answer.value !== undefined && move.value !== undefined;
  if (!exact && best <= got) return undefined;
  return { seeds: Math.max(0, best - got) / 2, turns: Math.sign(best) > Math.sign(got), exact };
}

/** Returns the loss of the move that led to a place, if it lost anything. @param {Place} place */
export function mistake(place) {
  const lost = loss(place);
  return lost && lost.seeds > 0 ? lost : undefined;
}

/** Returns `?!`, `?` or `??` for a loss; an empty text without one. @param {Loss | undefined} lost */
export function mark(lost) {
  if (!lost || lost.seeds === 0) return "";
  return lost.turns ? "??" : lost.seeds >= MISTAKE ? "?" : "?!";
}

/**
 * Returns the loss of a whole turn; undefined if a move of it is not proved.
 * @param {Turn} turn
 * @returns {Loss | undefined}
 */
export function turnLoss({ places }) {
  const lost = places.map(loss).filter((lost) => lost !== undefined);
  if (lost.length < places.length) return undefined;
  const seeds = sum(lost.map(({ seeds }) => seeds));
  return { seeds, turns: lost.some(({ turns }) => turns), exact: lost.every(({ exact }) => exact) };
}

/**
 * Counts the marks of a side's turns: of those in which it had a choice.
 * @param {Turn[]} turns
 * @param {Side} side
 */
export function evaluate(turns, side) {
  const own = turns.filter((turn) => turn.side === side);
  const chosen = own.filter(({ places }) => places.some(({ before }) => before.answer?.moves.length !== 1));
  const lost = chosen.map(turnLoss).flatMap((lost) => (lost?.exact ? [lost] : []));
  /** @param {string} sign */
  const count = (sign) => lost.filter((each) => mark(each) === sign).length;
  const best = count("");
  return {
    turns: chosen.length,
    best,
    inaccuracies: count("?!"),
    mistakes: count("?"),
    blunders: count("??"),
    open: chosen.length - lost.length,
    lost: lost.length > 0 ? sum(lost.map(({ seeds }) => seeds)) : undefined,
    accuracy: lost.length > 0 ? best / lost.length : undefined,
  };
}

/**
 * Describes what a move does: it ends the game, captures, or moves again; an empty text otherwise.
 * @param {Reached} place
 */
function effect(place) {
  const { by, before } = place;
  const side = name(before.side);
  if (by.finished) return t("whyEnds", { side });
  const n = captured(place);
  if (n > 0) return t("whyCaptures", { side, n, pit: by.move });
  return by.again ? t("whyAgain", { side }) : "";
}

/** Returns the place after the best reply to a move, if its effects are known. @param {Place} place */
function refutation(place) {
  const best = place.answer?.moves.find(({ move }) => move === place.answer?.best[0]);
  if (!best?.sowing || !best.next || place.side === place.before?.side) return undefined;
  const side = best.again ? place.side : other(place.side);
  const reply = new Place(best.next, side, place, /** @type {Made} */ (best));
  return isReached(reply) ? reply : undefined;
}

/**
 * Describes what the move that led to a place lost, and how the best reply uses it; an empty text if nothing is proved.
 * @param {Place} place
 */
export function why(place) {
  const lost = mistake(place);
  if (!lost) return "";
  const cost = t(lost.exact ? "moveLost" : "moveLostAtLeast", { n: lost.seeds });
  const reply = refutation(place);
  return [cost, (reply && effect(reply)) ?? ""].filter(Boolean).join(": ");
}
