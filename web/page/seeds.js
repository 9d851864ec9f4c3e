// Drawings of seeds in a pit or store: shaded stones, each of which keeps its place while others come and go.

import { shape } from "./elements.js";

/** Number of kinds of stones, whose shades index.html defines. */
const KINDS = 5;

/** Distance between stones, in radii; and offsets of the layers of a heap, in such distances. */
const STEP = 2.2;
const LAYERS = [
  [0, 0],
  [0.5, 0.29],
  [-0.5, -0.29],
  [0, 0.58],
];

/** Returns an element for drawings, which screen readers skip. */
export const drawing = () => shape("svg", { "aria-hidden": "true" });

/** A number in -1..1 that looks random, always the same for the same `index`. @param {number} index */
const chance = (index) => 2 * ((Math.abs(Math.sin(index * 127.1 + 11.7)) * 43758.5453) % 1) - 1;

/** Places by the size of a drawing. @type {Map<string, [x: number, y: number][]>} */
const known = new Map();

/**
 * Returns the places of stones of this radius in a hollow, those of the lowest layer and nearest the middle first.
 * @param {number} width
 * @param {number} height
 * @param {number} radius
 * @param {boolean} round
 */
function packing(width, height, radius, round) {
  const key = [width, height, radius, round].join();
  const found = known.get(key);
  if (found) return found;
  const step = STEP * radius;
  const [right, bottom] = [width / 2 - radius - 2, height / 2 - radius - 2];
  const corner = Math.min(right, bottom) * 0.8;
  /** @param {number} x @param {number} y */
  const inside = (x, y) => {
    if (round) return (x / right) ** 2 + (y / bottom) ** 2 <= 1;
    const [beyond, below] = [Math.abs(x) - right + corner, Math.abs(y) - bottom + corner];
    return beyond <= corner && below <= corner && Math.hypot(Math.max(0, beyond), Math.max(0, below)) <= corner;
  };
  /** @type {[x: number, y: number][]} */
  const places = [];
  for (const [across, down] of [...LAYERS, ...LAYERS]) {
    /** @type {[x: number, y: number][]} */
    const layer = [];
    const rows = Math.ceil(height / step / 0.866);
    const columns = Math.ceil(width / step);
    for (let row = -rows; row <= rows; row++) {
      for (let column = -columns; column <= columns; column++) {
        const x = (column + across + (row % 2 === 0 ? 0 : 0.5)) * step;
        const y = (row * 0.866 + down) * step;
        if (inside(x, y)) layer.push([x, y]);
      }
    }
    /** Distance from the middle; ties alternate between the sides. @param {[number, number]} place */
    const distance = ([x, y]) => Math.hypot(x / width, y / height) + 0.001 * ((Math.atan2(y, x) * 7.3) % 1);
    places.push(...layer.sort((a, b) => distance(a) - distance(b)));
  }
  known.set(key, places);
  return places;
}

/**
 * Draws `count` seeds, at most `most`, in a hollow of this width and height in hundredths of a pit. `turn` makes each
 * hollow look different.
 * @param {SVGSVGElement} svg
 * @param {number} count
 * @param {{ most: number, width: number, height: number, radius: number, round: boolean, turn: number }} hollow
 */
export function drawSeeds(svg, count, { most, width, height, radius, round, turn }) {
  const box = `${-width / 2} ${-height / 2} ${width} ${height}`;
  const shown = Math.min(count, most);
  while (svg.childElementCount > shown) svg.lastChild?.remove();
  const same = svg.getAttribute("viewBox") === box;
  if (!same) svg.setAttribute("viewBox", box);
  const places = packing(width, height, radius, round);
  const angle = round && width === height ? turn * 0.93 : 0;
  for (let index = same ? svg.childElementCount : 0; index < shown; index++) {
    const seed = svg.children[index] ?? svg.appendChild(shape("circle", { class: "seed" }));
    const [x, y] = places[index % Math.max(1, places.length)] ?? [0, 0];
    const [other, down] = [chance(index + 31 * turn), chance(index + 57 * turn)];
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    seed.setAttribute("fill", `url(#stone-${(index * 3 + turn * 2 + (index >> 2)) % KINDS})`);
    seed.setAttribute("cx", (x * cos - y * sin + 1.6 * other).toFixed(1));
    seed.setAttribute("cy", (x * sin + y * cos + 1.6 * down).toFixed(1));
    seed.setAttribute("r", (radius * (1 + 0.05 * other)).toFixed(1));
  }
}
