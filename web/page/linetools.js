// Buttons below the list of moves, for the shown place: changes of variations.

import { make, setText } from "./elements.js";
import { isReached } from "./game.js";
import { forks } from "./tree.js";
import { t } from "./words.js";

/**
 * Actions of the list of moves and of its buttons.
 * @typedef {{ goTo: (place: Place) => void, arrange: (how: typeof CHANGES[number]) => void }} LineActions
 */

/** Changes of variations, each with a button. */
const CHANGES = /** @type {const} */ (["promote", "makeMain", "remove", "restore"]);

export class LineTools {
  /** Adds the buttons after the list. @param {HTMLElement} list @param {LineActions} act */
  constructor(list, act) {
    this.buttons = CHANGES.map((how) =>
      make("button", { id: how === "makeMain" ? "make-main" : how, hidden: true, onclick: () => act.arrange(how) }),
    );
    this.element = make("div", { className: "line-tools", role: "group" }, ...this.buttons);
    list.after(this.element);
  }

  /** Shows the buttons that do something at the shown place of a game. @param {Game} game */
  update(game) {
    this.element.ariaLabel = t("lineTools");
    const { place, removed } = game;
    const left = forks(place).length;
    const does = { promote: left > 0, makeMain: left > 1, remove: isReached(place), restore: Boolean(removed) };
    for (const [index, how] of CHANGES.entries()) {
      const button = this.buttons[index];
      // While lines of a link are loaded, their order is that of the link.
      Object.assign(button, { hidden: !does[how], disabled: game.pending.length > 0, title: t(`${how}Title`) });
      setText(button, t(how));
    }
  }
}
