// Cards for a first visit: play, learn, the puzzle of the day, analyse.

import { showFace } from "./face.js";
import { find } from "./elements.js";
import { FIRST } from "./players.js";
import { remember, settings } from "./settings.js";

/** Returns true if this browser has never been here, and no game is requested. */
const isFirst = () => settings.game === undefined && !settings.welcomed && location.hash.length < 2;

/** Shows the cards at a first visit. */
export function showWelcome() {
  showFace(find("welcome-face"), FIRST, "north");
  if (isFirst()) find("welcome").showModal();
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
    find(`welcome-${card}`).addEventListener("click", () => {
      endWelcome();
      does[card]();
    });
  }
  find("welcome").addEventListener("close", endWelcome);
  find("welcome").addEventListener("click", ({ target }) => target === find("welcome") && endWelcome());
}
