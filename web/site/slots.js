// Workers that wait for threads of the module. Each has a slot in shared memory, so that any thread can start another
// one without an event loop: the engine's worker has none while it searches.

// Words of the shared memory: the threads that have ended, the last number of a thread, then three for each slot: its
// state, the number of its thread, and the place where the thread starts.
const [ENDED, LAST, FIRST, SIZE] = [0, 1, 2, 3];
// Slots begin with 0: there is no worker yet.
const [IDLE, CLAIMED, RUNS] = [1, 2, 3];

/** Longest wait for an idle slot, in milliseconds. A thread that was waited for may still occupy one. */
const PATIENCE = 20;
/** Error for a thread that cannot be started now (EAGAIN). */
const NO_SLOT = -6;
/** Numbers of threads are below this. */
const NUMBERS = 2 ** 28;

/** @param {number} count */
export const makeSlots = (count) => new Int32Array(new SharedArrayBuffer(4 * (FIRST + count * SIZE)));

/**
 * Starts a thread in an idle slot. Returns its number, or a negative error.
 * @param {Int32Array} slots
 * @param {number} start
 */
export function spawn(slots, start) {
  const until = performance.now() + PATIENCE;
  for (;;) {
    const ended = Atomics.load(slots, ENDED);
    for (let slot = FIRST; slot < slots.length; slot += SIZE) {
      if (Atomics.compareExchange(slots, slot, IDLE, CLAIMED) !== IDLE) continue;
      const number = 1 + ((Atomics.add(slots, LAST, 1) >>> 0) % NUMBERS);
      Atomics.store(slots, slot + 1, number);
      Atomics.store(slots, slot + 2, start);
      Atomics.store(slots, slot, RUNS);
      Atomics.notify(slots, slot);
      return number;
    }
    const left = until - performance.now();
    if (left <= 0) return NO_SLOT;
    Atomics.wait(slots, ENDED, ended, left);
  }
}

/** Makes a slot available. @param {Int32Array} slots @param {number} index */
export const offer = (slots, index) => Atomics.store(slots, FIRST + index * SIZE, IDLE);

/**
 * Runs the threads of a slot, for ever.
 * @param {Int32Array} slots
 * @param {number} index
 * @param {(number: number, start: number) => void} run
 */
export function serve(slots, index, run) {
  const slot = FIRST + index * SIZE;
  for (;;) {
    for (;;) {
      const state = Atomics.load(slots, slot);
      if (state === RUNS) break;
      Atomics.wait(slots, slot, state);
    }
    run(Atomics.load(slots, slot + 1), Atomics.load(slots, slot + 2));
    Atomics.store(slots, slot, IDLE);
    Atomics.add(slots, ENDED, 1);
    Atomics.notify(slots, ENDED);
  }
}
