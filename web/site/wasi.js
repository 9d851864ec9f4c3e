// WASI for the module with threads: a clock, random numbers, threads, and no files.

const [DONE, BAD_FILE] = [0, 8];

/**
 * The functions that a module imports, for one thread.
 * @param {WebAssembly.Module} compiled
 * @param {WebAssembly.Memory} memory shared by all threads
 * @param {(start: number) => number} spawn starts a thread; returns its number, or a negative error
 */
export function imports(compiled, memory, spawn) {
  // Other threads may have enlarged the memory.
  const view = () => new DataView(memory.buffer);
  /** @type {Record<string, (...words: any[]) => number>} */
  const functions = {
    // Threads compare their times, so all have one zero.
    clock_time_get: (_clock, _precision, place) => {
      const nanoseconds = (performance.timeOrigin + performance.now()) * 1e6;
      view().setBigUint64(place >>> 0, BigInt(Math.round(nanoseconds)), true);
      return DONE;
    },
    random_get: (place, bytes) => {
      // Browsers do not fill shared memory.
      const random = crypto.getRandomValues(new Uint8Array(bytes));
      new Uint8Array(memory.buffer, place >>> 0, bytes).set(random);
      return DONE;
    },
    environ_sizes_get: (count, bytes) => {
      for (const place of [count, bytes]) view().setUint32(place >>> 0, 0, true);
      return DONE;
    },
    environ_get: () => DONE,
    sched_yield: () => DONE,
    proc_exit: (code) => {
      throw new WebAssembly.RuntimeError(`the engine ended with ${code}`);
    },
    // The module prints only why it fails.
    fd_write: (_file, parts, count, written) => {
      const words = new Uint32Array(memory.buffer, parts >>> 0, 2 * count).slice();
      let bytes = 0;
      for (let part = 0; part < count; part += 1) {
        const [place, length] = words.subarray(2 * part);
        console.error(new TextDecoder().decode(new Uint8Array(memory.buffer, place, length).slice()));
        bytes += length;
      }
      view().setUint32(written >>> 0, bytes, true);
      return DONE;
    },
    "thread-spawn": spawn,
  };
  /** @type {Record<string, Record<string, any>>} */
  const found = {};
  for (const { module, name, kind } of WebAssembly.Module.imports(compiled)) {
    found[module] ??= {};
    found[module][name] = kind === "memory" ? memory : (functions[name] ?? (() => BAD_FILE));
  }
  return found;
}
