// Changes of the page's state, and the views that show it.

/** Calls views after changes: results together, once a frame; steps of a person at once. */
export class Store {
  /** @type {Set<() => void>} */
  #views = new Set();
  #isChanged = false;
  /** @type {(draw: () => void) => unknown} */
  #frame;

  /** @param {(draw: () => void) => unknown} frame calls a function before the next frame is shown */
  constructor(frame) {
    this.#frame = frame;
  }

  /** Adds a view. Returns a function that removes it. @param {() => void} view */
  subscribe(view) {
    this.#views.add(view);
    return () => this.#views.delete(view);
  }

  /** Notes a change, which is drawn with the next frame. */
  change() {
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#frame(() => this.#isChanged && this.draw());
  }

  /** Draws all changes at once. */
  draw() {
    this.#isChanged = false;
    for (const view of this.#views) view();
  }
}

/** The views of the page, whose state is in session.js. */
export const store = new Store((draw) => requestAnimationFrame(draw));
