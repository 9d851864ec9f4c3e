// A WebAssembly module of the engine: its calls, and their answers as JSON.

import { unpacking } from "./unpack.js";

/**
 * Unpacks an answer of the host while it comes: many hosts send WebAssembly as it is. Reports the bytes that have come,
 * and their sum if the host states it.
 * @param {Promise<Response>} response
 * @param {(done: number, all: number) => void} [progress]
 */
export async function unpacked(response, progress = () => {}) {
  const { body, headers } = await response;
  const all = Number(headers.get("content-length"));
  const contents = body?.pipeThrough(unpacking((done) => progress(done, all)));
  return new Response(contents, { headers: { "content-type": "application/wasm" } });
}

/** A running module. */
export class Module {
  /** @param {Exports} exports */
  constructor(exports) {
    this.exports = exports;
  }

  /** Runs a compiled module. @param {WebAssembly.Module} compiled */
  static async run(compiled) {
    const instance = await WebAssembly.instantiate(compiled, { kalah: { now: () => performance.now() } });
    return new Module(/** @type {Exports} */ (/** @type {unknown} */ (instance.exports)));
  }

  /** Copies bytes into the module. Returns their place. @param {Uint8Array} bytes */
  #write(bytes) {
    const { kalah_allocate, memory } = this.exports;
    const place = kalah_allocate(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
    return place;
  }

  /**
   * Calls the module: the first one with a text, the engine with an object.
   * @param {object | string} request
   * @param {Uint8Array} [attached] bytes that belong to it
   * @returns {any}
   */
  call(request, attached) {
    const { kalah_attach, kalah_call, kalah_reply_bytes, memory } = this.exports;
    if (attached) kalah_attach(this.#write(attached), attached.length);
    const bytes = new TextEncoder().encode(typeof request === "string" ? request : JSON.stringify(request));
    // The memory may grow during the call, which replaces its buffer.
    const reply = kalah_call(this.#write(bytes), bytes.length) >>> 0;
    const text = new Uint8Array(memory.buffer, reply, kalah_reply_bytes() >>> 0);
    const answer = JSON.parse(new TextDecoder().decode(text));
    if (answer?.error !== undefined) throw new Error(answer.error.message);
    return answer;
  }
}
