// Pauses after a move before a program moves.

import { find } from "./find.js";
import { settings } from "./settings.js";
import { seen } from "./sow.js";

/** @param {number} milliseconds @param {AbortSignal} signal */
const wait = (milliseconds, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      done(undefined);
    };
    signal.addEventListener("abort", stop, { once: true });
  });

/** Waits until the next move is requested. @param {AbortSignal} signal */
const nextAsked = (signal) =>
  new Promise((done) => {
    const button = find("next");
    button.hidden = false;
    const next = () => {
      button.hidden = true;
      done(undefined);
    };
    button.addEventListener("click", next, { once: true, signal });
    signal.addEventListener("abort", done, { once: true });
  });

/**
 * Waits until a program may move: a while after the last move was shown at `since`, or on request.
 * @param {number} since
 * @param {AbortSignal} signal
 */
export const pause = (since, signal) =>
  settings.speed === "step" ? nextAsked(signal) : wait(Math.max(0, since + seen() - performance.now()), signal);
