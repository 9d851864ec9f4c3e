// The engine in a worker: answers the requests of the HTTP API by the WebAssembly module. It builds tables while it has
// nothing else to do.

import { Module, unpacked } from "./module.js";
import { PartError, Parts } from "./parts.js";

const port = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** True on a phone: Chrome, Firefox and Safari say so. */
const IS_PHONE = /Mobi/.test(navigator.userAgent);
/** Maximum bytes of the transposition table. */
const TRANSPOSITIONS = IS_PHONE ? 2 ** 24 : 2 ** 25;
/** Maximum positions of the tables that are built: on a phone those to 17 seeds with 6 pits. */
const MOST_POSITIONS = IS_PHONE ? 6e7 : Number.POSITIVE_INFINITY;

/** Milliseconds after which the engine loads even if nothing has needed it, for visits without a network. */
const QUIET = 20_000;

/** Address of the folder of this version, and that of the page. The worker has no file: its text is packed. */
const FOLDER = port.name;
const BASE = new URL("../../", FOLDER).href;

/** @type {Module} */
let module;
/** @type {Parts} */
let parts;
/** Restarts the module after a failure. @type {() => Promise<void>} */
let restart;

/** Calls the engine. @type {(request: object, attached?: Uint8Array) => any} */
const call = (request, attached) => module.call(request, attached);

/** @param {string} name */
async function file(name) {
  const response = await fetch(new URL(name, FOLDER));
  if (!response.ok) throw new Error(`${name}: HTTP ${response.status}`);
  return response;
}

/** @param {string} name */
const packedFile = (name) => file(`${name}.bin`);

/** The first module, which answers until the engine is there. @type {Module | undefined} */
let first;

/** True if a request waits for the engine. */
let isAwaited = false;

/** Loads the engine and the description of the folder. */
async function loadEngine() {
  const packed = unpacked(engineFile, (done, all) => {
    if (isAwaited) port.postMessage({ loading: { done, all } });
  });
  const compiling = WebAssembly.compileStreaming(packed);
  /** @type {Site} */
  const site = await (await file("site.json")).json();
  const compiled = await compiling;
  parts = new Parts(BASE, new Map(site.tables.map(({ file, bytes }) => [file, bytes])));
  restart = async () => {
    module = await Module.run(compiled);
    const positions = Math.min(site.positions, MOST_POSITIONS);
    call({ ...site, call: "start", positions, transpositions: TRANSPOSITIONS });
  };
  await restart();
}

/** Requests that wait, in order. @type {EngineRequest[]} */
const waiting = [];
/** Requests that wait for the end of the search. @type {EngineRequest[]} */
const blocked = [];
/** The request whose search is in progress. @type {EngineRequest | undefined} */
let searching;
/** The request that is being answered, unless it was cancelled. @type {EngineRequest | undefined} */
let current;

/**
 * Sends the answer of a request, with its note if it has one.
 * @param {EngineRequest} request
 * @param {number} status
 * @param {any} answer
 */
const send = ({ id, note }, status, answer) =>
  port.postMessage({ id, status, answer: note && !answer.error ? { ...answer, note } : answer });

/** @param {string} code @param {string} message */
const failure = (code, message) => ({ error: { code, message } });

/**
 * Gives the engine a book or a network. Without it, a search takes longer.
 * @param {string} name
 * @param {EngineRequest} request
 */
async function give(name, request) {
  let bytes = new Uint8Array();
  try {
    bytes = new Uint8Array(await (await unpacked(packedFile(name))).arrayBuffer());
  } catch (error) {
    request.note = `${name}: ${error.message}`;
  }
  const refused = call({ call: "file", name }, bytes);
  if (refused) request.note ??= refused;
}

/**
 * Answers a request, for which it fetches parts of files. If that fails, or they are damaged on the host, it answers by
 * a search, without the host's tables.
 * @param {EngineRequest} request
 * @returns {Promise<Reply>}
 */
async function reply(request) {
  const { method, target, body, streams } = request;
  let local = false;
  for (;;) {
    /** @type {Reply} */
    const found = call({ call: "request", method, target, body, streams, local });
    if ("network" in found) {
      const { book, network } = found;
      if (book) await give(book, request);
      // A search proves values without it.
      if (network) give(network, request);
    } else if ("needs" in found) {
      try {
        const fetched = await Promise.all(found.needs.map((part) => parts.get(part)));
        for (const [index, bytes] of fetched.entries()) call({ call: "part", ...found.needs[index] }, bytes);
      } catch (error) {
        // A `TypeError` means that the network failed.
        if (!(error instanceof TypeError || error instanceof PartError)) throw error;
        local = true;
        request.note = error.message;
      }
    } else if (!local && "answer" in found && found.answer?.error?.code === "damaged-table") {
      local = true;
      request.note = found.answer.error.message;
    } else {
      return found;
    }
  }
}

/** Ends the search in progress. Requests that waited for it come next. */
function endSearch() {
  searching = undefined;
  waiting.unshift(...blocked.splice(0));
}

let mayBuild = true;

/** Builds the next layer. Returns false after the last, or if the memory does not suffice. */
function build() {
  try {
    return mayBuild && call({ call: "build" }) !== null;
  } catch (error) {
    mayBuild = false;
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return false;
  }
}

/** True once the first requests have what they need of the host. */
let isReady = false;

/** Does the next work. Returns false if nothing is left. @returns {Promise<boolean>} */
async function work() {
  const request = waiting.shift();
  if (request) {
    current = request;
    const found = await reply(request);
    const isWanted = current === request;
    current = undefined;
    if ("searches" in found) {
      if (isWanted) searching = request;
      else call({ call: "cancel" });
    } else if (isWanted && "busy" in found) {
      // The search may have ended meanwhile.
      (searching ? blocked : waiting).push(request);
    } else if (isWanted && "status" in found) {
      send(request, found.status, found.answer);
    }
    return true;
  }
  if (!isReady) port.postMessage({ ready: true });
  isReady = true;
  if (!searching) return build();
  /** @type {Reply} */
  const found = call({ call: "step" });
  if ("progress" in found) {
    if (searching.streams)
      for (const progress of found.progress) port.postMessage({ id: searching.id, progress });
  } else if ("status" in found) {
    send(searching, found.status, found.answer);
    endSearch();
  }
  return true;
}

// A message to itself, after which messages of the page have come.
const turn = new MessageChannel();
let isRunning = false;

async function run() {
  try {
    isRunning = await work();
  } catch (error) {
    // The module failed. It starts again, without tables; its requests are lost.
    const lost = [...waiting.splice(0), ...blocked.splice(0), current, searching];
    for (const request of lost)
      if (request) send(request, 500, failure("failed", `the engine failed: ${error.message}`));
    current = undefined;
    searching = undefined;
    try {
      await restart();
    } catch (error) {
      port.postMessage({ failed: error.message });
      return;
    }
    isRunning = waiting.length > 0;
  }
  if (isRunning) turn.port2.postMessage(0);
}

turn.port1.onmessage = run;

function wake() {
  if (isRunning) return;
  isRunning = true;
  turn.port2.postMessage(0);
}

/** @param {number} id */
function cancel(id) {
  for (const list of [waiting, blocked]) {
    const index = list.findIndex((request) => request.id === id);
    if (index >= 0) list.splice(index, 1);
  }
  if (current?.id === id) current = undefined;
  if (searching?.id !== id) return;
  call({ call: "cancel" });
  endSearch();
  wake();
}

/** Reads the fields of a body; none of a text that is no object. @param {string} body */
function fieldsOf(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/**
 * Returns the call of the first module for a request as the page sends it; undefined for others.
 * @param {EngineRequest} request
 */
function callOf({ method, target, body, hastens }) {
  const [path, query] = target.split("?");
  const fields = method === "GET" ? Object.fromEntries(new URLSearchParams(query)) : fieldsOf(body);
  const { board, rules = "", moves = "", player, time = 1, ...others } = fields;
  const milliseconds = Math.ceil(1000 * Math.min(1, time));
  if (typeof board !== "string" || typeof rules !== "string" || Object.keys(others).length > 0) return undefined;
  if (method === "POST") return path === "move" && player ? [path, rules, board, milliseconds, player] : undefined;
  if (path === "line") return [path, rules, board, moves];
  return path === "position" && hastens ? [path, rules, board, milliseconds] : undefined;
}

/** Answers a request without the engine. Returns false if that is not possible. @param {EngineRequest} request */
function isAnsweredFirst(request) {
  const begin = performance.now();
  const call = callOf(request);
  const found = call && first?.call(call.join("\n"));
  if (!found) return false;
  send(request, 200, call[0] === "move" ? { ...found, seconds: (performance.now() - begin) / 1000 } : found);
  return true;
}

/** Answers the requests that need no engine, once the first module is there. */
function answerFirst() {
  if (!first) return;
  for (const request of waiting.splice(0)) {
    // A search follows.
    if (request.hastens) needed();
    if (isAnsweredFirst(request)) continue;
    waiting.push(request);
    if (request.waits) continue;
    isAwaited = true;
    needed();
  }
}

port.onmessage = ({ data }) => {
  if ("cancel" in data) {
    cancel(data.cancel);
    return;
  }
  waiting.push(data);
  if (module) wake();
  else answerFirst();
};

/** Fetches the engine when a request needs it. The first module answers meanwhile. @type {(() => void)} */
let needed = () => {};
/** @type {Promise<Response>} */
const engineFile = new Promise((done) => {
  needed = () => {
    needed = () => {};
    done(packedFile("kalah_wasm.wasm"));
  };
});

/** Returns true if the visitor saves data or has a slow connection. Only some browsers have `connection`. */
function isSparing() {
  const { connection } = /** @type {Sparing} */ (/** @type {unknown} */ (navigator));
  return Boolean(connection?.saveData || connection?.effectiveType?.match(/^(slow-2g|2g|3g)$/));
}

/** Loads what a game needs, and the engine when it is needed. */
async function load() {
  first = await Module.run(await WebAssembly.compileStreaming(unpacked(packedFile("kalah_first.wasm"))));
  answerFirst();
  if (!isSparing()) setTimeout(() => needed(), QUIET);
  await engineFile;
  await loadEngine();
  first = undefined;
  wake();
}

// The page reports a failure, and asks again.
load().catch((error) => port.postMessage({ failed: error.message }));
