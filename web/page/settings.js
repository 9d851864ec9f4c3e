// Settings stored in this browser.

const KEY = "kalah";

/** @type {Settings} */
const DEFAULTS = { speed: "normal", sounds: true, keys: true };

/** @returns {Partial<Settings>} */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    return {};
  }
}

/** The settings: defaults until `loadSettings`. `remember` changes them. @type {Settings} */
export const settings = { ...DEFAULTS };

/** Loads the settings that this browser stored. */
export function loadSettings() {
  Object.assign(settings, stored());
}

/**
 * Changes settings, and no others that another tab stored meanwhile. Without storage they last until the page is left.
 * @param {Partial<Settings>} changes
 */
export function remember(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...stored(), ...changes }));
  } catch {
    // A browser may forbid storage.
  }
}
