// The card at the end of a game.

import { showFace } from "./face.js";
import { find } from "./find.js";
import { onlyPerson, players } from "./session.js";
import { name, t } from "./words.js";

/** Place whose card was closed. @type {Place | undefined} */
let closed;

/** Closes the card, until the game ends again. @param {Place} place */
export function closeEnd(place) {
  closed = place;
  find("end").hidden = true;
}

/** Shows the result of a game that ends at a place; without a place it hides the card. @param {Place} [place] */
export function showEnd(place) {
  find("end").hidden = !place || place === closed;
  if (place !== closed) closed = undefined;
  if (!place) return;
  const [south, north] = place.board().stores;
  const you = onlyPerson();
  const winner = south === north ? undefined : south > north ? "south" : "north";
  find("end-face").hidden = !winner;
  if (winner) showFace(find("end-face"), players[winner], winner);
  find("end-title").textContent = !winner
    ? t("endDraw")
    : you
      ? t(winner === you ? "endWon" : "endLost")
      : t("endWins", { side: name(winner) });
  find("end-score").textContent = you === "north" ? `${north} – ${south}` : `${south} – ${north}`;
}
