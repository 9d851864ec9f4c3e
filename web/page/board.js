// The board: two rows of pits, a store at each end, values of the legal moves, marks and the arc of the last move, and
// the place of the last seed of the move under the pointer.

import { make, shape } from "./elements.js";
import { SIDES, isReached, other } from "./game.js";
import { layout } from "./layout.js";
import { drawSeeds, drawing } from "./seeds.js";
import { describe, name, seeds, t } from "./words.js";

/** Maximum seeds that are drawn; more are only counted. */
const DRAWN = { pit: 24, store: 60 };

/** Radius of a seed, in hundredths of a pit; larger in small pits. */
const RADIUS = { usual: 9.9, small: 12 };

/** Sets an attribute, if it has another value. @param {Element} element @param {string} key @param {string} value */
const put = (element, key, value) => {
  if (element.getAttribute(key) !== value) element.setAttribute(key, value);
};

/** Returns the place of the last seed of a move. @param {{ sowing?: Api.Lift[] }} move */
const lastDrop = ({ sowing }) => sowing?.at(-1)?.drops.at(-1) ?? 0;

export class Board {
  /**
   * `choose` is called with the side and the pit that were chosen; `space` returns the available width and height.
   * @param {HTMLElement} element
   * @param {(side: Side, pit: number) => void} choose
   * @param {() => { width: number, height: number, low?: boolean, font?: number }} space
   */
  constructor(element, choose, space) {
    this.element = element;
    this.choose = choose;
    this.space = space;
    this.pits = 0;
    this.running = 0;
    /** Side of the lower row. @type {Side} */
    this.bottom = "south";
    /** Form, and size of a pit. @type {ReturnType<typeof layout>} */
    this.size = { form: "wide", pit: 60, high: 60 };
    /** True if there is space for a value at each pit. */
    this.labels = false;
    /** The shown place. @type {Place | undefined} */
    this.place = undefined;
    /** Pit of South to point at, in a lesson. @type {number | undefined} */
    this.pointed = undefined;
    /** Requests the effects of a legal move without an answer. @type {(place: Place, pit: number) => void} */
    this.peek = () => {};
    /** Pit under the pointer, or with the focus. @type {number | undefined} */
    this.aimed = undefined;
    /** Called with the number of seeds in a store. @type {(side: Side, count: number) => void} */
    this.scored = () => {};
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
    /** @param {Side} side */
    const row = (side) => `${side} ${side === this.bottom ? "lower" : "upper"}`;
    /** @param {Side} side @returns {Hole} */
    const store = (side) => {
      const [svg, count] = [drawing(), make("span", { className: "count" })];
      const element = make("div", { className: `store ${row(side)}`, role: "img" }, svg, count);
      this.element.append(element);
      return { element, svg, count, kind: "store", side, seeds: 0 };
    };
    /** @param {Side} side @param {number} number @returns {Pit} */
    const pit = (side, number) => {
      const [svg, count] = [drawing(), make("span", { className: "count" })];
      const star = make("span", { className: "star", ariaHidden: "true" }, "★");
      const element = make("button", { className: "pit" }, svg, count, star);
      Object.assign(element.dataset, { pit: number, side });
      const label = make("span", { className: "label" });
      const cell = make("div", { className: `cell ${row(side)}` }, element, label);
      cell.style.setProperty("--column", String(side === this.bottom ? number : pits - number + 1));
      this.element.append(cell);
      element.addEventListener("click", () => this.choose(side, number));
      for (const event of ["pointerenter", "focus"]) element.addEventListener(event, () => this.aim(number));
      for (const event of ["pointerleave", "blur", "click"]) element.addEventListener(event, () => this.aim());
      return { element, svg, count, label, kind: "pit", side, number, seeds: 0 };
    };
    // In the order on the board.
    const [lower, upper] = [this.bottom, other(this.bottom)];
    this.stores[upper] = store(upper);
    for (let number = pits; number >= 1; number--) this.rows[upper][number - 1] = pit(upper, number);
    for (let number = 1; number <= pits; number++) this.rows[lower][number - 1] = pit(lower, number);
    this.stores[lower] = store(lower);
    this.fit();
  }

  /** Lays the board out in the available space; `labels` is true if there is a value at each pit. */
  fit(labels = this.labels) {
    this.labels = labels;
    if (this.pits === 0) return;
    this.size = layout(this.pits, this.space(), labels);
    const { form, pit, high, tight } = this.size;
    this.element.style.setProperty("--pit", `${pit}px`);
    this.element.style.setProperty("--pit-high", `${high}px`);
    for (const each of ["wide", "stacked", "tall"]) this.element.classList.toggle(each, each === form);
    this.element.classList.toggle("tight", Boolean(tight));
    this.element.classList.toggle("small", pit < 64);
    this.element.classList.toggle("bare", !labels);
    for (const hole of this.holes) this.draw(hole);
    this.trace();
  }

  /** @param {Hole} hole */
  draw(hole) {
    const { pit, high } = this.size;
    const store = hole.kind === "store";
    const { clientWidth, clientHeight } = hole.element;
    const size = store ? [clientWidth || 115, clientHeight || 250] : [pit, high];
    const [width, height] = size.map((length) => Math.round((store && !clientWidth ? 1 : 100 / pit) * length));
    const turn = ("number" in hole ? Number(hole.number) : 9) + (hole.side === "south" ? 0 : 20);
    const radius = pit < 64 ? RADIUS.small : RADIUS.usual;
    drawSeeds(hole.svg, hole.seeds, { most: DRAWN[hole.kind], width, height, radius, round: !store, turn });
  }

  /** Draws the arc of the last move. */
  trace() {
    const { by, before } = this.place ?? {};
    if (by && before) drawArc(this, this.hole(before.side, by.sowing[0].from), this.hole(before.side, lastDrop(by)));
    else drawArc(this);
  }

  /** Shows where the last seed of a legal move falls; without a pit, nothing. @param {number} [pit] */
  aim(pit) {
    this.aimed = pit;
    const place = this.place;
    const legal = place && pit && this.rows[place.side][pit - 1]?.element.classList.contains("legal");
    if (!legal) {
      drawAim(this);
      return;
    }
    const answered = place.answer?.moves.find((move) => move.move === pit);
    // Answers about whole games have no sowing.
    const move = answered?.sowing ? answered : place.peeked.get(pit);
    if (!move?.sowing) {
      drawAim(this);
      this.peek(place, pit);
      return;
    }
    drawAim(this, this.hole(place.side, lastDrop(move)), move.again ? "↻" : move.captured?.length ? "×" : "");
  }

  /** Shows a few words for a moment. @param {string} text */
  shout(text) {
    this.element.querySelector(".shout")?.remove();
    const element = make("div", { className: "shout", ariaHidden: "true" }, text);
    this.element.append(element);
    setTimeout(() => element.remove(), 1300);
  }

  /** Shows that an empty pit cannot be sown. @param {Side} side @param {number} pit */
  refuse(side, pit) {
    this.shout(t("pitEmpty"));
    const shake = [0, -6, 6, -4, 4, 0].map((x) => ({ transform: `translateX(${x}px)` }));
    this.rows[side][pit - 1].element.animate(shake, 300);
  }

  /** @param {Hole} hole @param {number} count */
  set(hole, count) {
    hole.seeds = count;
    hole.count.textContent = String(count);
    hole.element.classList.toggle("empty", count === 0);
    this.draw(hole);
    if (hole.kind !== "store") return;
    this.scored(hole.side, count);
    put(hole.element, "aria-label", t("storeOf", { side: name(hole.side), seeds: seeds(count) }));
  }

  /**
   * Shows a place at once, and stops moving seeds.
   * @param {Place} place
   * @param {boolean} playable
   * @param {boolean} values
   * @param {Side} [bottom] side of the lower row
   */
  show(place, playable, values, bottom = this.bottom) {
    this.running += 1;
    this.place = place;
    const board = place.board();
    if (board.rows[0].length !== this.pits || bottom !== this.bottom) {
      this.bottom = bottom;
      this.build(board.rows[0].length);
    }
    if (values !== this.labels) this.fit(values);
    drawAim(this);
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
      marks.set(hole(lastDrop(place.by)), "last");
      for (const lift of sowing.slice(1)) marks.set(hole(lift.from), "relay");
      for (const number of captured) marks.set(hole(number), "captured");
      marks.set(hole(sowing[0].from), "from");
    }
    this.put(marks);
    this.trace();
  }

  /** Shows these marks, and no others. @param {Map<Hole, Hole["mark"]>} [marks] */
  put(marks) {
    for (const hole of this.holes) {
      hole.mark = marks?.get(hole);
      for (const each of ["last", "relay", "captured", "from"]) {
        hole.element.classList.toggle(`mark-${each}`, each === hole.mark);
      }
    }
    drawArc(this);
  }

  /**
   * Shows the value or the loss of each legal move; with `hint` only the best ones.
   * @param {Place} place
   * @param {boolean} playable
   * @param {boolean} values
   */
  label(place, playable, values, hint = false) {
    for (const side of SIDES) {
      this.element.classList.toggle(`${side}-moves`, place.side === side && !place.finished);
      for (const hole of this.rows[side]) {
        const move = place.side === side ? place.answer?.moves.find((move) => move.move === hole.number) : undefined;
        const known = place.answer && move && values ? describe(move, side) : undefined;
        const best = Boolean(move && (values || hint) && place.answer?.best.includes(hole.number));
        hole.label.className = `label ${known?.kind ?? ""}`;
        const parts = known ? [known.text, known.word] : [];
        if ([...hole.label.children].map((part) => part.textContent).join() !== parts.join()) {
          hole.label.replaceChildren(...(known ? [make("b", {}, known.text), make("i", {}, known.word)] : []));
        }
        hole.label.classList.toggle("best", best && Boolean(known));
        hole.element.classList.toggle("best", best);
        hole.element.classList.toggle("hint", (best && hint) || (side === "south" && this.pointed === hole.number));
        const legal = place.side === side && hole.seeds > 0 && !place.finished;
        hole.element.classList.toggle("legal", legal && playable);
        put(hole.element, "aria-disabled", String(!(legal && playable)));
        hole.element.tabIndex = legal && playable ? 0 : -1;
        let text = t("pitOf", { side: name(side), pit: hole.number, seeds: seeds(hole.seeds) });
        if (known) text += `: ${known.full}`;
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

/** Returns the middle of a hollow, from the corner of the board. @param {Board} board @param {Hole} hole */
export function middle(board, hole) {
  const frame = board.element.getBoundingClientRect();
  const box = hole.element.getBoundingClientRect();
  return {
    x: box.left + box.width / 2 - frame.left - board.element.clientLeft,
    y: box.top + box.height / 2 - frame.top - board.element.clientTop,
  };
}

/**
 * Draws an arc with a head from one hollow to another; without them it removes the arc.
 * @param {Board} board
 * @param {Hole} [from]
 * @param {Hole} [to]
 */
function drawArc(board, from, to) {
  board.element.querySelector(".arc")?.remove();
  if (!from || !to || from === to || board.element.clientWidth === 0) return;
  const [a, b] = [middle(board, from), middle(board, to)];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const long = Math.hypot(dx, dy);
  // It bends towards the middle of the board, away from the counts.
  const { pit } = board.size;
  const bend = (from.side === board.bottom ? 1 : -1) * (dx >= 0 ? 1 : -1) * Math.min(0.35 * long, 1.1 * pit);
  const c = { x: (a.x + b.x) / 2 + (dy / long) * bend, y: (a.y + b.y) / 2 - (dx / long) * bend };
  const turn = Math.atan2(b.y - c.y, b.x - c.x);
  // Its head is at the rim, so that it hides no seed.
  b.x -= 0.4 * pit * Math.cos(turn);
  b.y -= 0.4 * pit * Math.sin(turn);
  /** @param {{ x: number, y: number }} point */
  const text = ({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`;
  /** @param {number} off */
  const tip = (off) => text({ x: b.x - 13 * Math.cos(turn + off), y: b.y - 13 * Math.sin(turn + off) });
  const path = `M${text(a)} Q${text(c)} ${text(b)} M${tip(0.6)} L${text(b)} L${tip(-0.6)}`;
  const lines = ["halo", "trace"].map((kind) => shape("path", { class: kind, d: path }));
  board.element.append(shape("svg", { class: "arc", "aria-hidden": "true" }, ...lines));
}

/**
 * Marks the hollow into which the last seed of a move would fall, and whether the mover would move again or capture.
 * Without a hollow it removes the mark.
 * @param {Board} board
 * @param {Hole} [target]
 * @param {string} text
 */
function drawAim(board, target, text = "") {
  board.element.querySelector(".aim")?.remove();
  if (!target) return;
  const mark = make("span", { className: "aim", ariaHidden: "true" }, text);
  const { x, y } = middle(board, target);
  mark.style.transform = `translate(${x}px, ${y}px)`;
  board.element.append(mark);
}
