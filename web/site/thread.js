// A worker that runs threads of the module, one after the other.

import { offer, serve, spawn } from "./slots.js";
import { imports } from "./wasi.js";

const port = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));

/** @param {ThreadStart} start */
async function startThread({ compiled, memory, slots, index, channel }) {
  const found = imports(compiled, memory, (start) => spawn(slots, start));
  const { exports } = await WebAssembly.instantiate(compiled, found);
  const { wasi_thread_start } = /** @type {ThreadExports} */ (/** @type {unknown} */ (exports));
  offer(slots, index);
  port.postMessage({ ready: true });
  // The message goes first.
  setTimeout(() => {
    try {
      serve(slots, index, wasi_thread_start);
    } catch (error) {
      // A thread that waits for this one would wait for ever, so the page ends the engine.
      new BroadcastChannel(channel).postMessage({ failed: error.message });
    }
  });
}

port.onmessage = ({ data }) => {
  startThread(data).catch((error) => port.postMessage({ failed: error.message }));
};
