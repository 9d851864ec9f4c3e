// Addresses: the page works at any path, as `index.html`, and in a frame.

import assert from "node:assert/strict";
import { resolveObjectURL } from "node:buffer";
import { readFileSync, readdirSync } from "node:fs";
import { afterEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import * as api from "../page/api.js";
import { addressOf, fromFragment } from "../page/link.js";
import { copy } from "../page/share.js";

/** The page in a folder of a preview, in both forms of its address. */
const PAGES = ["https://host.example/preview/x/", "https://host.example/preview/x/index.html"];

/** @param {string} path */
const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

/** Globals of a browser that a test replaced. @type {Map<string, PropertyDescriptor | undefined>} */
const replaced = new Map();

/** @param {Record<string, unknown>} globals */
function browser(globals) {
  for (const [name, value] of Object.entries(globals)) {
    if (!replaced.has(name)) replaced.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  }
}

afterEach(() => {
  for (const [name, property] of replaced) {
    if (property) Object.defineProperty(globalThis, name, property);
    else delete (/** @type {any} */ (globalThis)[name]);
  }
  replaced.clear();
});

test("a link leads to the page that was open, with the position", () => {
  for (const page of [...PAGES, `${PAGES[0]}?from=class#6x4&moves=1`]) {
    const link = new URL(addressOf("4x3&moves=1,2", page));
    const [plain] = page.split("#");
    assert.equal(link.href, `${plain}#4x3&moves=1,2`);
    assert.deepEqual(fromFragment(link.hash.slice(1)).moves, [1, 2]);
  }
});

test("where copying is forbidden, as in a frame, the link is shown", async () => {
  const [button, error] = [{ textContent: "Copy link" }, { textContent: "", hidden: true }];
  const field = { append() {}, select() {}, remove() {} };
  const body = { append() {} };
  for (const works of [true, false]) {
    browser({
      navigator: { clipboard: { writeText: () => Promise.reject(new Error("forbidden in a frame")) } },
      document: {
        createElement: () => field,
        execCommand: () => works,
        body,
        getElementById: (/** @type {string} */ id) => (id === "error" ? error : button),
      },
    });
    await copy("share", `${PAGES[0]}#6x4&moves=3`);
    assert.equal(button.textContent, "Copied");
    assert.deepEqual([error.hidden, error.textContent.endsWith(`${PAGES[0]}#6x4&moves=3`)], [works, !works]);
  }
});

test("the page and its styles name no absolute path", () => {
  const html = read("../page/index.html");
  const linked = [...html.matchAll(/ (?:href|src|action|content)="([^"]*)"/g)].map(([, address]) => address);
  assert.ok(linked.includes("page.js") && linked.includes("api"));
  const styles = ["style", "shell", "panel", "board", "moves"].map((name) => read(`../page/${name}.css`)).join("");
  linked.push(...[...styles.matchAll(/url\(["']?([^)"']*)/g)].map(([, address]) => address));
  assert.deepEqual(linked.filter((address) => /^(\/|[a-z]+:\/\/)/.test(address)), []);
});

test("requests go to the folder of the page", async () => {
  /** @type {string[]} */
  const paths = [];
  api.grant(2);
  api.connect(async (path) => {
    paths.push(path);
    return new Response(JSON.stringify({ places: [] }));
  });
  await api.server();
  await api.position("6x4", "standard", 1, undefined);
  await api.book("6x4", "standard", undefined);
  await api.line("6x4", "standard", [1]);
  await api.move("6x4", "standard", "greedy", 1, undefined);
  await api.deepen("6x4", "standard", 1, () => {}, undefined);
  await api.game("6x4", "standard", [1], () => {}, undefined);
  await api.readText("36", "standard");
  await api.puzzle({ rules: "standard", board: "6x4", level: "easy" });
  assert.equal(paths.length, 9);
  for (const page of PAGES) {
    for (const path of paths) assert.ok(`${new URL(path, page)}/`.match(/\/preview\/x\/api[/?]/), path);
  }
});

test("a static page is shown before its engine, which answers for its folder only and keeps files for it", async () => {
  for (const [index, baseURI] of PAGES.entries()) {
    /** @type {string[]} */
    const [targets, plain, registered, shown, texts] = [[], [], [], [], []];
    const script = { textContent: "" };
    const body = { insertAdjacentHTML: (/** @type {string} */ _, /** @type {string} */ html) => shown.push(html) };
    const made = { body, head: { append() {} }, createElement: () => script, adoptedStyleSheets: [] };
    class Sheet {
      /** @param {string} text */
      replaceSync = (text) => shown.push(text);
    }
    /** @type {{ onmessage?: (event: any) => void }[]} */
    const workers = [];
    class Engine {
      /** @param {string} script @param {{ name: string }} options */
      constructor(script, { name }) {
        workers.push(this);
        texts.push(script, name);
      }
      /** @param {any} message */
      postMessage({ id, target }) {
        targets.push(target);
        this.onmessage?.({ data: { id, status: 200, answer: {} } });
      }
    }
    const register = async (/** @type {URL} */ url) => registered.push(url.href);
    browser({
      document: { ...made, baseURI },
      CSSStyleSheet: Sheet,
      Worker: Engine,
      dispatchEvent: () => true,
      navigator: { serviceWorker: { register } },
      fetch: async (/** @type {string} */ address) => {
        plain.push(String(address));
        return new Response(gzipSync('style\0body\0page()\0engine()\0{"":{"time":5}}'));
      },
      plainFetch: undefined,
    });
    await import(`../site/local.js?${index}`);
    while (!script.textContent) await new Promise((done) => setTimeout(done));
    assert.deepEqual([shown, targets], [["style", "body"], []]);
    const server = async () => (await fetch("api")).json();
    assert.deepEqual([await server(), targets], [{ time: 5, here: true }, []]);
    await fetch("api/line?board=6x4");
    const book = async () => (await fetch(new URL("api/book?board=6x4", baseURI))).json();
    assert.deepEqual([await book(), targets], [{}, ["line?board=6x4", "book?board=6x4"]]);
    for (const elsewhere of ["https://host.example/api", "https://host.example/preview/y/api/line", "style.css"]) {
      await fetch(elsewhere);
    }
    workers[0].onmessage?.({ data: { ready: true } });
    assert.deepEqual(await server(), { time: 5, here: true });
    // The engine is the text of the page's file, and it was given its folder.
    assert.equal(await resolveObjectURL(texts[0])?.text(), "engine()");
    assert.ok(texts[1].endsWith("/web/site/"));
    assert.deepEqual([plain.length, plain[0].endsWith("/web/site/page.bin"), script.textContent], [4, true, "page()"]);
    assert.deepEqual(registered, ["https://host.example/preview/x/offline-site.js"]);
  }
});

test("the service worker answers for the page of its folder, also as index.html", () => {
  /** @type {Record<string, (event: any) => void>} */
  const listeners = {};
  const self = { addEventListener: (/** @type {string} */ name, /** @type {any} */ run) => (listeners[name] = run) };
  const names = ["self", "location", "VERSION", "FILES", "TABLES", "fetch", "caches"];
  const files = [["site/v/page.js", "text/javascript", "digest"]];
  const script = new Function(...names, read("../site/offline.js"));
  const never = () => new Promise(() => {});
  script(self, { href: "https://host.example/preview/x/offline-v.js" }, "v", files, [], never, { open: never });
  /** @param {string} url @param {string} mode */
  const isAnswered = (url, mode) => {
    let answered = false;
    const request = { url, method: "GET", mode };
    listeners.fetch({ request, respondWith: () => (answered = true) });
    return answered;
  };
  for (const page of PAGES) assert.ok(isAnswered(`${page}?from=class`, "navigate"), page);
  assert.ok(isAnswered("https://host.example/preview/x/site/v/page.js", "cors"));
  for (const other of ["https://host.example/", "https://host.example/preview/y/", "https://host.example/index.html"]) {
    assert.ok(!isAnswered(other, "navigate"), other);
  }
});

test("no script sets a style as an attribute, which the policy of a static site forbids", () => {
  for (const name of readdirSync(new URL("../page/", import.meta.url)).filter((name) => name.endsWith(".js"))) {
    assert.doesNotMatch(read(`../page/${name}`), /[{,] style: `|setAttribute\("style"/, name);
  }
});
