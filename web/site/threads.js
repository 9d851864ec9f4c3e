// Threads of the engine: workers that share its memory.

import { makeSlots, spawn } from "./slots.js";
import { imports } from "./wasi.js";

/** Pages of 64 KiB that the module begins with, as packaging/wasm states. */
const FIRST_PAGES = 2 ** 8;
/** Longest time that the workers have to begin, in milliseconds. */
const PATIENCE = 10_000;

/** Workers for the threads of one module. */
export class Threads {
  /** @type {Worker[]} */
  #workers = [];
  #count;
  #slots;
  #memory;
  #compiled;

  /**
   * @param {WebAssembly.Module} compiled
   * @param {number} count workers
   * @param {number} bytes maximum of the memory
   */
  constructor(compiled, count, bytes) {
    this.#compiled = compiled;
    this.#count = count;
    this.#slots = makeSlots(count);
    this.#memory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum: bytes / 2 ** 16, shared: true });
  }

  /** Imports of the engine's own thread. */
  get imports() {
    return imports(this.#compiled, this.#memory, (start) => spawn(this.#slots, start));
  }

  /** Starts the workers. They report failures on `channel`. @param {string} channel */
  async start(channel) {
    const workers = Array.from({ length: this.#count }, (_, index) => this.#worker(index, channel));
    /** @type {number | undefined} */
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(fail, PATIENCE, new Error("threads do not begin"));
    });
    await Promise.race([Promise.all(workers), late]).finally(() => clearTimeout(timer));
  }

  /** @param {number} index @param {string} channel @returns {Promise<void>} */
  #worker(index, channel) {
    return new Promise((done, fail) => {
      const worker = new Worker(new URL("thread.js", import.meta.url), { type: "module" });
      this.#workers.push(worker);
      worker.onmessage = ({ data }) => (data.ready ? done() : fail(new Error(data.failed)));
      worker.onerror = (event) => fail(new Error(event.message || "a thread could not be loaded"));
      /** @type {ThreadStart} */
      const start = { compiled: this.#compiled, memory: this.#memory, slots: this.#slots, index, channel };
      worker.postMessage(start);
    });
  }

  /** Ends the workers, whatever they do. */
  end() {
    for (const worker of this.#workers) worker.terminate();
  }
}
