// The value of a game, place by place: a graph, and a bar for the shown place; as the player at the bottom sees it.

import { shape } from "./elements.js";
import { sum } from "./game.js";
import { mistake } from "./loss.js";
import { describe, name, seen, signed, t } from "./words.js";

const [HEIGHT, LEFT, EDGE] = [124, 34, 12];

/** Sizes of the dots. Mistakes are largest, to be seen first. */
const RADIUS = { exact: 4.5, guess: 4.5, slip: 6.5, blunder: 8 };

/** Returns a step for the lines of the scale, so that there are few. @param {number} most */
const stepOf = (most) => [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => most / step <= 3) ?? 1000;

/**
 * The graph: one tab stop, on which the keys for a game move through it. Dragging shows each place under the pointer,
 * and its end goes to the last of them.
 */
export class Graph {
  /**
   * @param {Element} parent
   * @param {{ goTo: (place: Place) => void, glance: (place: Place) => void }} act
   */
  constructor(parent, act) {
    this.parent = parent;
    this.act = act;
    /** @type {Game | undefined} */
    this.game = undefined;
    /** Pixels of the width. */
    this.width = 0;
    /** Place under the pointer while the graph is dragged. @type {Place | undefined} */
    this.dragged = undefined;
    this.svg = shape("svg", { role: "slider", class: "graph", tabindex: 0, "aria-valuemin": 0 });
    parent.append(this.svg);
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.svg.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (this.dragged) this.drag(event);
    });
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) {
      this.svg.addEventListener(end, () => {
        const place = this.dragged;
        this.dragged = undefined;
        if (place) act.goTo(place);
      });
    }
  }

  /** Shows the place nearest to the pointer. @param {PointerEvent} event */
  drag(event) {
    if (!this.game) return;
    const { places } = this.game;
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) * this.width) / box.width - LEFT - EDGE;
    const index = Math.round((x * (places.length - 1)) / (this.width - LEFT - 2 * EDGE));
    const place = places[Math.max(0, Math.min(places.length - 1, index))];
    if (place === this.dragged) return;
    this.dragged = place;
    this.act.glance(place);
  }

  /** @param {Game} game */
  draw(game) {
    this.game = game;
    const { places, at } = game;
    const width = Math.max(200, this.parent.clientWidth);
    this.width = width;
    const known = places.map(({ answer, side }) => seen(answer ?? {}, side));
    /** @param {number} index */
    const full = (index) => describe(places[index].answer ?? {}, places[index].side).full;
    const points = known.map((known) => known.value ?? known.estimate ?? known.lower ?? known.upper);
    const most = Math.max(2, ...points.filter((point) => point !== undefined).map(Math.abs));
    const step = stepOf(most);
    const top = step * Math.ceil(most / step);
    /** @param {number} index */
    const x = (index) => LEFT + EDGE + (index * (width - LEFT - 2 * EDGE)) / Math.max(1, places.length - 1);
    const gap = x(1) - x(0);
    /** @param {number} value */
    const y = (value) => HEIGHT / 2 - (Math.max(-top, Math.min(top, value)) * (HEIGHT / 2 - EDGE)) / top;

    const { svg } = this;
    /** @param {Parameters<typeof shape>} part */
    const add = (...part) => svg.append(shape(...part));
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("aria-label", t("graphLabel", { n: places.filter(mistake).length }));
    svg.setAttribute("aria-valuemax", String(places.length - 1));
    svg.setAttribute("aria-valuenow", String(at));
    svg.setAttribute("aria-valuetext", t("graphAfter", { n: at, value: full(at) }));
    for (let value = -top; value <= top; value += step) {
      add("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: value === 0 ? "zero" : "grid" });
      add("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, signed(value));
    }
    add("line", { x1: x(at), x2: x(at), y1: EDGE / 2, y2: HEIGHT - EDGE / 2, class: "now" });
    let path = "";
    for (const [index, point] of points.entries()) {
      if (point !== undefined) path += `${path && points[index - 1] !== undefined ? "L" : "M"}${x(index)},${y(point)}`;
    }
    if (path) add("path", { d: path, class: "curve" });
    places.forEach((place, index) => {
      const { value, lower, upper } = known[index];
      if (value === undefined && lower !== undefined && upper !== undefined) {
        add("line", { x1: x(index), x2: x(index), y1: y(lower), y2: y(upper), class: "range" });
      }
      const point = points[index];
      if (point === undefined) return;
      // The move that led here may have lost something.
      const lost = mistake(place);
      const kind = lost ? (lost.turns ? "blunder" : "slip") : value === undefined ? "guess" : "exact";
      const here = index === at ? " here" : "";
      // In a long game, only mistakes stay large.
      const radius = (lost ? RADIUS[kind] : Math.min(RADIUS[kind], Math.max(2, gap / 2))) + (here ? 2 : 0);
      let title = t("graphAfter", { n: index, value: full(index) });
      if (lost && place.before) {
        const key = lost.exact ? "graphLost" : "graphLostAtLeast";
        title += `; ${t(key, { side: name(place.before.side), n: lost.seeds })}`;
      }
      const dot = { cx: x(index), cy: y(point), r: radius, class: `dot ${kind}${here}` };
      add("circle", dot, shape("title", {}, title));
    });
  }
}

/**
 * Sets the bar: the share of the player at the bottom, and proved bounds.
 * @param {HTMLElement} bar
 * @param {Place} place
 */
export function setBar(bar, place) {
  const { stores, rows } = place.raw();
  const all = sum([...stores, ...rows.flat()]);
  const known = seen(place.answer ?? {}, place.side);
  /** @param {number} value */
  const part = (value) => 50 + 50 * Math.tanh((4 * value) / Math.max(1, all));
  const { lower, upper } = known;
  const value = known.value ?? known.estimate ?? (lower === undefined || upper === undefined ? 0 : (lower + upper) / 2);
  const { text, full } = describe(place.answer ?? {}, place.side);
  bar.style.setProperty("--share", `${part(value)}%`);
  bar.style.setProperty("--lower", `${part(lower ?? value)}%`);
  bar.style.setProperty("--upper", `${part(upper ?? value)}%`);
  /** @type {HTMLElement} */ (bar.querySelector("b")).textContent = text;
  bar.setAttribute("aria-label", t("barLabel", { value: full }));
}
