// Comments on places of a game: showing and writing them, as they are typed.

import { find } from "./elements.js";

/** Milliseconds after the last key until a comment is kept. Browsers refuse too many changes of the address. */
const PAUSE = 400;

/** The place whose comment is being written. @type {Place | undefined} */
let writing;

/** Shows the comment of a place, unless one is being written. @param {Place} place */
export function showComment(place) {
  if (writing) return;
  const field = find("comment");
  field.value = place.comment ?? "";
  const details = field.closest("details");
  if (place.comment && details) details.open = true;
}

/**
 * Listens to the comment on the place that `shown` returns; calls `changed` after changes, at the latest when the page
 * is left.
 * @param {() => Place} shown
 * @param {() => void} changed
 */
export function listenToComments(shown, changed) {
  const field = find("comment");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const now = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    changed();
  };
  field.addEventListener("focus", () => (writing = shown()));
  field.addEventListener("input", () => {
    writing ??= shown();
    writing.comment = field.value.trim() ? field.value : undefined;
    clearTimeout(timer);
    timer = setTimeout(now, PAUSE);
  });
  field.addEventListener("change", now);
  field.addEventListener("blur", () => {
    writing = undefined;
    now();
    showComment(shown());
  });
  addEventListener("pagehide", now);
  document.addEventListener("visibilitychange", now);
}
