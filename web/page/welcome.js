// Three cards for a first visit: play, learn, analyse.

import { showFace } from "./face.js";
import { find } from "./find.js";
import { remember, settings } from "./settings.js";

/** Returns true if this browser has never been here, and no game is requested. */
const isFirst = () => settings.game === undefined && !settings.welcomed && location.hash.length < 2;

/** Shows the cards at a first visit. */
export function showWelcome() {
  showFace(find("welcome-face"), "alphabeta:2", "north");
  find("welcome").hidden = !isFirst();
}

/** Hides the cards for ever. */
export function endWelcome() {
  find("welcome").hidden = true;
  if (!settings.welcomed) remember({ welcomed: true });
}

/**
 * Calls the action of the card that is clicked.
 * @param {{ play: () => unknown, learn: () => unknown, analyse: () => unknown }} does
 */
export function listenToWelcome(does) {
  for (const card of /** @type {const} */ (["play", "learn", "analyse"])) {
    find(`welcome-${card}`).addEventListener("click", () => {
      endWelcome();
      does[card]();
    });
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") endWelcome();
  });
}
