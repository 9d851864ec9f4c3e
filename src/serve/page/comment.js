// What is said about a place of a game, for those who look at it later: shown, and written.

const find = (id) => document.getElementById(id);

/** The place whose comment is being written. */
let writing;

/** Shows the comment of a place, unless one is being written. */
export function showComment(place) {
  if (writing) return;
  const field = find("comment");
  field.value = place.comment ?? "";
  if (place.comment) field.parentElement.open = true;
}

/** Listens to what is written about the place that `shown` returns; calls `changed` when it is complete. */
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
