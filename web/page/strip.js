// The strips of the players above and below the board: face, name, score, turn.

import { showFace } from "./face.js";
import { find, setText } from "./elements.js";
import { SIDES } from "./game.js";
import { levelOf } from "./players.js";
import { goesOn, isHuman, isSowing, onlyPerson, players } from "./session.js";
import { t } from "./words.js";

/** Shows the faces of the players, and who is to move. @param {Place} place */
export function showStrips(place) {
  for (const side of SIDES) {
    showFace(find(`${side}-face`), players[side], side);
    const moves = place.side === side && !place.finished;
    find(`${side}-strip`).classList.toggle("moves", moves);
    const key = goesOn(place) ? "turnThinking" : onlyPerson() === side && isHuman(place) ? "turnYours" : "turn";
    const text = moves && !isSowing() ? t(key) : "";
    find(`${side}-about`).textContent = levelOf(players[side])?.about ?? "";
    setText(find(`${side}-turn`), text);
  }
}

/** Shows the seeds in the store of a side. @param {Side} side @param {number} count */
export function showScore(side, count) {
  find(`${side}-score`).textContent = String(count);
}
