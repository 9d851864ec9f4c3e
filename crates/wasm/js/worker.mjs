// The engine in a worker of a browser or of Node. Its calls are those of `Kalah`, but do not block the caller.

import { KalahError, builtin, compile, separate } from "./kalah.mjs";

/** @import { Choice, Layer, Options, Place, Probe, Solution, Source } from "./kalah.mjs" */

/** An engine in a worker, which makes the calls in their order. */
export class KalahWorker {
  /** @type {any} a worker of the browser or of Node */
  #worker;

  /** @type {{ resolve: (result: any) => void, reject: (error: Error) => void }[]} calls without an answer */
  #open = [];

  /** @type {Error | undefined} reason that no further call is answered */
  #end;

  /** @param {any} worker a worker of the browser or of Node, with thread.mjs */
  constructor(worker) {
    this.#worker = worker;
    // Node's workers call these with the data itself.
    const listen = (worker.on ?? worker.addEventListener).bind(worker);
    listen("message", (/** @type {any} */ event) => this.#answered(event.data ?? event));
    listen("error", (/** @type {ErrorEvent} */ { message }) =>
      this.#fail(new Error(message || "the worker cannot be loaded")),
    );
  }

  /** @returns {Promise<Layer | null>} the next layer, from 2 seeds up; `null` if all are built */
  build() {
    return this.#call("build");
  }

  /**
   * Builds all layers that are missing. Calls made meanwhile are answered between two layers.
   * @param {(layer: Layer) => void} [report] called after each layer
   */
  async buildAll(report = () => {}) {
    for (let layer = await this.build(); layer !== null; layer = await this.build()) {
      report(layer);
    }
  }

  /**
   * @param {string} position as for `Kalah.probe`
   * @returns {Promise<Probe>} its answer from the tables, or else from the book
   */
  probe(position) {
    return this.#call("probe", position);
  }

  /**
   * @param {string} position as for `Kalah.probe`
   * @param {number} [seconds] time limit; 10 by default
   * @param {boolean} [valueOnly] true to prove the value without best moves and a line of play
   * @returns {Promise<Solution>} its answer from the book or a search
   */
  solve(position, seconds, valueOnly) {
    return this.#call("solve", position, seconds, valueOnly);
  }

  /**
   * @param {string} position as for `Kalah.move`
   * @param {string} [player]
   * @param {number} [seconds] time limit; 5 by default
   * @returns {Promise<Choice>} the move that the player chooses
   */
  move(position, player, seconds) {
    return this.#call("move", position, player, seconds);
  }

  /**
   * @param {string} position as for `Kalah.line`
   * @param {string | number[]} moves
   * @returns {Promise<Place[]>} the positions on the line of play
   */
  line(position, moves) {
    return this.#call("line", position, moves);
  }

  /** Ends the worker, which frees its memory. Open calls fail. */
  async end() {
    this.#fail(new KalahError("ended", "the engine was ended"));
    this.#worker.ref?.();
    await this.#worker.terminate();
  }

  /**
   * Makes an engine in the worker, before any other call.
   * @internal
   * @param {WebAssembly.Module | undefined} module
   * @param {Options} options
   */
  load(module, options) {
    return this.#call("load", module, options);
  }

  /**
   * @param {string} name a method of `Kalah`, or `load`
   * @param {...unknown} values its arguments
   * @returns {Promise<any>} its result
   */
  #call(name, ...values) {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) {
        throw this.#end;
      }
      this.#open.push({ resolve, reject });
      // Node waits for workers with open calls only.
      this.#worker.ref?.();
      this.#worker.postMessage([name, ...values]);
    });
  }

  /** @param {{ result?: any, error?: { code: string, message: string } }} answer answer to the first open call */
  #answered({ result, error }) {
    const call = this.#open.shift();
    if (call === undefined) {
      return; // The engine was ended meanwhile.
    }
    if (this.#open.length === 0) {
      this.#worker.unref?.();
    }
    if (error === undefined) {
      call.resolve(result);
    } else {
      call.reject(new KalahError(error.code, error.message));
    }
  }

  /** @param {Error} error reason that no further call is answered */
  #fail(error) {
    this.#end ??= error;
    for (const call of this.#open.splice(0)) {
      call.reject(error);
    }
  }
}

/**
 * Makes an engine in a worker.
 * @param {Source | Options} [source] the module; this package's own if only options are given
 * @param {Options} [options]
 * @returns {Promise<KalahWorker>} the engine
 * @throws {KalahError} if there are no tables of such a board, or no such option
 */
export async function start(source, options) {
  const { given, chosen } = separate(source, options);
  const module = given === undefined ? undefined : await compile(given);
  const engine = new KalahWorker(await begin());
  try {
    await engine.load(module, chosen);
  } catch (error) {
    await engine.end();
    throw error;
  }
  return engine;
}

/** Starts a worker with thread.mjs. */
async function begin() {
  if (typeof Worker === "undefined") {
    const threads = await builtin("node:worker_threads");
    // Flags of this program such as --input-type are wrong for the thread.
    return new threads.Worker(new URL("./thread.mjs", import.meta.url), { execArgv: [] });
  }
  // Bundlers recognize this expression.
  return new Worker(new URL("./thread.mjs", import.meta.url), { type: "module" });
}
