// Makes the images of the page, icons for phones, from drawings.
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

const work = mkdtempSync(join(tmpdir(), "kalah-images-"));
for (const [name, drawing, width, height] of /** @type {[string, string, number, number][]} */ ([
  ["icon-180", square, 180, 180],
  ["icon-192", icon, 192, 192],
  ["icon-512", square, 512, 512],
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
