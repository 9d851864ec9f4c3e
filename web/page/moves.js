// The list of moves with its variations. It is updated in place, so that the focus stays.

import { mistake } from "./game.js";
import { letter, name, t } from "./words.js";

/** Gives a list these items in this order, moving as few as possible. @param {Element} list @param {Element[]} items */
function arrange(list, items) {
  for (const [index, item] of items.entries()) {
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  }
  while (list.children.length > items.length) list.lastChild?.remove();
}

export class MoveList {
  /** `show` is called with a chosen place. @param {HTMLElement} element @param {(place: Place) => void} show */
  constructor(element, show) {
    this.element = element;
    this.show = show;
    /** @type {WeakMap<Place, { item: HTMLElement, button: HTMLButtonElement }>} */
    this.items = new WeakMap();
    /** @type {WeakMap<Place, { item: HTMLElement, list: HTMLElement }>} */
    this.lists = new WeakMap();
    /** Places of the shown line. @type {Set<Place>} */
    this.shown = new Set();
    /** @type {Place | undefined} */
    this.place = undefined;
    this.values = false;
    /** @type {Element | null} */
    this.here = null;
  }

  /** Shows the moves of a game, with `values` also their losses. @param {Game} game @param {boolean} values */
  update(game, values) {
    this.shown = new Set(game.places);
    this.place = game.place;
    this.values = values;
    this.fill(this.element, game.root.after[0]);
    const here = this.element.querySelector("[aria-current]");
    if (here !== this.here) this.reveal(here);
    this.here = here;
  }

  /** Scrolls only the list, so that a button is visible. @param {Element | null} button */
  reveal(button) {
    if (!button) return;
    const [box, frame] = [button.getBoundingClientRect(), this.element.getBoundingClientRect()];
    if (box.bottom > frame.bottom) this.element.scrollTop += box.bottom - frame.bottom;
    if (box.top < frame.top) this.element.scrollTop -= frame.top - box.top;
  }

  /**
   * Fills a list with the moves from a place on, each followed by its variations.
   * @param {Element} list
   * @param {Reached | undefined} first
   */
  fill(list, first) {
    const items = [];
    for (let place = first; place; place = place.after[0]) {
      items.push(this.item(place));
      const others = place.before.after;
      if (others[0] === place) for (const variation of others.slice(1)) items.push(this.variation(variation));
    }
    arrange(list, items);
  }

  /** @param {Reached} place */
  made(place) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => this.show(place));
    item.append(button);
    this.items.set(place, { item, button });
    return { item, button };
  }

  /** @param {Reached} place */
  item(place) {
    const { item, button } = this.items.get(place) ?? this.made(place);
    const mover = place.before.side;
    const lost = this.values ? mistake(place) : undefined;
    const text = `${letter(mover)} ${place.by.move}${lost ? ` −${lost.seeds}` : ""}`;
    if (button.textContent !== text) button.textContent = text;
    const label = `${text}: ${t("moveLabel", { side: name(mover), pit: place.by.move })}`;
    const more = [lost ? t("moveLost", { n: lost.seeds }) : "", place.comment ?? ""].filter(Boolean);
    button.setAttribute("aria-label", [label, ...more].join(", "));
    button.title = more.join(": ");
    const kind = lost ? (lost.turns ? "blunder" : "slip") : "";
    button.className = [kind, place.comment ? "commented" : "", this.shown.has(place) ? "" : "aside"]
      .filter(Boolean)
      .join(" ");
    if (place === this.place) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    return item;
  }

  /** @param {Reached} place */
  variation(place) {
    let known = this.lists.get(place);
    if (!known) {
      known = { item: document.createElement("li"), list: document.createElement("ol") };
      known.item.className = "variation";
      known.item.append(known.list);
      this.lists.set(place, known);
    }
    this.fill(known.list, place);
    return known.item;
  }
}
