// How long a move is left to be seen before a program moves.

import { settings } from "./settings.js";
import { seen } from "./sow.js";

const wait = (milliseconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, milliseconds);
  signal.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
});

/** Waits until the next move is asked for. */
const nextAsked = (signal) => new Promise((done) => {
  const button = document.getElementById("next");
  button.hidden = false;
  button.addEventListener("click", () => (button.hidden = true, done()), { once: true, signal });
  signal.addEventListener("abort", done, { once: true });
});

/** Waits until a program may move: a while after the last move was shown at `since`, or when that is asked for. */
export const pause = (since, signal) =>
  settings.speed === "step" ? nextAsked(signal) : wait(Math.max(0, since + seen() - performance.now()), signal);
