// Shared by the tests of the installed package, which packaging/check copies into the folder of the installation.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** README of the package, and the page about it. */
export const [README, PAGE] = ["node_modules/kalah/README.md", "wasm.md"].map((page) => readFileSync(page, "utf8"));

/** Returns the code blocks of a page in a language. */
export function blocks(page, language) {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, code]) => code);
}

/** Returns the path of the native program. */
export function program() {
  assert.ok(process.env.KALAH_PROGRAM, "set KALAH_PROGRAM; packaging/check does");
  return process.env.KALAH_PROGRAM;
}

/** Returns positions with 1 to `seeds` seeds in play on 6 pits a side, the same ones each time. */
export function positions(count, seeds) {
  let state = count;
  const random = (limit) => {
    // Numerical Recipes' linear congruential generator; its high bits are good.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  return Array.from({ length: count }, () => {
    const pits = new Array(12).fill(0);
    for (let left = 1 + random(seeds); left > 0; left--) {
      pits[random(12)]++;
    }
    return `<6,${[random(20), random(20), ...pits].join(",")}>`;
  });
}
