// The board: two rows of pits, a store at each end, marks of the last move, and values of the legal moves.

import { SIDES, isReached, other } from "./game.js";
import { layout } from "./layout.js";
import { drawSeeds, drawing } from "./seeds.js";
import { name, seeds, t, tell } from "./words.js";

/** Maximum seeds that are drawn; more are only counted. */
const DRAWN = { pit: 24, store: 60 };

/** Width and height of the drawing of a store, by the form of the board. */
const STORE = /** @type {const} */ ({ wide: [100, 240], stacked: [300, 44], tall: [300, 60] });

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} className @param {Element} parent */
const make = (tag, className, parent) => {
  const element = document.createElement(tag);
  element.className = className;
  parent.append(element);
  return element;
};

/** Sets an attribute, if it has another value. @param {Element} element @param {string} key @param {string} value */
const put = (element, key, value) => {
  if (element.getAttribute(key) !== value) element.setAttribute(key, value);
};

export class Board {
  /**
   * `choose` is called with the side and the pit that were chosen; `space` returns the available width and height,
   * and true for a large board.
   * @param {HTMLElement} element
   * @param {(side: Side, pit: number) => void} choose
   * @param {() => { width: number, height: number, large?: boolean }} space
   */
  constructor(element, choose, space) {
    this.element = element;
    this.choose = choose;
    this.space = space;
    this.pits = 0;
    this.running = 0;
    /** @type {keyof typeof STORE} */
    this.form = "wide";
    /** True if there is a value at each pit. */
    this.labels = false;
    /** @type {Record<Side, Pit[]>} */
    this.rows = { south: [], north: [] };
    /** @type {Record<Side, Hole>} */
    this.stores = /** @type {any} */ ({});
  }

  /** All pits and stores. */
  get holes() {
    return [...this.rows.south, this.stores.south, ...this.rows.north, this.stores.north];
  }

  /** Makes the pits and stores. @param {number} pits */
  build(pits) {
    this.pits = pits;
    this.element.replaceChildren();
    this.element.style.setProperty("--pits", String(pits));
    this.rows = { south: [], north: [] };
    /** @param {Side} side @returns {Hole} */
    const store = (side) => {
      const element = make("div", `store ${side}`, this.element);
      element.setAttribute("role", "img");
      return { element, svg: drawing(element), count: make("span", "count", element), kind: "store", side, seeds: 0 };
    };
    /** @param {Side} side @param {number} number @returns {Pit} */
    const pit = (side, number) => {
      const cell = make("div", `cell ${side}`, this.element);
      cell.style.setProperty("--column", String(side === "south" ? number : pits - number + 1));
      const element = make("button", "pit", cell);
      element.type = "button";
      Object.assign(element.dataset, { pit: number, side });
      const svg = drawing(element);
      const count = make("span", "count", element);
      const label = make("span", "label", cell);
      element.addEventListener("click", () => this.choose(side, number));
      return { element, svg, count, label, kind: "pit", side, number, seeds: 0 };
    };
    // In the order on the board.
    const north = store("north");
    for (let number = pits; number >= 1; number--) this.rows.north[number - 1] = pit("north", number);
    for (let number = 1; number <= pits; number++) this.rows.south[number - 1] = pit("south", number);
    this.stores = { north, south: store("south") };
    this.fit();
  }

  /** Lays the board out in the available space; `labels` is true if there is a value at each pit. */
  fit(labels = this.labels) {
    this.labels = labels;
    if (this.pits === 0) return;
    const { width, height, large } = this.space();
    const { form, pit } = layout(this.pits, width, height, labels, large);
    this.element.style.setProperty("--pit", `${pit}px`);
    this.form = form;
    for (const each of Object.keys(STORE)) this.element.classList.toggle(each, each === form);
    this.element.classList.toggle("small", pit < 56);
    this.element.classList.toggle("bare", !labels);
    for (const side of SIDES) this.draw(this.stores[side]);
  }

  /** @param {Hole} hole */
  draw(hole) {
    const store = hole.kind === "store";
    drawSeeds(hole.svg, hole.seeds, DRAWN[hole.kind], store ? STORE[this.form] : [100, 100]);
  }

  /** @param {Hole} hole @param {number} count */
  set(hole, count) {
    hole.seeds = count;
    hole.count.textContent = String(count);
    hole.element.classList.toggle("empty", count === 0);
    this.draw(hole);
    if (hole.kind === "store")
      put(hole.element, "aria-label", t("storeOf", { side: name(hole.side), seeds: seeds(count) }));
  }

  /**
   * Shows a place at once, and stops moving seeds.
   * @param {Place} place
   * @param {boolean} playable
   * @param {boolean} values
   */
  show(place, playable, values) {
    this.running += 1;
    const board = place.board();
    if (board.rows[0].length !== this.pits) this.build(board.rows[0].length);
    for (const [index, side] of SIDES.entries()) {
      for (const [at, pit] of this.rows[side].entries()) this.set(pit, board.rows[index][at]);
      this.set(this.stores[side], board.stores[index]);
    }
    this.mark(place);
    this.label(place, playable, values);
  }

  /** Marks the effects of the move that led to a place, also in words for each pit. @param {Place} place */
  mark(place) {
    /** @type {Map<Hole, Hole["mark"]>} */
    const marks = new Map();
    if (isReached(place)) {
      const { sowing, captured = [] } = place.by;
      const { side } = place.before;
      /** @param {number} number */
      const hole = (number) => this.hole(side, number);
      marks.set(hole(sowing[sowing.length - 1].drops.slice(-1)[0]), "last");
      for (const lift of sowing.slice(1)) marks.set(hole(lift.from), "relay");
      for (const number of captured) marks.set(hole(number), "captured");
      marks.set(hole(sowing[0].from), "from");
    }
    for (const hole of this.holes) {
      hole.mark = marks.get(hole);
      for (const each of ["last", "relay", "captured", "from"]) {
        hole.element.classList.toggle(`mark-${each}`, each === hole.mark);
      }
    }
  }

  /**
   * Shows the value of each legal move; with `hint` only the best ones.
   * @param {Place} place
   * @param {boolean} playable
   * @param {boolean} values
   */
  label(place, playable, values, hint = false) {
    if (values !== this.labels) this.fit(values);
    for (const side of SIDES) {
      this.element.classList.toggle(`${side}-moves`, place.side === side && !place.finished);
      for (const hole of this.rows[side]) {
        const move = place.side === side ? place.answer?.moves.find((move) => move.move === hole.number) : undefined;
        const told = move && values ? tell(move) : undefined;
        const best = Boolean(move && (values || hint) && place.answer?.best.includes(hole.number));
        hole.label.className = `label ${told?.kind ?? ""}`;
        const parts = told ? [told.text, told.word] : [];
        if ([...hole.label.children].map((part) => part.textContent).join() !== parts.join()) {
          hole.label.replaceChildren();
          if (told) {
            make("b", "", hole.label).textContent = told.text;
            make("i", "", hole.label).textContent = told.word;
          }
        }
        hole.label.classList.toggle("best", best && Boolean(told));
        hole.element.classList.toggle("hint", best && hint);
        const legal = place.side === side && hole.seeds > 0 && !place.finished;
        hole.element.classList.toggle("legal", legal && playable);
        put(hole.element, "aria-disabled", String(!(legal && playable)));
        hole.element.tabIndex = legal && playable ? 0 : -1;
        let text = t("pitOf", { side: name(side), pit: hole.number, seeds: seeds(hole.seeds) });
        if (told) text += `: ${told.full}`;
        if (best) text += `, ${t("best")}`;
        if (hole.mark) text += `; ${t(`mark.${hole.mark}`)}`;
        put(hole.element, "aria-label", text);
      }
    }
  }

  /**
   * Returns the pit or store of a place of a sowing: the mover's pits, the mover's store, the other pits.
   * @param {Side} side
   * @param {number} place
   */
  hole(side, place) {
    return [...this.rows[side], this.stores[side], ...this.rows[other(side)]][place - 1];
  }

  /** Moves the focus along the legal pits, in the order on the board. @param {1 | -1} step */
  walk(step) {
    const legal = [.../** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll(".pit.legal"))];
    if (legal.length === 0) return;
    const at = legal.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    legal[at < 0 ? (step > 0 ? 0 : legal.length - 1) : (at + step + legal.length) % legal.length].focus();
  }
}
