// The value of a game, place by place, told for South.

import { loss } from "./game.js";
import { name, signed, tell } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, EDGE] = [170, 34, 12];

/** How large the dots are: what went wrong is seen first. */
const RADIUS = { exact: 4.5, guess: 4.5, slip: 6.5, blunder: 8 };

const make = (tag, attributes, parent) => {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
};

/** What is known of a place, for South. */
function forSouth(place) {
  const { value, lower, upper, estimate } = place.answer ?? {};
  if (place.side === "south") return { value, lower, upper, estimate };
  const negative = (number) => (number === undefined ? undefined : -number || 0);
  return { value: negative(value), lower: negative(upper), upper: negative(lower), estimate: negative(estimate) };
}

/** A step for the lines of the scale, so that there are few. */
const stepOf = (most) => [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => most / step <= 3) ?? 1000;

export function draw(parent, game, goTo) {
  const width = Math.max(200, parent.clientWidth);
  const known = game.places.map(forSouth);
  const points = known.map((known) => known.value ?? known.estimate ?? known.lower ?? known.upper);
  const most = Math.max(2, ...points.filter((point) => point !== undefined).map(Math.abs));
  const step = stepOf(most);
  const top = step * Math.ceil(most / step);
  const x = (index) => LEFT + EDGE + (index * (width - LEFT - 2 * EDGE)) / Math.max(1, game.places.length - 1);
  const y = (value) => HEIGHT / 2 - (Math.max(-top, Math.min(top, value)) * (HEIGHT / 2 - EDGE)) / top;

  const svg = make("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", class: "graph" });
  const blunders = game.places.filter((place) => loss(place)?.seeds > 0).length;
  const moves = `${game.places.length - 1} ${game.places.length === 2 ? "move" : "moves"}`;
  svg.setAttribute("aria-label", `Value for South over ${moves}; ${blunders} lost something`);
  for (let value = -top; value <= top; value += step) {
    make("line", { x1: LEFT, x2: width, y1: y(value), y2: y(value), class: value === 0 ? "zero" : "grid" }, svg);
    make("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, svg).textContent = signed(value);
  }
  let path = "";
  points.forEach((point, index) => {
    if (point !== undefined) path += `${path && points[index - 1] !== undefined ? "L" : "M"}${x(index)},${y(point)}`;
  });
  if (path) make("path", { d: path, class: "curve" }, svg);
  game.places.forEach((place, index) => {
    const { value, lower, upper } = known[index];
    if (value === undefined && lower !== undefined) {
      make("line", { x1: x(index), x2: x(index), y1: y(lower), y2: y(upper), class: "range" }, svg);
    }
    if (points[index] === undefined) return;
    // The move that led here may have lost something.
    const lost = index > 0 ? loss(game.places[index - 1]) : undefined;
    const kind = lost?.seeds > 0 ? (lost.turns ? "blunder" : "slip") : value === undefined ? "guess" : "exact";
    const here = index === game.at ? " here" : "";
    const dot = make("circle", { cx: x(index), cy: y(points[index]), r: RADIUS[kind] + (here ? 2 : 0), class: `dot ${kind}${here}` }, svg);
    let title = `after ${index}: ${tell(known[index]).full}`;
    if (lost?.seeds > 0) title += `; ${name(game.places[index - 1].side)} lost ${lost.seeds} by the last move`;
    make("title", {}, dot).textContent = title;
    dot.addEventListener("click", () => goTo(index));
  });
  parent.replaceChildren(svg);
}
