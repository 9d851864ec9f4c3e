// Buttons below the list of moves, for the shown place: changes of variations.

import { isReached } from "./game.js";
import { forks } from "./tree.js";
import { t } from "./words.js";

/** @import { Key } from "./texts.js" */

/**
 * Actions of the list of moves and of its buttons.
 * @typedef {{
 *   goTo: (place: Place) => void,
 *   arrange: (how: "promote" | "makeMain" | "remove" | "restore") => void,
 * }} LineActions
 */

export class LineTools {
  /** Adds the buttons after the list. @param {HTMLElement} list @param {LineActions} act */
  constructor(list, act) {
    this.element = document.createElement("div");
    this.element.className = "line-tools";
    this.element.setAttribute("role", "group");
    /** @param {string} id @param {() => void} run */
    const add = (id, run) => {
      const button = document.createElement("button");
      button.type = "button";
      button.id = id;
      button.hidden = true;
      button.addEventListener("click", run);
      this.element.append(button);
      return button;
    };
    this.promote = add("promote", () => act.arrange("promote"));
    this.makeMain = add("make-main", () => act.arrange("makeMain"));
    this.remove = add("remove", () => act.arrange("remove"));
    this.restore = add("restore", () => act.arrange("restore"));
    list.after(this.element);
  }

  /** Shows the buttons that do something at the shown place of a game. @param {Game} game */
  update(game) {
    this.element.setAttribute("aria-label", t("lineTools"));
    const { place } = game;
    const left = forks(place).length;
    // While lines of a link are loaded, their order is that of the link.
    const loading = game.pending.length > 0;
    /** @param {HTMLButtonElement} button @param {Key} key @param {boolean} shown */
    const show = (button, key, shown) => {
      button.hidden = !shown;
      button.disabled = loading;
      if (button.textContent !== t(key)) {
        button.textContent = t(key);
        button.title = t(/** @type {Key} */ (`${key}Title`));
      }
    };
    show(this.promote, "promote", left > 0);
    show(this.makeMain, "makeMain", left > 1);
    show(this.remove, "remove", isReached(place));
    show(this.restore, "restore", game.removed !== undefined);
  }
}
