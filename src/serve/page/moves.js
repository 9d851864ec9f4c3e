// The list of moves with its variations. It is changed, not made again, so that the focus stays.

import { loss } from "./game.js";
import { letter, name, seeds, t } from "./words.js";

/** Gives a list these items in this order, moving as few as possible. */
function arrange(list, items) {
  items.forEach((item, index) => {
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  });
  while (list.children.length > items.length) list.lastChild.remove();
}

export class MoveList {
  /** `show` is told which place was chosen. */
  constructor(element, show) {
    Object.assign(this, { element, show });
    this.items = new WeakMap();
    this.lists = new WeakMap();
  }

  /** Shows the moves of a game; `values`: and what they lost. */
  update(game, values) {
    this.shown = new Set(game.places);
    this.game = game;
    this.values = values;
    this.fill(this.element, game.root.after[0]);
    const here = this.element.querySelector("[aria-current]");
    if (here !== this.here) this.reveal(here);
    this.here = here;
  }

  /** Scrolls the list, and nothing else, so that a button is seen. */
  reveal(button) {
    if (!button) return;
    const [box, frame] = [button.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (box.bottom > frame.bottom) this.element.scrollTop += box.bottom - frame.bottom;
    if (box.top < frame.top) this.element.scrollTop -= frame.top - box.top;
  }

  /** Fills a list with the moves from a place on: each followed by its variations. */
  fill(list, first) {
    const items = [];
    for (let place = first; place; place = place.after[0]) {
      items.push(this.item(place));
      const others = place.before.after;
      if (others[0] === place) for (const variation of others.slice(1)) items.push(this.variation(variation));
    }
    arrange(list, items);
  }

  item(place) {
    let item = this.items.get(place);
    if (!item) {
      item = document.createElement("li");
      const button = document.createElement("button");
      button.type = "button";
      button.addEventListener("click", () => this.show(place));
      item.append(button);
      this.items.set(place, item);
    }
    const button = item.firstChild;
    const mover = place.before.side;
    const lost = this.values ? loss(place) : undefined;
    const wrong = lost?.seeds > 0;
    const text = `${letter(mover)} ${place.by.move}${wrong ? ` −${lost.seeds}` : ""}`;
    if (button.textContent !== text) button.textContent = text;
    const label = `${text}: ${t("moveLabel", { side: name(mover), pit: place.by.move })}`;
    const more = [wrong ? t("moveLost", { n: lost.seeds }) : "", place.comment ?? ""].filter(Boolean);
    button.setAttribute("aria-label", [label, ...more].join(", "));
    button.title = more.join(": ");
    const kind = wrong ? (lost.turns ? "blunder" : "slip") : "";
    button.className = [kind, place.comment ? "commented" : "", this.shown.has(place) ? "" : "aside"].filter(Boolean).join(" ");
    if (place === this.game.place) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    return item;
  }

  variation(place) {
    let item = this.lists.get(place);
    if (!item) {
      item = document.createElement("li");
      item.className = "variation";
      item.append(document.createElement("ol"));
      this.lists.set(place, item);
    }
    this.fill(item.firstChild, place);
    return item;
  }
}
