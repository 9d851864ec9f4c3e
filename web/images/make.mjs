// Makes the images of the page from drawings: icons for phones, and the picture of link previews.
//
//     node web/images/make.mjs [CHROMIUM]
//
// Chromium draws them. They are in the repository, so that no build needs it.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reduced } from "./png.mjs";

const chromium = process.argv[2] ?? "chromium";

const icon = readFileSync(new URL("../page/icon.svg", import.meta.url), "utf8");

/** Icon without rounded corners, for systems that cut it themselves: all of the drawing is in the middle. */
const square = icon
  .replace(' rx="14"', "")
  .replace('<g fill', '<g transform="translate(32 32) scale(.88) translate(-32 -32)"><g fill')
  .replace("</svg>", "</g></svg>");

const STONES = ["#e9d9b4", "#e2a036", "#55aa80", "#6299c3", "#d2715a"];

/** Distance of stones from the middle of a hollow, by the number on a ring, in pixels. */
const RING = [0, 0, 15, 18, 21, 25, 29, 33];

/** Draws stones around a point. @param {number} x @param {number} y @param {number} count @param {number} first */
function stones(x, y, count, first) {
  const around = count > 5 ? count - 1 : count === 1 ? 0 : count;
  const places = Array.from({ length: around }, (_, index) => {
    const angle = (2 * Math.PI * index) / around + first;
    return [x + RING[around] * Math.cos(angle), y + RING[around] * Math.sin(angle)];
  });
  if (around < count) places.push([x, y]);
  const drawn = places.map(([cx, cy], index) => {
    const colour = STONES[(first + 2 * index) % STONES.length];
    const stone = `<circle cx="${cx}" cy="${cy}" r="12.5" fill="${colour}" stroke="#2c1706" stroke-width="1.5"/>`;
    return `${stone}<circle cx="${cx - 4}" cy="${cy - 4}" r="3.5" fill="#fff" opacity=".6"/>`;
  });
  return drawn.join("");
}

/** A position under the rule set empty-capture with the exact values of South's moves: seeds from pit 1 on, stores. */
const SOUTH = { seeds: [5, 5, 1, 6, 0, 1], values: ["−2", "+6", "+2", "+6", "", "+16"], store: 3 };
const NORTH = { seeds: [1, 2, 0, 8, 7, 7], store: 2 };

/** Index of the best move. */
const BEST = 5;

function board() {
  /** @param {string} edge */
  const hole = (edge) => `fill="#5a3519" stroke="${edge}" stroke-width="4"`;
  const wood = 'fill="#c78f55" stroke="#7c4d22" stroke-width="4"';
  const parts = [`<rect x="90" y="226" width="1020" height="330" rx="44" ${wood}/>`];
  for (const [x, { store }] of /** @type {const} */ ([
    [112, NORTH],
    [968, SOUTH],
  ])) {
    parts.push(`<rect x="${x}" y="250" width="120" height="282" rx="56" ${hole("#3a210d")}/>`);
    parts.push(stones(x + 60, 391, store, 1));
  }
  for (let pit = 0; pit < 6; pit++) {
    const x = 308 + 117 * pit;
    parts.push(`<circle cx="${x}" cy="306" r="50" ${hole("#3a210d")}/>`, stones(x, 306, NORTH.seeds[5 - pit], pit));
    const edge = pit === BEST ? "#fff6e0" : "#3a210d";
    parts.push(`<circle cx="${x}" cy="426" r="50" ${hole(edge)}/>`, stones(x, 426, SOUTH.seeds[pit], pit + 3));
    const value = SOUTH.values[pit];
    if (!value) continue;
    const colour = value.startsWith("−") ? "#b3261e" : "#116d35";
    const label = `fill="#fffcf6" stroke="${pit === BEST ? colour : "none"}" stroke-width="4"`;
    parts.push(`<rect x="${x - 46}" y="490" width="92" height="46" rx="12" ${label}/>`);
    const text = `text-anchor="middle" font-size="29" font-weight="700" fill="${colour}"`;
    parts.push(`<text x="${x}" y="523" ${text}>${value}</text>`);
  }
  return parts.join("");
}

/** Icon within another drawing. */
const inner = icon.replace("<svg ", '<svg width="64" height="64" ');

const tagline = "Play mancala, and see the exact value of each move";

const preview = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 630" font-family="system-ui, sans-serif">
<rect width="1200" height="630" fill="#f4ede1"/><g transform="translate(90 62) scale(1.72)">${inner}</g>
<text x="226" y="128" font-size="76" font-weight="700" fill="#26211a">Kalah</text>
<text x="228" y="180" font-size="33" fill="#5f574b">${tagline}</text>${board()}</svg>`;

const work = mkdtempSync(join(tmpdir(), "kalah-images-"));
for (const [name, drawing, width, height] of /** @type {[string, string, number, number][]} */ ([
  ["icon-180", square, 180, 180],
  ["icon-192", icon, 192, 192],
  ["icon-512", square, 512, 512],
  ["preview", preview, 1200, 630],
])) {
  const [page, shot] = [join(work, "page.html"), join(work, "shot.png")];
  const style = `html,body{margin:0;background:none}svg:first-of-type{display:block;width:${width}px;height:${height}px}`;
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><style>${style}</style>${drawing}`);
  const flags = ["--headless", "--no-sandbox", "--hide-scrollbars", "--default-background-color=00000000"];
  const call = [...flags, `--window-size=${width},${height}`, `--screenshot=${shot}`, `file://${page}`];
  execFileSync(chromium, call, { stdio: "ignore" });
  const bytes = reduced(readFileSync(shot), 128);
  writeFileSync(new URL(`${name}.png`, import.meta.url), bytes);
  console.log(`${name}.png: ${bytes.length} bytes`);
}
rmSync(work, { recursive: true });
