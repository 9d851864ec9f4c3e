// The last game of this browser, which the address without a fragment resumes.

const KEY = "kalah-last";

/** Stores the fragment of a game. @param {string} fragment */
export function rememberLast(fragment) {
  try {
    localStorage.setItem(KEY, fragment);
  } catch {
    // A browser may forbid storage.
  }
}

/** Returns the fragment of the last game; an empty text without one. */
export function lastFragment() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
