// Importing a module of the page does nothing: it needs no browser, and changes no global.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

const PAGE = new URL("../page/", import.meta.url);

/** The script that starts the page. */
const ENTRY = "app.js";

/** Globals of a browser that a module may use only when it is called. */
const BROWSER = [
  ["document", "window", "self", "location", "history", "navigator", "localStorage", "sessionStorage", "screen"],
  ["addEventListener", "matchMedia", "getComputedStyle", "innerHeight", "innerWidth", "requestAnimationFrame"],
  ["fetch", "caches", "ResizeObserver", "MutationObserver", "AudioContext", "Option", "Image", "customElements"],
  ["setTimeout", "setInterval"],
].flat();

const modules = readdirSync(PAGE).filter((name) => name.endsWith(".js") && name !== ENTRY);

test("modules of the page can be imported anywhere, without an effect", async () => {
  /** @type {string[]} */
  const touched = [];
  const before = Object.getOwnPropertyNames(globalThis);
  const real = BROWSER.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const name of BROWSER) {
    const get = () => {
      // Node itself uses some of them.
      if (new Error().stack?.includes("/web/page/")) touched.push(name);
      return undefined;
    };
    const set = () => touched.push(`${name} =`);
    Object.defineProperty(globalThis, name, { configurable: true, get, set });
  }
  /** @type {string[]} */
  const failed = [];
  try {
    for (const name of modules) {
      await import(new URL(name, PAGE).href).catch((error) => failed.push(`${name}: ${error.message}`));
    }
  } finally {
    for (const [name, property] of real) {
      if (property) Object.defineProperty(globalThis, name, property);
      else delete globalThis[name];
    }
  }
  assert.ok(modules.length > 30, String(modules.length));
  assert.deepEqual(failed, []);
  assert.deepEqual(touched, []);
  assert.deepEqual(Object.getOwnPropertyNames(globalThis), before);
});
