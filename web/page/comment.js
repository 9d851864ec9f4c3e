// Comments on places of a game: showing and writing them.

import { find } from "./find.js";

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
 * Listens to the comment on the place that `shown` returns; calls `changed` when it is complete.
 * @param {() => Place} shown
 * @param {() => void} changed
 */
export function listenToComments(shown, changed) {
  const field = find("comment");
  field.addEventListener("focus", () => (writing = shown()));
  field.addEventListener("input", () => {
    writing ??= shown();
    writing.comment = field.value.replace(/\s+/g, " ").trim() || undefined;
  });
  field.addEventListener("change", changed);
  field.addEventListener("blur", () => {
    writing = undefined;
    showComment(shown());
  });
}
