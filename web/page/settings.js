// Settings stored in this browser.

const KEY = "kalah";

/** @type {Settings} */
const DEFAULTS = { speed: "normal", sounds: false, large: false };

/** @returns {Settings} */
function load() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { ...DEFAULTS };
  }
}

/** The settings; `remember` changes them. */
export const settings = load();

/** Changes settings. Without storage they last until the page is left. @param {Partial<Settings>} changes */
export function remember(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A browser may forbid storage.
  }
}
