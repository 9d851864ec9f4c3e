// Why a move is good or bad, in words: at most one clause, and only what the rules and proved answers say.

import { Place, captured, isReached, other } from "./game.js";
import { mistake } from "./loss.js";
import { name, t } from "./words.js";

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
