// The engine in JavaScript: builds tables in memory, probes and solves positions. It runs in Node and in browsers. Each
// call takes as long as its work, so a page uses worker.mjs, which has the same calls.

/**
 * Rule sets: `empty-capture`, `standard`, `s-kalaha`, `single-move`.
 * @typedef {object} Options
 * @property {string} [rules] rule set; `empty-capture` by default
 * @property {number} [pits] pits a side; 6 by default
 * @property {number} [seeds] seeds of the largest layer that `build` builds; 16 by default
 * @property {number} [transpositions] maximum bytes of the transposition table; 64 MiB by default
 */

/**
 * The table of a layer that was built, and the seconds that it took.
 * @typedef {import("./answers.mjs").TableEntry & { seconds: number }} Layer
 */

/**
 * The document of `kalah probe --json`, and of the server.
 * @typedef {import("./answers.mjs").Position} Probe
 */

/**
 * Move of a probe, with its value.
 * @typedef {import("./answers.mjs").ValuedMove} Move
 */

/**
 * The document of `kalah solve --json`. Without a value, it has the bounds that were proved in time.
 * @typedef {import("./answers.mjs").Solve} Solution
 */

/**
 * A compiled module. Its own type has no members, and would accept any object.
 * @typedef {WebAssembly.Module & { [Symbol.toStringTag]?: string }} Module
 */

/**
 * The file `kalah_wasm.wasm`: its bytes, the answer of `fetch`, or the compiled module.
 * @typedef {BufferSource | Module | Response | Promise<Response>} Source
 */

/**
 * Rule set, pits a side, and seeds of the largest layer of an engine.
 * @typedef {{ rules: string, pits: number, seeds: number }} Board
 */

/**
 * Move of a player, with its effects.
 * @typedef {import("./answers.mjs").Move} Choice
 */

/**
 * Position on a line of play, and the move played there with its effects; no move at the end.
 * @typedef {import("./answers.mjs").Place} Place
 */

/**
 * Functions of the module.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(bytes: number) => number} kalah_allocate
 * @property {(bytes: number, count: number) => void} kalah_attach
 * @property {(request: number, bytes: number) => number} kalah_call
 * @property {() => number} kalah_reply_bytes
 */

/** Error of a call. */
export class KalahError extends Error {
  /**
   * @param {string} code code by which programs distinguish errors: those of the HTTP API (docs/api.md), `option` for a
   *   wrong option or argument, and `ended` after `end`
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = "KalahError";
    this.code = code;
  }
}

/** The engine for one rule set and board. */
export class Kalah {
  /** @type {Exports} */
  #module;

  /** @type {Board} */
  #board;

  /**
   * @param {Exports} module the functions of an instance, after `start`
   * @param {Board} board
   */
  constructor(module, board) {
    this.#module = module;
    this.#board = board;
    call(module, { call: "open", ...board });
  }

  /**
   * Builds the next layer of tables, from 2 seeds up.
   * @returns {Layer | null} the layer; `null` if all are built
   */
  build() {
    return call(this.#module, { call: "build" });
  }

  /**
   * Builds all layers that are missing.
   * @param {(layer: Layer) => void} [report] called after each layer
   */
  buildAll(report = () => {}) {
    for (let layer = this.build(); layer !== null; layer = this.build()) {
      report(layer);
    }
  }

  /**
   * Looks up a position in the tables, or else in the book.
   * @param {string} position such as `6x4`, `0,0,1,0,2,1/1,0,0,3,0,0`, or `<6,5,3,0,1,2,0,3,0,1,0,0,2,0,0>`
   * @returns {Probe} the answer
   * @throws {KalahError} if the text is no position of this board, or neither tables nor book have it
   */
  probe(position) {
    return call(this.#module, { call: "probe", position: checked("position", position, POSITION) });
  }

  /**
   * Solves a position by the book or by a search. Bounds that it proves help later searches.
   * @param {string} position as for `probe`
   * @param {number} [seconds] time limit; 10 by default
   * @param {boolean} [valueOnly] true to prove the value without best moves and a line of play
   * @returns {Solution} the answer
   * @throws {KalahError} if the text is no position of this board
   */
  solve(position, seconds = 10, valueOnly = false) {
    checked("position", position, POSITION);
    checked("seconds", seconds, SECONDS);
    checked("valueOnly", valueOnly, FLAG);
    return call(this.#module, { call: "solve", position, seconds, value_only: valueOnly });
  }

  /**
   * Chooses a move by a player.
   * @param {string} position as for `probe`
   * @param {string} [player] `perfect`, `alphabeta:D` (D moves deep), `greedy`, `random`; `kalah play --help` has all
   * @param {number} [seconds] time limit; 5 by default and at most
   * @returns {Choice} the move
   * @throws {KalahError} if the text is no position, the player is unknown, or the game is over
   */
  move(position, player = "perfect", seconds = 5) {
    const { rules } = this.#board;
    const board = checked("position", position, POSITION);
    const time = checked("seconds", seconds, SECONDS);
    return this.#request("POST", "move", { board, rules, player: checked("player", player, PLAYER), time });
  }

  /**
   * Follows a line of play.
   * @param {string} position as for `probe`
   * @param {string | number[]} moves such as `36 21 4`, the `line` of an answer, or `[3, 6, 2, 1, 4]`
   * @returns {Place[]} the positions on it, the last one without a move
   * @throws {KalahError} if the text is no position, or a move is not legal
   */
  line(position, moves) {
    const line = checked("moves", moves, MOVES);
    const each = typeof line === "string" ? [...line.replaceAll(" ", "")] : line;
    const board = checked("position", position, POSITION);
    const query = new URLSearchParams({ board, rules: this.#board.rules, moves: each.join(",") });
    return this.#request("GET", `line?${query}`).places;
  }

  /**
   * Answers a request of the HTTP API (docs/api.md).
   * @param {string} method
   * @param {string} target
   * @param {object} [body]
   * @returns {any} the document
   */
  #request(method, target, body) {
    const text = body === undefined ? "" : JSON.stringify(body);
    let reply = call(this.#module, { call: "request", method, target, body: text });
    while (reply.status === undefined) {
      reply = call(this.#module, { call: "step" });
    }
    const { status, answer } = reply;
    if (status !== 200) {
      throw new KalahError(answer.error.code, answer.error.message);
    }
    return answer;
  }
}

/**
 * Values that an option or an argument can have: a test, and its words.
 * @typedef {readonly [(value: unknown) => boolean, string]} Kind
 */

/** @param {unknown} value */
const isText = (value) => typeof value === "string";

/** @param {unknown} value */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

/** @type {Kind} */
const POSITION = [isText, "a text such as '6x4'"];

/** @type {Kind} */
const PLAYER = [isText, "the name of a player such as 'perfect'"];

/** @type {Kind} */
const SECONDS = [(value) => Number.isFinite(value) && Number(value) >= 0, "a finite number of at least 0"];

/** @type {Kind} */
const FLAG = [(value) => typeof value === "boolean", "true or false"];

/** @type {Kind} */
const MOVES = [
  (value) => isText(value) || (Array.isArray(value) && value.every(isCount)),
  "a line of play such as '36 21 4', or an array of numbers",
];

/**
 * Options of `load` and `start`.
 * @type {Readonly<Record<string, Kind>>}
 */
const OPTIONS = {
  rules: [isText, "the name of a rule set such as 'standard'"],
  pits: [isCount, "a whole number such as 6"],
  seeds: [isCount, "a whole number such as 16"],
  transpositions: [isCount, "a whole number of bytes"],
};

/**
 * Returns the value of an option or an argument.
 * @template T
 * @param {string} name
 * @param {T} value
 * @param {Kind} kind
 * @returns {T}
 * @throws {KalahError} if it is of another kind
 */
function checked(name, value, [isRight, words]) {
  if (!isRight(value)) {
    const found = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
    throw new KalahError("option", `${name} must be ${words}, not ${found}`);
  }
  return value;
}

/**
 * Makes an engine.
 * @param {Source | Options} [source] the module; this package's own if only options are given
 * @param {Options} [options]
 * @returns {Promise<Kalah>} the engine
 * @throws {KalahError} if there are no tables of such a board, or no such option
 */
export async function load(source, options) {
  const { given, chosen } = separate(source, options);
  const { rules = "empty-capture", pits = 6, seeds = 16, transpositions = 2 ** 26 } = chosen;
  const module = await compile(given);
  const instance = await WebAssembly.instantiate(module, { kalah: { now: () => performance.now() } });
  const exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  call(exports, { call: "start", positions: 0, transpositions });
  // The book and the network of the board are custom sections of the module.
  for (const name of [`${rules}-${pits}.book`, `${rules}-${pits}.network`]) {
    for (const bytes of WebAssembly.Module.customSections(module, name)) {
      call(exports, { call: "file", name }, new Uint8Array(bytes));
    }
  }
  return new Kalah(exports, { rules, pits, seeds });
}

/**
 * Compiles the module. Several engines and workers can share the result.
 * @param {Source} [source] the module; this package's own by default
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(source = adjacent()) {
  const given = await source;
  return given instanceof WebAssembly.Module ? given : await WebAssembly.compile(await bytesOf(given));
}

/**
 * Separates the arguments of `load` and `start`, of which the first can be missing.
 * @internal
 * @param {Source | Options} [source]
 * @param {Options} [options]
 * @returns {{ given?: Source, chosen: Options }}
 * @throws {KalahError} if there is no such option, or it is of another kind
 */
export function separate(source, options) {
  // True of an object literal in every frame and context, and of no source.
  const isOptions = options === undefined && Object.prototype.toString.call(source) === "[object Object]";
  const chosen = (isOptions ? /** @type {Options} */ (source) : options) ?? {};
  for (const [name, value] of Object.entries(chosen)) {
    if (!Object.hasOwn(OPTIONS, name)) {
      const names = Object.keys(OPTIONS).join(", ");
      throw new KalahError("option", `there is no option '${name}': the options are ${names}`);
    }
    // Without a value, an option has its default.
    if (value !== undefined) {
      checked(name, value, OPTIONS[name]);
    }
  }
  return isOptions ? { chosen } : { given: /** @type {Source | undefined} */ (source), chosen };
}

/**
 * Imports a module of Node. Bundlers for browsers leave such an import alone.
 * @internal
 * @param {string} name
 * @returns {Promise<any>}
 */
export function builtin(name) {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name);
}

/**
 * Reads the module in the folder of this file.
 * @returns {Promise<BufferSource | Response>}
 */
async function adjacent() {
  const url = new URL("./kalah_wasm.wasm", import.meta.url);
  // Browsers load no modules from files.
  return url.protocol === "file:" ? (await builtin("node:fs/promises")).readFile(url) : fetch(url);
}

/**
 * Returns the bytes of a module.
 * @param {BufferSource | Response} source the bytes, or the answer of `fetch`
 * @returns {Promise<BufferSource>}
 * @throws {Error} if the server answered with an error
 * @throws {KalahError} if it is neither
 */
async function bytesOf(source) {
  // Buffers of every frame and context.
  if (ArrayBuffer.isView(source) || Object.prototype.toString.call(source).endsWith("ArrayBuffer]")) {
    return /** @type {BufferSource} */ (source);
  }
  if (!(source instanceof Response)) {
    throw new KalahError("option", "the module must be the bytes of kalah_wasm.wasm, an answer of fetch, or compiled");
  }
  if (!source.ok) {
    throw new Error(`${source.url}: ${source.status} ${source.statusText}`);
  }
  return await source.arrayBuffer();
}

/**
 * Passes a request to the module and returns its answer.
 * @param {Exports} module
 * @param {object} request
 * @param {Uint8Array} [attached] bytes that belong to it
 * @returns {any} the answer
 */
function call(module, request, attached) {
  const write = (/** @type {Uint8Array} */ bytes) => {
    const place = module.kalah_allocate(bytes.length) >>> 0;
    new Uint8Array(module.memory.buffer, place, bytes.length).set(bytes);
    return place;
  };
  if (attached !== undefined) {
    module.kalah_attach(write(attached), attached.length);
  }
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  // The memory may grow during the call, which replaces its buffer.
  const reply = module.kalah_call(write(bytes), bytes.length) >>> 0;
  const text = new TextDecoder().decode(new Uint8Array(module.memory.buffer, reply, module.kalah_reply_bytes() >>> 0));
  const answer = JSON.parse(text);
  if (answer?.error !== undefined) {
    throw new KalahError(answer.error.code, answer.error.message);
  }
  return answer;
}
