// Cards for a first visit: play, learn, the puzzle of the day, analyse.

import { showFace } from "./face.js";
import { click, find } from "./elements.js";
import { FIRST } from "./players.js";
import { remember, settings } from "./settings.js";

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
