// The list of moves with its variations, and lines of best play. The list is updated in place, so that the focus stays.

import { make, setText } from "./elements.js";
import { other } from "./game.js";
import { made, mark, mistake, why } from "./loss.js";
import { numberOf, turnsFrom, turnsOf, variationsOf } from "./tree.js";
import { describe, letter, name, pitName, t } from "./words.js";

/** Gives a list these items in this order, moving as few as possible. @param {Element} list @param {Element[]} items */
function arrange(list, items) {
  for (const [index, item] of items.entries()) {
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  }
  while (list.children.length > items.length) list.lastChild?.remove();
}

export class MoveList {
  /** @param {HTMLElement} element @param {(place: Place) => void} goTo is called with the place of a chosen move */
  constructor(element, goTo) {
    this.element = element;
    this.goTo = goTo;
    /** Buttons of moves: the letter of the side, and the rest. @type {WeakMap<Place, HTMLButtonElement>} */
    this.buttons = new WeakMap();
    /** Items of turns by their first places. @type {WeakMap<Place, { item: HTMLElement, number: HTMLElement }>} */
    this.turns = new WeakMap();
    /** @type {WeakMap<Place, { item: HTMLElement, list: HTMLElement }>} */
    this.lists = new WeakMap();
    /** Items of comments. @type {WeakMap<Place, HTMLElement>} */
    this.comments = new WeakMap();
    this.exchange = make("li", { className: "exchange" });
    /** Places of the shown line. @type {Set<Place>} */
    this.shown = new Set();
    /** @type {Game | undefined} */
    this.game = undefined;
    this.values = false;
    /** @type {Element | null} */
    this.here = null;
  }

  /** Shows the moves of a game, with `values` also their labels. @param {Game} game @param {boolean} values */
  update(game, values) {
    this.shown = new Set(game.places);
    this.game = game;
    this.values = values;
    // Heads of the columns.
    const sides = [game.root.side, other(game.root.side)];
    Object.assign(this.element.dataset, { first: name(sides[0]), second: name(sides[1]) });
    this.element.classList.toggle("empty", !game.root.after[0]);
    this.fill(this.element, game.root.after[0]);
    const here = this.element.querySelector("[aria-current]");
    if (here !== this.here) this.reveal(here);
    this.here = here;
  }

  /** Scrolls only the pane, so that a button is visible. @param {Element | null} button */
  reveal(button) {
    const pane = this.element.closest(".pane");
    if (!button || !pane) return;
    const [box, frame] = [button.getBoundingClientRect(), pane.getBoundingClientRect()];
    if (box.bottom > frame.bottom) pane.scrollTop += box.bottom - frame.bottom;
    if (box.top < frame.top) pane.scrollTop -= frame.top - box.top;
  }

  /**
   * Fills a list with the turns from a place on, each followed by its comments and variations.
   * @param {HTMLElement} list
   * @param {Reached | undefined} first
   */
  fill(list, first) {
    const items = [];
    let numbered = true;
    const root = this.game?.root;
    if (root?.comment && list === this.element) items.push(this.comment(root, root.comment));
    for (const turn of turnsFrom(first)) {
      items.push(this.turn(turn, numbered || !turn.second));
      numbered = false;
      for (const place of turn.places) {
        if (!place.comment) continue;
        items.push(this.comment(place, place.comment));
        numbered = true;
      }
      for (const variation of variationsOf(turn)) {
        items.push(this.variation(variation));
        numbered = true;
      }
      if (turn.places.at(-1) === this.game?.exchanged) {
        setText(this.exchange, `⇄ ${t("exchangeShown")}`);
        items.push(this.exchange);
        numbered = true;
      }
    }
    arrange(list, items);
  }

  /** @param {Place} place @param {string} text */
  comment(place, text) {
    const item = this.comments.get(place) ?? make("li", { className: "text" });
    this.comments.set(place, item);
    setText(item, text);
    return item;
  }

  /** @param {Turn} turn @param {boolean} numbered */
  turn(turn, numbered) {
    const [first] = turn.places;
    let known = this.turns.get(first);
    if (!known) {
      known = { item: make("li"), number: make("span", { className: "number" }) };
      this.turns.set(first, known);
    }
    const { item, number } = known;
    item.className = `turn ${turn.second ? "second" : "first"}`;
    setText(number, numbered ? numberOf(turn) : "");
    const last = turn.places.at(-1);
    arrange(item, [number, ...turn.places.map((place) => this.button(place, place === last))]);
    return item;
  }

  /** @param {Place} place */
  made(place) {
    const [side, move, worth] = ["letter", "move", "worth"].map((className) => make("span", { className }));
    const button = make("button", { onclick: () => this.goTo(place) }, side, move, worth);
    this.buttons.set(place, button);
    return button;
  }

  /** Within a turn, only moves that lost something have a label. @param {Reached} place @param {boolean} isLast */
  button(place, isLast) {
    const button = this.buttons.get(place) ?? this.made(place);
    const mover = place.before.side;
    const lost = this.values ? mistake(place) : undefined;
    const bad = mark(lost);
    const worth = this.values && (isLast || lost) ? describe(made(place)?.move ?? {}, mover).text : "";
    const parts = [`${letter(mover)} `, `${place.by.move}${bad}`, worth && ` ${worth}`];
    for (const [index, part] of parts.entries()) setText(/** @type {HTMLElement} */ (button.children[index]), part);
    const label = `${parts.join("")}: ${pitName(mover, place.by.move)}`;
    const more = [this.values ? why(place) : "", place.comment ?? ""].filter(Boolean);
    button.setAttribute("aria-label", [label, ...more].join(", "));
    button.title = more.join("\n");
    const kind = lost ? (lost.turns ? "blunder" : "slip") : "";
    button.className = [kind, place.comment ? "commented" : "", this.shown.has(place) ? "" : "aside"]
      .filter(Boolean)
      .join(" ");
    if (place === this.game?.place) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    return button;
  }

  /** @param {Reached} place */
  variation(place) {
    let known = this.lists.get(place);
    if (!known) {
      const list = make("ol");
      known = { item: make("li", { className: "variation" }, list), list };
      this.lists.set(place, known);
    }
    this.fill(known.list, place);
    return known.item;
  }
}

/**
 * Shows a line as buttons, each of which calls `play` with the moves up to it. `label` names a move of a turn for
 * screen readers.
 * @param {HTMLElement} element
 * @param {string} text
 * @param {number} pits
 * @param {(moves: number[]) => void} play
 * @param {(move: number, turn: number) => string} label
 */
export function showLine(element, text, pits, play, label) {
  // The same line of the other side has other labels.
  const state = `${label(0, 0)} ${text}`;
  if (element.dataset.line === state) return;
  element.dataset.line = state;
  /** @type {number[]} */
  const moves = [];
  const groups = turnsOf(text, pits).map((turn, index) => {
    const buttons = turn.map((move) => {
      moves.push(move);
      const upTo = [...moves];
      return make("button", { ariaLabel: label(move, index), onclick: () => play(upTo) }, String(move));
    });
    return make("span", { className: "turn" }, ...buttons);
  });
  element.replaceChildren(...groups);
}
