// Cards over the board: for a first visit (play, learn, the puzzle of the day, analyse), and at the end of a game.

import { showFace } from "./face.js";
import { click, find } from "./elements.js";
import { other } from "./game.js";
import { FIRST, countResult, levelAbove, levelOf, recordText } from "./players.js";
import { onlyPerson, players } from "./session.js";
import { remember, settings } from "./settings.js";
import { name, t } from "./words.js";

/** Shows the cards at a first visit, unless a game is requested. */
export function showWelcome() {
  showFace(find("welcome-face"), FIRST, "north");
  if (settings.game === undefined && !settings.welcomed && location.hash.length < 2) find("welcome").showModal();
}

/** Hides the cards for ever. */
export function endWelcome() {
  find("welcome").close();
  if (!settings.welcomed) remember({ welcomed: true });
}

/**
 * Calls the action of the card that is clicked. A click beside the cards only closes them.
 * @param {Record<"play" | "learn" | "puzzle" | "analyse", () => unknown>} does
 */
export function listenToWelcome(does) {
  for (const card of /** @type {const} */ (["play", "learn", "puzzle", "analyse"])) {
    click(`welcome-${card}`, () => {
      endWelcome();
      return does[card]();
    });
  }
  find("welcome").addEventListener("close", endWelcome);
  find("welcome").addEventListener("click", ({ target }) => target === find("welcome") && endWelcome());
}

/** The last end with a card. @type {Place | undefined} */
let shown;

/** Ends of games that were counted. @type {WeakSet<Place>} */
const counted = new WeakSet();

/** Shows the result of a game that ends at a place, once; without a place it closes the card. @param {Place} [place] */
export function showEnd(place) {
  if (place === shown) return;
  shown = place;
  find("end").close();
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
  const opponent = you ? players[other(you)] : "";
  if (you && !counted.has(place)) countResult(opponent, !winner ? 0 : winner === you ? 1 : -1);
  counted.add(place);
  find("end-record").textContent = recordText(opponent);
  const next = winner === you && you ? levelAbove(opponent) : undefined;
  find("next-level").hidden = !next;
  find("next-level").value = next ?? "";
  find("next-level").textContent = next ? t("nextLevel", { level: levelOf(next)?.title ?? next }) : "";
  find("end").showModal();
}
