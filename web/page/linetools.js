// Buttons below the list of moves, for the shown place: changes of variations.

import { make, setText } from "./elements.js";
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
    /** @param {Parameters<LineActions["arrange"]>[0]} how @param {string} id */
    const button = (how, id = how) => make("button", { id, hidden: true, onclick: () => act.arrange(how) });
    this.promote = button("promote");
    this.makeMain = button("makeMain", "make-main");
    this.remove = button("remove");
    this.restore = button("restore");
    const buttons = [this.promote, this.makeMain, this.remove, this.restore];
    this.element = make("div", { className: "line-tools", role: "group" }, ...buttons);
    list.after(this.element);
  }

  /** Shows the buttons that do something at the shown place of a game. @param {Game} game */
  update(game) {
    this.element.ariaLabel = t("lineTools");
    const { place } = game;
    const left = forks(place).length;
    // While lines of a link are loaded, their order is that of the link.
    const loading = game.pending.length > 0;
    /** @param {HTMLButtonElement} button @param {Key} key @param {boolean} shown */
    const show = (button, key, shown) => {
      button.hidden = !shown;
      button.disabled = loading;
      setText(button, t(key));
      button.title = t(/** @type {Key} */ (`${key}Title`));
    };
    show(this.promote, "promote", left > 0);
    show(this.makeMain, "makeMain", left > 1);
    show(this.remove, "remove", isReached(place));
    show(this.restore, "restore", game.removed !== undefined);
  }
}
