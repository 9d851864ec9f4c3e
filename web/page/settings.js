// Storage of this browser: settings, and the last game, which the address without a fragment resumes.

const [SETTINGS, LAST] = ["kalah", "kalah-last"];

/** @type {Settings} */
const DEFAULTS = { sounds: true, keys: true };

/** Reads or writes. Storage may be forbidden, and stored texts damaged. @template T @param {() => T} access */
function attempt(access) {
  try {
    return access();
  } catch {
    return undefined;
  }
}

/** @returns {Partial<Settings>} */
const stored = () => attempt(() => JSON.parse(localStorage.getItem(SETTINGS) ?? "{}")) ?? {};

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
  attempt(() => localStorage.setItem(SETTINGS, JSON.stringify({ ...stored(), ...changes })));
}

/** Stores the fragment of the last game. @param {string} fragment */
export const rememberLast = (fragment) => attempt(() => localStorage.setItem(LAST, fragment));

/** Returns the fragment of the last game; an empty text without one. */
export const lastFragment = () => attempt(() => localStorage.getItem(LAST)) ?? "";
