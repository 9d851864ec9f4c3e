// The worker of worker.mjs: makes an engine, and answers calls one after the other.

import { builtin, load } from "./kalah.mjs";

/** @type {any} */
let engine;

/**
 * Makes a call.
 * @param {[string, ...any[]]} call `load`, or a method of `Kalah`; its arguments
 * @returns {Promise<{ result?: unknown, error?: string, code?: string }>} the result, or message and code of its error
 */
async function answer([name, ...values]) {
  try {
    if (name === "load") {
      engine = await load(values[0], values[1]);
      return {};
    }
    return { result: engine[name](...values) };
  } catch (error) {
    return { error: error.message, code: error.code };
  }
}

if (typeof postMessage === "function") {
  addEventListener("message", async ({ data }) => postMessage(await answer(data)));
} else {
  // A thread of Node has a port. Bundlers allow no `await` here.
  builtin("node:worker_threads").then(({ parentPort }) =>
    parentPort.on("message", async (/** @type {any} */ call) => parentPort.postMessage(await answer(call))),
  );
}
